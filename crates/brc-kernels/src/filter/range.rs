//! Tests whether numbers are within a range.

use super::words;
use crate::cpu::{Kernel, Level, run_at};
use brc_core::Integers;

/// Sets the bits of the rows whose value is in `low..=high`, and clears the others.
///
/// # Panics
/// If `mask` does not have exactly [`words`] words.
pub fn range(level: Level, values: Integers<'_>, low: i128, high: i128, mask: &mut [u64]) {
    assert_eq!(mask.len(), words(values.len()), "one word for 64 rows");
    let level = level.min(Level::best());
    match values {
        Integers::I8(values) => match narrowed(low, high, i8::MIN.into(), i8::MAX.into()) {
            Some((low, high)) => range_i8(level, values, low as i8, high as i8, mask),
            None => mask.fill(0),
        },
        Integers::I16(values) => match narrowed(low, high, i16::MIN.into(), i16::MAX.into()) {
            Some((low, high)) => range_i16(level, values, low as i16, high as i16, mask),
            None => mask.fill(0),
        },
        Integers::I32(values) => match narrowed(low, high, i32::MIN.into(), i32::MAX.into()) {
            Some((low, high)) => range_i32(level, values, low as i32, high as i32, mask),
            None => mask.fill(0),
        },
        Integers::I64(values) => match narrowed(low, high, i64::MIN.into(), i64::MAX.into()) {
            Some((low, high)) => range_i64(level, values, low as i64, high as i64, mask),
            None => mask.fill(0),
        },
        Integers::I128(values) => run_at(level, Range { values, low, high, mask }),
    }
}

/// The intersection of a range with the range of a type, if it is not empty.
fn narrowed(low: i128, high: i128, smallest: i128, largest: i128) -> Option<(i128, i128)> {
    let (low, high) = (low.max(smallest), high.min(largest));
    (low <= high).then_some((low, high))
}

fn range_i8(level: Level, values: &[i8], low: i8, high: i8, mask: &mut [u64]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller has limited the level to the best one that was detected.
        Level::Avx512 => unsafe { x86::range_i8_avx512(values, low, high, mask) },
        _ => run_at(level, Range { values, low, high, mask }),
    }
}

fn range_i16(level: Level, values: &[i16], low: i16, high: i16, mask: &mut [u64]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller has limited the level to the best one that was detected.
        Level::Avx512 => unsafe { x86::range_i16_avx512(values, low, high, mask) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { x86::range_i16_avx2(values, low, high, mask) },
        _ => run_at(level, Range { values, low, high, mask }),
    }
}

fn range_i32(level: Level, values: &[i32], low: i32, high: i32, mask: &mut [u64]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller has limited the level to the best one that was detected.
        Level::Avx512 => unsafe { x86::range_i32_avx512(values, low, high, mask) },
        _ => run_at(level, Range { values, low, high, mask }),
    }
}

fn range_i64(level: Level, values: &[i64], low: i64, high: i64, mask: &mut [u64]) {
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller has limited the level to the best one that was detected.
        Level::Avx512 => unsafe { x86::range_i64_avx512(values, low, high, mask) },
        _ => run_at(level, Range { values, low, high, mask }),
    }
}

/// [`portable`].
struct Range<'a, T> {
    values: &'a [T],
    low: T,
    high: T,
    mask: &'a mut [u64],
}

impl<T: Copy + Ord> Kernel for Range<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        portable(self.values, self.low, self.high, self.mask);
    }
}

