//! Keeps the values and the runs of the rows that a mask selects.

#[cfg(target_arch = "x86_64")]
mod avx2;

use super::{valid_bits, words};
use crate::cpu::{Kernel, Level, run_at};
use brc_core::Run;

mod sealed {
    pub trait Sealed: Copy {
        /// Appends the selected values to `out`, which has room for all and 64 more.
        ///
        /// # Safety
        /// The processor has AVX-512, and `out` has that spare capacity.
        #[cfg(target_arch = "x86_64")]
        unsafe fn compress_avx512(values: &[Self], mask: &[u64], out: &mut Vec<Self>);

        /// The same with AVX2.
        ///
        /// # Safety
        /// Likewise.
        #[cfg(target_arch = "x86_64")]
        unsafe fn compress_avx2(values: &[Self], mask: &[u64], out: &mut Vec<Self>);
    }
}

/// A type of values for [`compress`].
pub trait Lane: sealed::Sealed {}

/// Replaces `out` by the values of the selected rows, in order.
///
/// # Panics
/// If `mask` does not have exactly [`words`] words.
pub fn compress<T: Lane>(level: Level, values: &[T], mask: &[u64], out: &mut Vec<T>) {
    assert_eq!(mask.len(), words(values.len()), "one word for 64 rows");
    out.clear();
    out.reserve(values.len() + 64);
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected; the capacity was just reserved.
        Level::Avx512 => unsafe { T::compress_avx512(values, mask, out) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { T::compress_avx2(values, mask, out) },
        _ => portable(values, mask, out),
    }
}

fn portable<T: Copy>(values: &[T], mask: &[u64], out: &mut Vec<T>) {
    for (values, &word) in values.chunks(64).zip(mask) {
        let mut bits = word & valid_bits(values.len(), 0);
        if bits == u64::MAX {
            out.extend_from_slice(values);
            continue;
        }
        while bits != 0 {
            out.push(values[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
    }
}

/// Replaces `out` by the values, with `other` in all rows that are not selected.
///
/// # Panics
/// If `mask` does not have exactly [`words`] words.
pub fn blend(level: Level, values: &[u32], mask: &[u64], other: u32, out: &mut Vec<u32>) {
    assert_eq!(mask.len(), words(values.len()), "one word for 64 rows");
    out.clear();
    out.extend_from_slice(values);
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::replace(out, mask, other) },
        _ => run_at(level, Replace { values: out, mask, other }),
    }
}

/// Replaces the values of rows that are not selected.
struct Replace<'a> {
    values: &'a mut [u32],
    mask: &'a [u64],
    other: u32,
}

impl Kernel for Replace<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (values, half) in self.values.chunks_mut(32).zip(super::halves(self.mask)) {
            for (bit, value) in (0..32u32).zip(values) {
                *value = if half >> bit & 1 == 1 { *value } else { self.other };
            }
        }
    }
}

/// Replaces `out` by the runs of the selected rows; runs without a selected row are dropped. Rows beyond the end of the
/// mask are not selected.
pub fn compress_runs(level: Level, runs: &[Run], mask: &[u64], out: &mut Vec<Run>) {
    out.clear();
    out.resize(runs.len(), Run { code: 0, rows: 0 });
    let kept = match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx2 | Level::Avx512 => unsafe { x86::runs_popcnt(runs, mask, out) },
        _ => runs_portable(runs, mask, out),
    };
    out.truncate(kept);
}

/// Returns the number of remaining runs. Each run is written, and overwritten by the next one if it has no row, which
/// avoids an unpredictable branch.
#[inline(always)]
fn runs_portable(runs: &[Run], mask: &[u64], out: &mut [Run]) -> usize {
    let (mut kept, mut end) = (0, 0usize);
    // The numbers of selected rows before the word that contains `end`, and before `end`.
    let (mut word, mut before_word, mut before) = (0, 0, 0);
    for run in runs {
        end = end.saturating_add(run.rows as usize).min(mask.len() * 64);
        while word < end / 64 {
            before_word += mask[word].count_ones();
            word += 1;
        }
        let below = (1u64 << (end % 64)) - 1;
        let before_end = before_word + mask.get(word).map_or(0, |bits| (bits & below).count_ones());
        let rows = before_end - before;
        before = before_end;
        if let Some(out) = out.get_mut(kept) {
            *out = Run { code: run.code, rows };
        }
        kept += usize::from(rows > 0);
    }
    kept
}

macro_rules! lane {
    ($type:ty, $compress:ident) => {
        impl Lane for $type {}
        impl sealed::Sealed for $type {
            #[cfg(target_arch = "x86_64")]
            unsafe fn compress_avx512(values: &[Self], mask: &[u64], out: &mut Vec<Self>) {
                // SAFETY: promised by the caller.
                unsafe { x86::$compress(values, mask, out) }
            }

            #[cfg(target_arch = "x86_64")]
            unsafe fn compress_avx2(values: &[Self], mask: &[u64], out: &mut Vec<Self>) {
                // SAFETY: promised by the caller.
                unsafe { avx2::$compress(values, mask, out) }
            }
        }
    };
}

