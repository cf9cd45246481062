//! Splits floats into their [limbs](Limbs), both at once: what is computed for the upper one is needed for the lower one too.

use super::floats::Limbs;
use crate::cpu::Level;

/// Writes down both limbs of floats, as far as all reach. Of floats that [`Limbs::of`] does not allow they mean nothing.
pub(super) fn split(level: Level, limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
    let rows = values.len().min(highs.len()).min(lows.len());
    let (values, highs, lows) = (&values[..rows], &mut highs[..rows], &mut lows[..rows]);
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::split(limbs, values, highs, lows) },
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

    const LANES: usize = 8;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn split(limbs: Limbs, values: &[f64], highs: &mut [i64], lows: &mut [i64]) {
        let [to_high, high, to_low] = [limbs.to_high, limbs.high, limbs.to_low].map(|factor| _mm512_set1_pd(factor));
        let (eights, rest) = values.as_chunks::<LANES>();
        let (high_eights, high_rest) = highs.as_chunks_mut::<LANES>();
        let (low_eights, low_rest) = lows.as_chunks_mut::<LANES>();
        for ((values, highs), lows) in eights.iter().zip(high_eights).zip(low_eights) {
            // SAFETY: there are as many values as are loaded, and room for as many as are stored.
            unsafe {
                let values = _mm512_loadu_pd(values.as_ptr());
                let upper = _mm512_cvttpd_epi64(_mm512_mul_pd(values, to_high));
                // Exact, for it has no more bits than the float.
                let below = _mm512_fnmadd_pd(_mm512_cvtepi64_pd(upper), high, values);
                _mm512_storeu_epi64(highs.as_mut_ptr(), upper);
                _mm512_storeu_epi64(lows.as_mut_ptr(), _mm512_cvttpd_epi64(_mm512_mul_pd(below, to_low)));
            }
        }
        super::split_each(limbs, rest, high_rest, low_rest);
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
            // Of up to 52 bits, from the unit on.
            let float = |(mantissa, exponent, shift): &(i64, i32, u32)| (mantissa >> shift) as f64 * 2f64.powi(unit + exponent);
            let values: Vec<f64> = values.iter().map(float).collect();
            let limbs = Limbs::of(unit).unwrap();
            for level in Level::available() {
                // There may be more room.
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
