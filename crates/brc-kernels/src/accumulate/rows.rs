//! Adds evaluated inputs to the accumulator rows of their groups: a whole row at a time rather than lane by lane.
//!
//! The inputs are stored lane by lane. They are transposed in registers, four rows of four lanes at a time, so that an
//! accumulator row is read and written once or twice, for any number of lanes.

use super::UnknownGroup;
use super::lanes::{COPIES, MOST_LANES, Words};
use super::one_lane::add_words;
use crate::cpu::{Kernel, Level, run_at};

/// Adds the evaluated inputs of rows to their groups, each of which has `copies` accumulator rows in `words`.
///
/// # Errors
/// If `words` does not contain a group. Some rows may have been added.
pub(super) fn add_rows(
    level: Level,
    lanes: usize,
    copies: usize,
    groups: &[u32],
    addends: &[Words; MOST_LANES],
    words: &mut [i64],
) -> Result<(), UnknownGroup> {
    macro_rules! with_lanes {
        ($($lanes:literal of $stride:literal),+) => {
            match (lanes, copies) {
                (1, _) => add_words(level, copies, groups, &addends[0][..groups.len()], |word| word, words),
                $(
                    ($lanes, 1) => add::<$lanes, $stride, 1>(level, groups, addends, words),
                    ($lanes, _) => add::<$lanes, $stride, COPIES>(level, groups, addends, words),
                )+
                _ => Err(UnknownGroup),
            }
        };
    }
    with_lanes!(2 of 2, 3 of 4, 4 of 4, 5 of 8, 6 of 8, 7 of 8, 8 of 8)
}

fn add<const LANES: usize, const STRIDE: usize, const TURNS: usize>(
    level: Level,
    groups: &[u32],
    addends: &[Words; MOST_LANES],
    words: &mut [i64],
) -> Result<(), UnknownGroup> {
    let (rows, _) = words.as_chunks_mut();
    #[cfg(target_arch = "x86_64")]
    if level.min(Level::best()) >= Level::Avx2 {
        let (fours, rest) = groups.as_chunks();
        // SAFETY: `Level::best` found these instructions on this processor.
        unsafe { avx2::add::<LANES, STRIDE, TURNS>(fours, addends, rows) }?;
        let first = groups.len() - rest.len();
        return AddRows::<LANES, STRIDE, TURNS> { first, groups: rest, addends, rows }.run();
    }
    run_at(level, AddRows::<LANES, STRIDE, TURNS> { first: 0, groups, addends, rows })
}

struct AddRows<'a, const LANES: usize, const STRIDE: usize, const TURNS: usize> {
    /// The index of the first row in `addends`.
    first: usize,
    groups: &'a [u32],
    addends: &'a [Words; MOST_LANES],
    rows: &'a mut [[i64; STRIDE]],
}

impl<const LANES: usize, const STRIDE: usize, const TURNS: usize> Kernel for AddRows<'_, LANES, STRIDE, TURNS> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for (row, &group) in (self.first..self.addends[0].len()).zip(self.groups) {
            let place = (group as usize).checked_mul(TURNS).map(|first| first + row % TURNS);
            let sums = place.and_then(|place| self.rows.get_mut(place)).ok_or(UnknownGroup)?;
            #[allow(clippy::needless_range_loop, reason = "iterators are not unrolled")]
            for lane in 0..LANES {
                sums[lane] = sums[lane].wrapping_add(self.addends[lane][row]);
            }
        }
        Ok(())
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{MOST_LANES, UnknownGroup, Words};
    use std::arch::x86_64::*;

    /// Adds rows in fours, given the groups of each four; there are at most four copies.
    #[target_feature(enable = "avx2")]
    pub(super) fn add<const LANES: usize, const STRIDE: usize, const TURNS: usize>(
        fours: &[[u32; 4]],
        addends: &[Words; MOST_LANES],
        rows: &mut [[i64; STRIDE]],
    ) -> Result<(), UnknownGroup> {
        let firsts = (0..addends[0].len()).step_by(4);
        for (first, groups) in firsts.zip(fours) {
            let lower = turned::<LANES>(addends, 0, first);
            let upper = if STRIDE > 4 { turned::<LANES>(addends, 4, first) } else { lower };
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

    /// The inputs of four rows for four lanes from `lane` on, transposed to rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn turned<const LANES: usize>(addends: &[Words; MOST_LANES], lane: usize, first: usize) -> [__m256i; 4] {
        let of_lane = |lane: usize| match addends.get(lane).and_then(|words| words[first..].first_chunk()) {
            Some(four) if lane < LANES => load_four(four),
            _ => _mm256_setzero_si256(),
        };
        let [a, b, c, d] = [of_lane(lane), of_lane(lane + 1), of_lane(lane + 2), of_lane(lane + 3)];
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
    fn add_four(sums: &mut [i64; 4], addends: __m256i) {
        let sum = _mm256_add_epi64(load_four(sums), addends);
        // SAFETY: there is room for as many bytes as are written.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_two(sums: &mut [i64; 2], addends: __m128i) {
        // SAFETY: as many bytes as the sums have are read, and written.
        unsafe {
            let sum = _mm_add_epi64(_mm_loadu_si128(sums.as_ptr().cast()), addends);
            _mm_storeu_si128(sums.as_mut_ptr().cast(), sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(
            rows in prop::collection::vec((0u32..70, any::<[i64; MOST_LANES]>()), 0..256),
            copies in prop::sample::select(vec![1, COPIES]),
        ) {
            let groups: Vec<u32> = rows.iter().map(|row| row.0).collect();
            let mut addends: [Words; MOST_LANES] = [[7; 256]; MOST_LANES];
            for (row, (_, values)) in rows.iter().enumerate() {
                (0..MOST_LANES).for_each(|lane| addends[lane][row] = values[lane]);
            }
            for lanes in 1..=MOST_LANES {
                let stride = lanes.next_power_of_two();
                for level in Level::available() {
                    let mut words = vec![0; 70 * stride * copies];
                    add_rows(level, lanes, copies, &groups, &addends, &mut words).unwrap();
                    for (place, &word) in words.iter().enumerate() {
                        let (lane, row) = (place % stride, place / stride);
                        let is_of = |&at: &usize| groups[at] as usize == row / copies && at % copies == row % copies;
                        let of_row = (0..rows.len()).filter(is_of);
                        let sum = of_row.fold(0i64, |sum, at| sum.wrapping_add(rows[at].1[lane]));
                        prop_assert_eq!(word, if lane < lanes { sum } else { 0 }, "{:?} {}", level, lanes);
                    }
                    let unknown = add_rows(level, lanes, copies, &[0, 1, 70, 2, 3], &addends, &mut words);
                    prop_assert_eq!(unknown, Err(UnknownGroup));
                }
            }
        }
    }
}
