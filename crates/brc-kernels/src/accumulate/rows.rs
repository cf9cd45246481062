//! Adds evaluated inputs to the accumulator rows of their groups: a whole row at a time rather than slot by slot.
//!
//! The inputs are stored slot by slot. They are transposed in registers, four rows of four slots at a time, so that an
//! accumulator row is read and written once or twice, for any number of slots.

use super::UnknownGroup;
use super::one_slot::add_words;
use super::table::{COPIES, MAX_SLOTS, Words};
use crate::cpu::{Kernel, Level, run_at};

/// Adds the evaluated inputs of rows to their groups, each of which has `copies` accumulator rows in `words`.
///
/// # Errors
/// If `words` does not contain a group. Some rows may have been added.
pub(super) fn add_rows(
    level: Level,
    slots: usize,
    copies: usize,
    groups: &[u32],
    operands: &[Words; MAX_SLOTS],
    words: &mut [i64],
) -> Result<(), UnknownGroup> {
    macro_rules! with_slots {
        ($($slots:literal of $stride:literal),+) => {
            match (slots, copies) {
                (1, _) => add_words(level, copies, groups, &operands[0][..groups.len()], |word| word, words),
                $(
                    ($slots, 1) => add::<$slots, $stride, 1>(level, groups, operands, words),
                    ($slots, _) => add::<$slots, $stride, COPIES>(level, groups, operands, words),
                )+
                _ => Err(UnknownGroup),
            }
        };
    }
    with_slots!(2 of 2, 3 of 4, 4 of 4, 5 of 8, 6 of 8, 7 of 8, 8 of 8)
}

