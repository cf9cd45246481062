//! Splits floats into both of their [limbs](Limbs) at once: the computation of the upper limb is also needed for the
//! lower one.

use super::floats::Limbs;
use crate::cpu::Level;

/// Writes both limbs of floats, up to the shortest slice. The limbs of floats that [`Limbs::of`] does not permit are
/// unspecified.
pub(super) fn split(level: Level, limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
    let rows = values.len().min(highs.len()).min(lows.len());
    let (values, highs, lows) = (&values[..rows], &mut highs[..rows], &mut lows[..rows]);
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::split_avx512(limbs, values, highs, lows) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: likewise.
        Level::Avx2 => unsafe { x86::split_avx2(limbs, values, highs, lows) },
        #[cfg(target_arch = "x86_64")]
        _ => x86::split_sse2(limbs, values, highs, lows),
        #[cfg(not(target_arch = "x86_64"))]
        _ => split_each(limbs, values, highs, lows),
    }
}

fn split_each(limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
    for ((&value, high), low) in values.iter().zip(highs).zip(lows) {
        (*high, *low) = (limbs.high(value), limbs.low(value));
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Limbs;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn split_avx512(limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
        let [to_high, high, to_low] = [limbs.to_high, limbs.high, limbs.to_low].map(|factor| _mm512_set1_pd(factor));
        let (eights, rest) = values.as_chunks::<8>();
        let (high_eights, high_rest) = highs.as_chunks_mut::<8>();
        let (low_eights, low_rest) = lows.as_chunks_mut::<8>();
        for ((values, highs), lows) in eights.iter().zip(high_eights).zip(low_eights) {
            // SAFETY: the arrays are as large as the registers.
            unsafe {
                let values = _mm512_loadu_pd(values.as_ptr());
                let upper = _mm512_cvttpd_epi64(_mm512_mul_pd(values, to_high));
                // Exact, because it has no more bits than the float.
                let below = _mm512_fnmadd_pd(_mm512_cvtepi64_pd(upper), high, values);
                _mm512_storeu_epi64(highs.as_mut_ptr(), upper);
                _mm512_storeu_epi64(lows.as_mut_ptr(), _mm512_cvttpd_epi64(_mm512_mul_pd(below, to_low)));
            }
        }
        super::split_each(limbs, rest, high_rest, low_rest);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn split_avx2(limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
        const TO_ZERO: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        let [to_high, high, to_low] = [limbs.to_high, limbs.high, limbs.to_low].map(|factor| _mm256_set1_pd(factor));
        let (fours, rest) = values.as_chunks::<4>();
        let (high_fours, high_rest) = highs.as_chunks_mut::<4>();
        let (low_fours, low_rest) = lows.as_chunks_mut::<4>();
        for ((values, highs), lows) in fours.iter().zip(high_fours).zip(low_fours) {
            // SAFETY: the arrays are as large as the registers.
            unsafe {
                let all = _mm256_loadu_pd(values.as_ptr());
                let upper = _mm256_round_pd::<TO_ZERO>(_mm256_mul_pd(all, to_high));
                // Exact, because it has no more bits than the float.
                let below = _mm256_round_pd::<TO_ZERO>(_mm256_mul_pd(_mm256_fnmadd_pd(upper, high, all), to_low));
                _mm256_storeu_si256(lows.as_mut_ptr().cast(), integers(below));
                let size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), upper);
                let is_large = _mm256_cmp_pd::<_CMP_NLT_UQ>(size, _mm256_set1_pd(MAX_WHOLE));
                match _mm256_movemask_pd(is_large) {
                    0 => _mm256_storeu_si256(highs.as_mut_ptr().cast(), integers(upper)),
                    _ => highs.iter_mut().zip(values).for_each(|(upper, &value)| *upper = limbs.high(value)),
                }
            }
        }
        super::split_each(limbs, rest, high_rest, low_rest);
    }

    /// The magnitudes are split, and get their signs back at the end: there is no rounding towards zero.
    pub(super) fn split_sse2(limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
        let (pairs, rest) = values.as_chunks::<2>();
        let (high_pairs, high_rest) = highs.as_chunks_mut::<2>();
        let (low_pairs, low_rest) = lows.as_chunks_mut::<2>();
        for ((values, highs), lows) in pairs.iter().zip(high_pairs).zip(low_pairs) {
            // SAFETY: every processor of the target has SSE2, and the arrays are as large as the registers.
            unsafe {
                let set = |factor: f64| _mm_set1_pd(factor);
                let all = _mm_loadu_pd(values.as_ptr());
                let size = _mm_andnot_pd(set(-0.0), all);
                let upper = _mm_mul_pd(size, set(limbs.to_high));
                let nearest = _mm_sub_pd(_mm_add_pd(upper, set(ONES)), set(ONES));
                let whole = _mm_sub_pd(nearest, _mm_and_pd(_mm_cmpgt_pd(nearest, upper), set(1.0)));
                // Exact, and a whole number.
                let below = _mm_mul_pd(_mm_sub_pd(size, _mm_mul_pd(whole, set(limbs.high))), set(limbs.to_low));
                let negative = _mm_shuffle_epi32::<0b11_11_01_01>(_mm_srai_epi32::<31>(_mm_castpd_si128(all)));
                let integers = |whole: __m128d| {
                    let bits = _mm_castpd_si128(_mm_add_pd(whole, set(ONES)));
                    let size = _mm_sub_epi64(bits, _mm_set1_epi64x(ONES.to_bits() as i64));
                    _mm_sub_epi64(_mm_xor_si128(size, negative), negative)
                };
                _mm_storeu_si128(lows.as_mut_ptr().cast(), integers(below));
                match _mm_movemask_pd(_mm_cmpnlt_pd(upper, set(MAX_WHOLE))) {
                    0 => _mm_storeu_si128(highs.as_mut_ptr().cast(), integers(whole)),
                    _ => super::split_each(limbs, values, highs, lows),
                }
            }
        }
        super::split_each(limbs, rest, high_rest, low_rest);
    }

    /// The lower bits of floats of this size are whole numbers.
    const ONES: f64 = (1u64 << 52) as f64;

    /// Whole floats below this magnitude are the lower bits of their sum with [`MAGIC`], as integers.
    const MAX_WHOLE: f64 = (1u64 << 51) as f64;
    const MAGIC: f64 = 1.5 * (1u64 << 52) as f64;

    /// Converts whole floats below [`MAX_WHOLE`] in magnitude to integers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn integers(whole: __m256d) -> __m256i {
        let bits = _mm256_castpd_si256(_mm256_add_pd(whole, _mm256_set1_pd(MAGIC)));
        _mm256_sub_epi64(bits, _mm256_set1_epi64x(MAGIC.to_bits() as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn limbs_are_those_of_each_float(
            values in prop::collection::vec((-1i64 << 52..1 << 52, 0i32..50, 0u32..52), 0..50), unit in -300i32..300,
        ) {
            // Values of up to 52 bits, from the unit on.
            let float = |(mantissa, exponent, shift): &(i64, i32, u32)| (mantissa >> shift) as f64 * 2f64.powi(unit + exponent);
            let values: Vec<f64> = values.iter().map(float).collect();
            let limbs = Limbs::of(unit).unwrap();
            for level in Level::available() {
                // The outputs may be longer.
                let (mut highs, mut lows) = (vec![7; values.len() + 9], vec![7; values.len() + 5]);
                split(level, limbs, &values, &mut highs, &mut lows);
                for ((&value, &high), &low) in values.iter().zip(&highs).zip(&lows) {
                    prop_assert_eq!((high, low), (limbs.high(value), limbs.low(value)), "{:?}", level);
                    let whole = Limbs::join(high, low);
                    prop_assert!(whole as f64 * 2f64.powi(unit) == value && low.unsigned_abs() < 1 << Limbs::LOW_BITS);
                }
            }
        }
    }
}
