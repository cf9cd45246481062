//! Aggregates a slice of values to its minimum, maximum and sum.

use crate::cpu::{Kernel, Level, run_at};
use brc_core::{Integers, Statistics};

/// The number of 16-bit values that can be summed in 32 bits, including the final reduction: 2¹⁵ · 2¹⁵ < 2³¹.
const MAX_VALUES: usize = 1 << 15;

/// The minimum, maximum and sum of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fold<T, S> {
    pub(super) min: T,
    pub(super) max: T,
    pub(super) sum: S,
}

/// The minimum, maximum and sum. Of no values: [`i16::MAX`], [`i16::MIN`] and 0.
fn run_i16(level: Level, values: &[i16]) -> (i16, i16, i64) {
    let fold = match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::run_i16_avx512(values) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { x86::run_i16_avx2(values) },
        _ => run_i16_portable(values),
    };
    (fold.min, fold.max, fold.sum)
}

/// The minimum, maximum and sum. Of no values: [`i32::MAX`], [`i32::MIN`] and 0.
fn run_i32(level: Level, values: &[i32]) -> (i32, i32, i128) {
    let fold = run_at(level, Run(values));
    (fold.min, fold.max, fold.sum)
}

/// The minimum, maximum and sum. Of no values: [`i64::MAX`], [`i64::MIN`] and 0.
fn run_i64(level: Level, values: &[i64]) -> (i64, i64, i128) {
    let fold = run_at(level, Run(values));
    (fold.min, fold.max, fold.sum)
}

/// The statistics of 16-bit values.
#[must_use]
pub fn statistics_i16(level: Level, values: &[i16]) -> Statistics {
    if values.is_empty() {
        return Statistics::EMPTY;
    }
    let (min, max, sum) = run_i16(level, values);
    Statistics { count: values.len() as u64, sum: sum.into(), min: min.into(), max: max.into() }
}

/// The statistics of 32-bit values.
#[must_use]
pub fn statistics_i32(level: Level, values: &[i32]) -> Statistics {
    if values.is_empty() {
        return Statistics::EMPTY;
    }
    let (min, max, sum) = run_i32(level, values);
    Statistics { count: values.len() as u64, sum, min: min.into(), max: max.into() }
}

/// The statistics of 64-bit values.
#[must_use]
pub fn statistics_i64(level: Level, values: &[i64]) -> Statistics {
    if values.is_empty() {
        return Statistics::EMPTY;
    }
    let (min, max, sum) = run_i64(level, values);
    Statistics { count: values.len() as u64, sum, min, max }
}

/// The statistics of values of any width; `None` if one does not fit in 64 bits.
#[must_use]
pub fn statistics(level: Level, values: Integers<'_>) -> Option<Statistics> {
    match values {
        Integers::I8(values) => Some(values.iter().map(|&value| value.into()).collect()),
        Integers::I16(values) => Some(statistics_i16(level, values)),
        Integers::I32(values) => Some(statistics_i32(level, values)),
        Integers::I64(values) => Some(statistics_i64(level, values)),
        Integers::I128(values) => values.iter().map(|&value| i64::try_from(value).ok()).collect(),
    }
}

/// Aggregates chunk by chunk. Inlined into each variant, so that it is compiled with the variant's instructions.
#[inline(always)]
fn by_chunk(values: &[i16], fold_chunk: impl Fn(&[i16]) -> Fold<i16, i32>) -> Fold<i16, i64> {
    let mut whole = Fold { min: i16::MAX, max: i16::MIN, sum: 0 };
    for values in values.chunks(MAX_VALUES) {
        let fold = fold_chunk(values);
        whole.min = whole.min.min(fold.min);
        whole.max = whole.max.max(fold.max);
        whole.sum += i64::from(fold.sum);
    }
    whole
}

#[inline(always)]
pub(super) fn run_i16_portable(values: &[i16]) -> Fold<i16, i64> {
    by_chunk(values, |values| {
        let mut fold = Fold { min: i16::MAX, max: i16::MIN, sum: 0 };
        for &value in values {
            fold.min = fold.min.min(value);
            fold.max = fold.max.max(value);
            fold.sum += i32::from(value);
        }
        fold
    })
}