fn add<const SLOTS: usize, const STRIDE: usize, const TURNS: usize>(
    level: Level,
    groups: &[u32],
    operands: &[Words; MAX_SLOTS],
    words: &mut [i64],
) -> Result<(), UnknownGroup> {
    let (rows, _) = words.as_chunks_mut();
    #[cfg(target_arch = "x86_64")]
    let rest = match level.min(Level::best()) {
        Level::Avx2 | Level::Avx512 => {
            let (fours, rest) = groups.as_chunks();
            // SAFETY: `Level::best` found these instructions on this processor.
            unsafe { avx2::add::<SLOTS, STRIDE, TURNS>(fours, operands, rows) }?;
            rest
        }
        Level::Portable | Level::Neon => {
            let (pairs, rest) = groups.as_chunks();
            sse2::add::<SLOTS, STRIDE, TURNS>(pairs, operands, rows)?;
            rest
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let rest = groups;
    let first = groups.len() - rest.len();
    run_at(level, AddRows::<SLOTS, STRIDE, TURNS> { first, groups: rest, operands, rows })
}

struct AddRows<'a, const SLOTS: usize, const STRIDE: usize, const TURNS: usize> {
    /// The index of the first row in `operands`.
    first: usize,
    groups: &'a [u32],
    operands: &'a [Words; MAX_SLOTS],
    rows: &'a mut [[i64; STRIDE]],
}

impl<const SLOTS: usize, const STRIDE: usize, const TURNS: usize> Kernel for AddRows<'_, SLOTS, STRIDE, TURNS> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for (row, &group) in (self.first..self.operands[0].len()).zip(self.groups) {
            let place = (group as usize).checked_mul(TURNS).map(|first| first + row % TURNS);
            let sums = place.and_then(|place| self.rows.get_mut(place)).ok_or(UnknownGroup)?;
            #[allow(clippy::needless_range_loop, reason = "iterators are not unrolled")]
            for slot in 0..SLOTS {
                sums[slot] = sums[slot].wrapping_add(self.operands[slot][row]);
            }
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::sse2::add_two;
    use super::{MAX_SLOTS, UnknownGroup, Words};
    use std::arch::x86_64::*;

    /// Adds rows in fours, given the groups of each four; there are at most four copies.
    #[target_feature(enable = "avx2")]
    pub(super) fn add<const SLOTS: usize, const STRIDE: usize, const TURNS: usize>(
        fours: &[[u32; 4]],
        operands: &[Words; MAX_SLOTS],
        rows: &mut [[i64; STRIDE]],
    ) -> Result<(), UnknownGroup> {
        let firsts = (0..operands[0].len()).step_by(4);
        for (first, groups) in firsts.zip(fours) {
            let lower = turned::<SLOTS>(operands, 0, first);
            let upper = if STRIDE > 4 { turned::<SLOTS>(operands, 4, first) } else { lower };
            for (row, &group) in groups.iter().enumerate() {
                let sums = rows.get_mut(group as usize * TURNS + row % TURNS).ok_or(UnknownGroup)?;
                let (fours, rest) = sums.as_chunks_mut();
                match (fours, rest.as_chunks_mut()) {
                    ([one, other], _) => {
                        add_four(one, lower[row]);
                        add_four(other, upper[row]);
                    }
                    ([one], _) => add_four(one, lower[row]),
                    (_, ([one], _)) => add_two(one, _mm256_castsi256_si128(lower[row])),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The inputs of four rows for four slots from `slot` on, transposed to rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn turned<const SLOTS: usize>(operands: &[Words; MAX_SLOTS], slot: usize, first: usize) -> [__m256i; 4] {
        let of_slot = |slot: usize| match operands.get(slot).and_then(|words| words[first..].first_chunk()) {
            Some(four) if slot < SLOTS => load_four(four),
            _ => _mm256_setzero_si256(),
        };
        let [a, b, c, d] = [of_slot(slot), of_slot(slot + 1), of_slot(slot + 2), of_slot(slot + 3)];
        let (ab_even, ab_odd) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
        let (cd_even, cd_odd) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
        [
            _mm256_permute2x128_si256::<0x20>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x20>(ab_odd, cd_odd),
            _mm256_permute2x128_si256::<0x31>(ab_even, cd_even),
            _mm256_permute2x128_si256::<0x31>(ab_odd, cd_odd),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_four(four: &[i64; 4]) -> __m256i {
        // SAFETY: there are as many bytes as are read.
        unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_four(sums: &mut [i64; 4], operands: __m256i) {
        let sum = _mm256_add_epi64(load_four(sums), operands);
        // SAFETY: there is room for as many bytes as are written.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) }
    }
}

/// The baseline of x86-64.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::{MAX_SLOTS, UnknownGroup, Words};
    use std::arch::x86_64::*;

    /// Adds rows in pairs, given the groups of each pair.
    pub(super) fn add<const SLOTS: usize, const STRIDE: usize, const TURNS: usize>(
        pairs: &[[u32; 2]],
        operands: &[Words; MAX_SLOTS],
        rows: &mut [[i64; STRIDE]],
    ) -> Result<(), UnknownGroup> {
        let of_slot = |slot: usize, first: usize| match operands[slot][first..].first_chunk() {
            Some(two) if slot < SLOTS => load_two(two),
            _ => load_two(&[0; 2]),
        };
        for (first, groups) in (0..operands[0].len()).step_by(2).zip(pairs) {
            for slot in (0..SLOTS).step_by(2) {
                let (lower, upper) = (of_slot(slot, first), of_slot(slot + 1, first));
                // SAFETY: every processor of the target has SSE2.
                let turned = unsafe { [_mm_unpacklo_epi64(lower, upper), _mm_unpackhi_epi64(lower, upper)] };
                for row in 0..2 {
                    let sums = rows.get_mut(groups[row] as usize * TURNS + (first + row) % TURNS);
                    let sums = sums.ok_or(UnknownGroup)?.as_chunks_mut().0;
                    add_two(&mut sums[slot / 2], turned[row]);
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn load_two(two: &[i64; 2]) -> __m128i {
        // SAFETY: there are as many bytes as are read; every processor of the target has SSE2.
        unsafe { _mm_loadu_si128(two.as_ptr().cast()) }
    }

    #[inline(always)]
    pub(super) fn add_two(sums: &mut [i64; 2], operands: __m128i) {
        // SAFETY: there is room for as many bytes as are written; every processor of the target has SSE2.
        unsafe { _mm_storeu_si128(sums.as_mut_ptr().cast(), _mm_add_epi64(load_two(sums), operands)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(
            rows in prop::collection::vec((0u32..70, any::<[i64; MAX_SLOTS]>()), 0..256),
            copies in prop::sample::select(vec![1, COPIES]),
        ) {
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let mut operands: [Words; MAX_SLOTS] = [[7; 256]; MAX_SLOTS];
            for (row, (_, values)) in rows.iter().enumerate() {
                (0..MAX_SLOTS).for_each(|slot| operands[slot][row] = values[slot]);
            }
            for slots in 1..=MAX_SLOTS {
                let stride = slots.next_power_of_two();
                for level in Level::available() {
                    let mut words = vec![0; 70 * stride * copies];
                    add_rows(level, slots, copies, &groups, &operands, &mut words).unwrap();
                    for (place, &word) in words.iter().enumerate() {
                        let (slot, row) = (place % stride, place / stride);
                        let is_of = |&at: &usize| groups[at] as usize == row / copies && at % copies == row % copies;
                        let of_row = (0..rows.len()).filter(is_of);
                        let sum = of_row.fold(0i64, |sum, at| sum.wrapping_add(rows[at].1[slot]));
                        prop_assert_eq!(word, if slot < slots { sum } else { 0 }, "{:?} {}", level, slots);
                    }
                    let unknown = add_rows(level, slots, copies, &[0, 1, 70, 2, 3], &operands, &mut words);
                    prop_assert_eq!(unknown, Err(UnknownGroup));
                }
            }
        }
    }
}