/// Compares to one byte per row, which vectorises, and then collects the bits.
#[inline(always)]
fn portable<T: Copy + Ord>(values: &[T], low: T, high: T, mask: &mut [u64]) {
    for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
        let mut inside = [0u8; 64];
        for (inside, &value) in inside.iter_mut().zip(values) {
            *inside = u8::from(low <= value) & u8::from(value <= high);
        }
        *word = super::gathered(&inside);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// A range comparison for AVX-512: `low <= value <= high` is one unsigned comparison of the difference from `low`.
    macro_rules! range_avx512 {
        ($name:ident, $int:ty, $lanes:literal,
         $load:ident, $set:ident, $subtract:ident, $compare:ident) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
            pub(super) fn $name(values: &[$int], low: $int, high: $int, mask: &mut [u64]) {
                let span = $set(high.wrapping_sub(low));
                let first = low;
                let low = $set(low);
                let (whole, rest) = values.as_chunks::<64>();
                let (words, last) = mask.split_at_mut(whole.len());
                for (word, values) in words.iter_mut().zip(whole) {
                    *word = 0;
                    for (part, values) in values.as_chunks::<$lanes>().0.iter().enumerate() {
                        // SAFETY: there are as many values as lanes.
                        let lanes = unsafe { $load(values.as_ptr().cast()) };
                        let inside = $compare($subtract(lanes, low), span);
                        *word |= (inside as u64) << (part * $lanes);
                    }
                }
                super::portable(rest, first, high, last);
            }
        };
    }

    range_avx512!(
        range_i8_avx512,
        i8,
        64,
        _mm512_loadu_epi8,
        _mm512_set1_epi8,
        _mm512_sub_epi8,
        _mm512_cmple_epu8_mask
    );
    range_avx512!(
        range_i16_avx512,
        i16,
        32,
        _mm512_loadu_epi16,
        _mm512_set1_epi16,
        _mm512_sub_epi16,
        _mm512_cmple_epu16_mask
    );
    range_avx512!(
        range_i32_avx512,
        i32,
        16,
        _mm512_loadu_epi32,
        _mm512_set1_epi32,
        _mm512_sub_epi32,
        _mm512_cmple_epu32_mask
    );
    range_avx512!(
        range_i64_avx512,
        i64,
        8,
        _mm512_loadu_epi64,
        _mm512_set1_epi64,
        _mm512_sub_epi64,
        _mm512_cmple_epu64_mask
    );

    #[target_feature(enable = "avx2")]
    pub(super) fn range_i16_avx2(values: &[i16], low: i16, high: i16, mask: &mut [u64]) {
        let whole_words = values.len() / 64;
        let (whole, rest) = values.split_at(whole_words * 64);
        let (words, last) = mask.split_at_mut(whole_words);
        super::portable(rest, low, high, last);
        let span = _mm256_set1_epi16(high.wrapping_sub(low));
        let low = _mm256_set1_epi16(low);
        for (word, values) in words.iter_mut().zip(whole.chunks_exact(64)) {
            let inside = |part: usize| {
                // SAFETY: there are 64 values, 16 for each of four parts.
                let lanes = unsafe { _mm256_loadu_si256(values.as_ptr().add(part * 16).cast()) };
                let distance = _mm256_sub_epi16(lanes, low);
                _mm256_cmpeq_epi16(_mm256_min_epu16(distance, span), distance)
            };
            let bits = |first: usize| {
                let bytes = _mm256_packs_epi16(inside(first), inside(first + 1));
                // Packing works on halves of the register: 0 2 1 3.
                _mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b_11_01_10_00>(bytes)) as u32
            };
            *word = u64::from(bits(0)) | u64::from(bits(2)) << 32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(values: Integers<'_>, low: i64, high: i64) {
        let (low, high) = (i128::from(low), i128::from(high));
        for level in Level::available() {
            let mut mask = vec![u64::MAX; words(values.len())];
            range(level, values, low, high, &mut mask);
            for row in 0..mask.len() * 64 {
                let expected = row < values.len() && (low..=high).contains(&values.get(row));
                assert_eq!(mask[row / 64] >> (row % 64) & 1 == 1, expected, "{level:?}, row {row}, {low}..={high}");
            }
        }
    }

    fn number() -> impl Strategy<Value = i64> {
        prop_oneof![
            any::<i64>(),
            -40_000i64..40_000,
            any::<i32>().prop_map(i64::from),
            Just(i64::MIN),
            Just(i64::MAX),
            Just(i64::from(i16::MIN)),
            Just(i64::from(i16::MAX)),
            Just(i64::from(i32::MIN)),
            Just(i64::from(i32::MAX)),
        ]
    }

    proptest! {
        #[test]
        fn all_levels_and_widths_agree_with_plain_code(
            values in prop::collection::vec(number(), 0..300), low in number(), high in number(),
        ) {
            check(Integers::I8(&values.iter().map(|&value| value as i8).collect::<Vec<_>>()), low, high);
            check(Integers::I128(&values.iter().map(|&value| value.into()).collect::<Vec<_>>()), low, high);
            check(Integers::I16(&values.iter().map(|&value| value as i16).collect::<Vec<_>>()), low, high);
            check(Integers::I32(&values.iter().map(|&value| value as i32).collect::<Vec<_>>()), low, high);
            check(Integers::I64(&values), low, high);
        }
    }
}