/// Values of one width.
struct Run<'a, T>(&'a [T]);

impl Kernel for Run<'_, i32> {
    type Output = Fold<i32, i128>;

    #[inline(always)]
    fn run(self) -> Fold<i32, i128> {
        let mut whole = Fold { min: i32::MAX, max: i32::MIN, sum: 0 };
        for values in self.0.chunks(MAX_VALUES) {
            let mut sum = 0i64;
            for &value in values {
                whole.min = whole.min.min(value);
                whole.max = whole.max.max(value);
                sum += i64::from(value);
            }
            whole.sum += i128::from(sum);
        }
        whole
    }
}

impl Kernel for Run<'_, i64> {
    type Output = Fold<i64, i128>;

    /// Sums the upper and lower halves separately: both fit in 64 bits, which vectorises unlike 128 bits.
    #[inline(always)]
    fn run(self) -> Fold<i64, i128> {
        let mut whole = Fold { min: i64::MAX, max: i64::MIN, sum: 0 };
        for values in self.0.chunks(MAX_VALUES) {
            let (mut upper, mut lower) = (0i64, 0i64);
            for &value in values {
                whole.min = whole.min.min(value);
                whole.max = whole.max.max(value);
                upper += value >> 32;
                lower += value & 0xFFFF_FFFF;
            }
            whole.sum += (i128::from(upper) << 32) + i128::from(lower);
        }
        whole
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use super::{Fold, by_chunk};
    use std::arch::x86_64::*;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub(in super::super) fn run_i16_avx512(values: &[i16]) -> Fold<i16, i64> {
        by_chunk(values, |values| chunk_avx512(values))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in super::super) fn run_i16_avx2(values: &[i16]) -> Fold<i16, i64> {
        by_chunk(values, |values| chunk_avx2(values))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    fn chunk_avx512(values: &[i16]) -> Fold<i16, i32> {
        let ones = _mm512_set1_epi16(1);
        let mut min = [_mm512_set1_epi16(i16::MAX); 2];
        let mut max = [_mm512_set1_epi16(i16::MIN); 2];
        let mut sum = [_mm512_setzero_si512(); 2];
        let mut chunks = values.chunks_exact(64);
        for chunk in &mut chunks {
            for half in 0..2 {
                // SAFETY: the chunk has 64 values, 32 for each half.
                let lanes = unsafe { _mm512_loadu_epi16(chunk.as_ptr().add(half * 32)) };
                min[half] = _mm512_min_epi16(min[half], lanes);
                max[half] = _mm512_max_epi16(max[half], lanes);
                sum[half] = _mm512_add_epi32(sum[half], _mm512_madd_epi16(lanes, ones));
            }
        }
        for (half, rest) in chunks.remainder().chunks(32).enumerate() {
            let mask = _bzhi_u32(u32::MAX, rest.len() as u32);
            // SAFETY: only the lanes of `rest` are loaded.
            let lanes = unsafe { _mm512_maskz_loadu_epi16(mask, rest.as_ptr()) };
            min[half] = _mm512_mask_min_epi16(min[half], mask, min[half], lanes);
            max[half] = _mm512_mask_max_epi16(max[half], mask, max[half], lanes);
            sum[half] = _mm512_add_epi32(sum[half], _mm512_madd_epi16(lanes, ones));
        }
        let min = _mm512_min_epi16(min[0], min[1]);
        let max = _mm512_max_epi16(max[0], max[1]);
        let sum = _mm512_add_epi32(sum[0], sum[1]);
        reduce(
            _mm256_min_epi16(_mm512_castsi512_si256(min), _mm512_extracti64x4_epi64::<1>(min)),
            _mm256_max_epi16(_mm512_castsi512_si256(max), _mm512_extracti64x4_epi64::<1>(max)),
            _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum)),
        )
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn chunk_avx2(values: &[i16]) -> Fold<i16, i32> {
        /// Sixteen entries from index n on keep the last n values and clear those before.
        static KEEP_LAST: [i16; 32] = [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
            -1,
        ];
        let ones = _mm256_set1_epi16(1);
        let mut min = _mm256_set1_epi16(i16::MAX);
        let mut max = _mm256_set1_epi16(i16::MIN);
        let mut sum = _mm256_setzero_si256();
        let mut chunks = values.chunks_exact(16);
        for chunk in &mut chunks {
            // SAFETY: the chunk has 16 values.
            let lanes = unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) };
            min = _mm256_min_epi16(min, lanes);
            max = _mm256_max_epi16(max, lanes);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(lanes, ones));
        }
        let rest = chunks.remainder();
        if values.len() < 16 {
            let mut fold = Fold { min: i16::MAX, max: i16::MIN, sum: 0 };
            for &value in rest {
                fold.min = fold.min.min(value);
                fold.max = fold.max.max(value);
                fold.sum += i32::from(value);
            }
            return fold;
        }
        if !rest.is_empty() {
            // Loads the last 16 values; only the sum must exclude those that were already processed.
            // SAFETY: there are at least 16 values, and `rest` has fewer than 16.
            let (lanes, keep) = unsafe {
                (
                    _mm256_loadu_si256(values.as_ptr().add(values.len() - 16).cast()),
                    _mm256_loadu_si256(KEEP_LAST.as_ptr().add(rest.len()).cast()),
                )
            };
            min = _mm256_min_epi16(min, lanes);
            max = _mm256_max_epi16(max, lanes);
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_and_si256(lanes, keep), ones));
        }
        reduce(min, max, sum)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn reduce(min: __m256i, max: __m256i, sum: __m256i) -> Fold<i16, i32> {
        // The horizontal minimum instruction is unsigned: the signed order is mapped to it.
        const RISING: i16 = i16::MIN;
        const FALLING: i16 = i16::MAX;
        let min = _mm_min_epi16(_mm256_castsi256_si128(min), _mm256_extracti128_si256::<1>(min));
        let min = _mm_minpos_epu16(_mm_xor_si128(min, _mm_set1_epi16(RISING)));
        let max = _mm_max_epi16(_mm256_castsi256_si128(max), _mm256_extracti128_si256::<1>(max));
        let max = _mm_minpos_epu16(_mm_xor_si128(max, _mm_set1_epi16(FALLING)));
        let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b_01_00_11_10>(sum));
        let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b_10_11_00_01>(sum));
        Fold {
            min: _mm_cvtsi128_si32(min) as i16 ^ RISING,
            max: _mm_cvtsi128_si32(max) as i16 ^ FALLING,
            sum: _mm_cvtsi128_si32(sum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(values: &[i64]) {
        let narrow: Vec<i16> = values.iter().map(|&value| value as i16).collect();
        let middle: Vec<i32> = values.iter().map(|&value| value as i32).collect();
        for level in Level::available() {
            for values in [Integers::I16(&narrow), Integers::I32(&middle), Integers::I64(values)] {
                let expected: Statistics = (0..values.len()).map(|row| values.get(row) as i64).collect();
                assert_eq!(statistics(level, values), Some(expected), "{level:?}, {} values", values.len());
            }
        }
    }

    #[test]
    fn every_length_and_alignment() {
        let values: Vec<i64> = (0..200).map(|i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15u64 as i64)).collect();
        for start in 0..5 {
            for end in start..values.len() {
                check(&values[start..end]);
            }
        }
    }

    #[test]
    fn sums_do_not_wrap() {
        for extreme in [i64::MIN, i64::MAX, i64::from(i32::MIN), i64::from(i16::MIN), i64::from(i16::MAX)] {
            check(&vec![extreme; 3 * MAX_VALUES + 7]);
        }
    }

    #[test]
    fn empty_input_has_neutral_extremes() {
        for level in Level::available() {
            assert_eq!(run_i16(level, &[]), (i16::MAX, i16::MIN, 0));
            assert_eq!(run_i32(level, &[]), (i32::MAX, i32::MIN, 0));
            assert_eq!(run_i64(level, &[]), (i64::MAX, i64::MIN, 0));
        }
    }

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(values in prop::collection::vec(any::<i64>(), 0..300)) {
            check(&values);
        }
    }
}