lane!(i16, compress_i16);
lane!(u32, compress_u32);
lane!(i32, compress_i32);
lane!(i64, compress_i64);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Run, runs_portable, valid_bits};
    use std::arch::x86_64::*;

    #[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt")]
    pub(super) fn runs_popcnt(runs: &[Run], mask: &[u64], out: &mut [Run]) -> usize {
        runs_portable(runs, mask, out)
    }

    /// Replaces the values of rows that are not selected.
    #[target_feature(enable = "avx512f")]
    pub(super) fn replace(values: &mut [u32], mask: &[u64], other: u32) {
        let others = _mm512_set1_epi32(other as i32);
        for (values, &word) in values.chunks_mut(64).zip(mask) {
            for (part, values) in (0..).zip(values.chunks_mut(16)) {
                let there = ((1u32 << values.len()) - 1) as __mmask16;
                let unwanted = !(word >> (16 * part)) as __mmask16 & there;
                // SAFETY: only existing lanes are stored.
                unsafe { _mm512_mask_storeu_epi32(values.as_mut_ptr().cast(), unwanted, others) };
            }
        }
    }

    /// A compression kernel for AVX-512. It compresses into a register, which is then stored as a whole: compressing to
    /// memory is slow on some processors.
    macro_rules! compress {
        ($name:ident, $type:ty, $lanes:literal, $mask:ty, $load:ident, $compress:ident, $store:ident) => {
            /// # Safety
            /// `out` has room for all values and 64 more.
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt,bmi2")]
            pub(super) unsafe fn $name(values: &[$type], mask: &[u64], out: &mut Vec<$type>) {
                let mut length = out.len();
                for (values, &word) in values.chunks(64).zip(mask) {
                    let mut bits = word & valid_bits(values.len(), 0);
                    for values in values.chunks($lanes) {
                        let there = _bzhi_u64(u64::MAX, values.len() as u32) as $mask;
                        let wanted = bits as $mask;
                        // SAFETY: only existing lanes are loaded; no more values were kept than processed, so a whole
                        // register fits in the capacity promised by the caller.
                        unsafe {
                            let lanes = $load(there, values.as_ptr().cast());
                            $store(out.as_mut_ptr().add(length).cast(), $compress(wanted, lanes));
                        }
                        length += wanted.count_ones() as usize;
                        bits >>= $lanes;
                    }
                }
                // SAFETY: `length` values were written.
                unsafe { out.set_len(length) };
            }
        };
    }

    compress!(
        compress_i16,
        i16,
        32,
        __mmask32,
        _mm512_maskz_loadu_epi16,
        _mm512_maskz_compress_epi16,
        _mm512_storeu_epi16
    );
    compress!(
        compress_u32,
        u32,
        16,
        __mmask16,
        _mm512_maskz_loadu_epi32,
        _mm512_maskz_compress_epi32,
        _mm512_storeu_epi32
    );
    compress!(
        compress_i32,
        i32,
        16,
        __mmask16,
        _mm512_maskz_loadu_epi32,
        _mm512_maskz_compress_epi32,
        _mm512_storeu_epi32
    );
    compress!(
        compress_i64,
        i64,
        8,
        __mmask8,
        _mm512_maskz_loadu_epi64,
        _mm512_maskz_compress_epi64,
        _mm512_storeu_epi64
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Debug;

    fn check<T: Lane + PartialEq + Debug>(values: &[T], mask: &[u64]) {
        let wanted = |row: usize| mask[row / 64] >> (row % 64) & 1 == 1;
        let expected: Vec<T> = (0..values.len()).filter(|&row| wanted(row)).map(|row| values[row]).collect();
        for level in Level::available() {
            let mut out = vec![values[0]];
            compress(level, values, mask, &mut out);
            assert_eq!(out, expected, "{level:?}");
        }
    }

    fn masks() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 1..6)
    }

    proptest! {
        /// Also with bits set after the last row, which no mask should have.
        #[test]
        fn all_levels_and_widths_agree_with_plain_code(
            values in prop::collection::vec(any::<i64>(), 384), mask in masks(), short in 0usize..64,
        ) {
            let values = &values[..mask.len() * 64 - short];
            check(values, &mask);
            check(&values.iter().map(|&value| value as i32).collect::<Vec<_>>(), &mask);
            check(&values.iter().map(|&value| value as u32).collect::<Vec<_>>(), &mask);
            check(&values.iter().map(|&value| value as i16).collect::<Vec<_>>(), &mask);
        }

        #[test]
        fn blend_replaces_unselected_rows(
            values in prop::collection::vec(any::<u32>(), 384), mask in masks(), short in 0usize..64,
        ) {
            let values = &values[..mask.len() * 64 - short];
            let wanted = |row: usize| mask[row / 64] >> (row % 64) & 1 == 1;
            let expected: Vec<u32> = (0..values.len()).map(|row| if wanted(row) { values[row] } else { 7 }).collect();
            for level in Level::available() {
                let mut out = vec![1];
                blend(level, values, &mask, 7, &mut out);
                prop_assert_eq!(&out, &expected);
            }
        }

        #[test]
        fn runs_keep_selected_rows(
            lengths in prop::collection::vec(0u32..200, 0..10), mask in masks(),
        ) {
            let runs: Vec<Run> = lengths.iter().zip(0..).map(|(&rows, code)| Run { code, rows }).collect();
            let mut row = 0;
            let mut expected = Vec::new();
            for run in &runs {
                let mut rows = 0;
                for _ in 0..run.rows {
                    rows += mask.get(row / 64).map_or(0, |word| word >> (row % 64) & 1) as u32;
                    row += 1;
                }
                if rows > 0 {
                    expected.push(Run { code: run.code, rows });
                }
            }
            for level in Level::available() {
                let mut out = Vec::new();
                compress_runs(level, &runs, &mask, &mut out);
                prop_assert_eq!(&out, &expected);
            }
        }
    }

    #[test]
    fn no_rows_are_no_values() {
        for level in Level::available() {
            let mut out = vec![1i16];
            compress(level, &[], &[], &mut out);
            assert_eq!(out, []);
        }
    }
}
