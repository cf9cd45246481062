//! The float nearest to an exact quotient: half to even, subnormal numbers and overflow as IEEE 754 has them.

use num_bigint::{BigInt, BigUint, Sign};

/// The float nearest to `numerator / denominator * 2^exponent`.
///
/// # Panics
/// If the denominator is 0.
pub(crate) fn nearest(numerator: &BigInt, denominator: &BigUint, exponent: i64) -> f64 {
    let magnitude = numerator.magnitude();
    if numerator.sign() == Sign::NoSign {
        return 0.0;
    }
    // A quotient of 64 or 65 bits: more than a float has, so that what is cut off only matters as being there or not.
    let shift = 64 + denominator.bits() as i64 - magnitude.bits() as i64;
    let (dividend, divisor) = match u64::try_from(shift) {
        Ok(left) => (magnitude << left, denominator.clone()),
        Err(_) => (magnitude.clone(), denominator << shift.unsigned_abs()),
    };
    let quotient = &dividend / &divisor;
    let rest = dividend != &quotient * &divisor;
    let value = rounded(u128::try_from(quotient).unwrap_or(u128::MAX), rest, exponent - shift);
    if numerator.sign() == Sign::Minus { -value } else { value }
}

/// The square root of [`nearest`], also where that is beyond all floats but its root is not.
///
/// # Panics
/// If the denominator is 0.
pub(crate) fn root(numerator: &BigInt, denominator: &BigUint, exponent: i64) -> f64 {
    let half = (exponent + numerator.bits() as i64 - denominator.bits() as i64) / 2;
    scaled(nearest(numerator, denominator, exponent - 2 * half).sqrt(), half)
}

/// The float nearest to `(value + a little, if rest) * 2^exponent`.
fn rounded(value: u128, rest: bool, exponent: i64) -> f64 {
    let bits = 128 - i64::from(value.leading_zeros());
    let cut = (bits - 53).max(-1074 - exponent);
    let (kept, up) = match cut {
        ..=0 => (value, false),
        1..=127 => {
            let (kept, off) = (value >> cut, value & ((1 << cut) - 1));
            let half = 1 << (cut - 1);
            (kept, off > half || (off == half && (rest || kept & 1 == 1)))
        }
        _ => (0, false),
    };
    scaled((kept + u128::from(up)) as f64, exponent + cut.max(0))
}

/// `value * 2^exponent`, of which the result is exact or beyond all floats.
fn scaled(value: f64, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-1200, 1200);
    let half = exponent / 2;
    value * power(half) * power(exponent - half)
}

/// `2^exponent` for exponents of normal floats.
pub(crate) fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// The float nearest to `numerator / denominator`.
pub(crate) fn nearest_small(numerator: i128, denominator: u128) -> f64 {
    const EXACT: u128 = 1 << 53;
    if numerator.unsigned_abs() <= EXACT && denominator <= EXACT {
        // Both are floats: dividing them rounds once.
        return numerator as f64 / denominator as f64;
    }
    if let Ok(denominator) = u64::try_from(denominator) {
        return nearest_narrow(numerator, denominator);
    }
    nearest(&numerator.into(), &denominator.into(), 0)
}

/// [`nearest_small`] where a quotient of 64 or 65 bits takes no more than integers of 128 bits.
fn nearest_narrow(numerator: i128, denominator: u64) -> f64 {
    let (magnitude, divisor) = (numerator.unsigned_abs(), u128::from(denominator));
    if magnitude == 0 || divisor == 1 {
        return numerator as f64;
    }
    let shift = 64 + i64::from(magnitude.leading_zeros()) - i64::from(divisor.leading_zeros());
    let (dividend, divisor) = match u32::try_from(shift) {
        Ok(left) => (magnitude << left, divisor),
        Err(_) => (magnitude, divisor << shift.unsigned_abs()),
    };
    let value = rounded(dividend / divisor, dividend % divisor > 0, -shift);
    if numerator < 0 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ends_are_those_of_floats() {
        let one = BigUint::from(1u32);
        let at = |value: i64, exponent| nearest(&value.into(), &one, exponent);
        assert_eq!(at(1, -1074), f64::from_bits(1));
        assert_eq!(at(1, -1075), 0.0);
        assert_eq!(at(3, -1075), f64::from_bits(2));
        assert_eq!(at(-3, -1076), -f64::from_bits(1));
        assert_eq!(at(1, -5000), 0.0);
        assert_eq!(at((1 << 53) - 1, 971), f64::MAX);
        assert_eq!(at((1 << 54) - 1, 970), f64::INFINITY);
        assert_eq!(at((1 << 54) - 2, 970), f64::MAX);
        assert_eq!(at(-1, 5000), f64::NEG_INFINITY);
        assert_eq!(at(1, 1023), 2f64.powi(1023));
        assert_eq!(nearest(&1.into(), &3u32.into(), 0), 1.0 / 3.0);
        let roots = [-2000, -2148, 2000, 4000].map(|exponent| root(&4.into(), &one, exponent));
        assert_eq!(roots, [2f64.powi(-999), f64::from_bits(2), 2f64.powi(1001), f64::INFINITY]);
    }

    proptest! {
        #[test]
        fn quotients_round_as_divisions_do(a in -(1i64 << 53)..(1 << 53), b in 1u64..1 << 53) {
            prop_assert_eq!(nearest(&a.into(), &b.into(), 0), a as f64 / b as f64);
        }

        #[test]
        fn roots_round_as_those_of_floats_do(a: u64, b in 1u64.., exponent in -800i64..800) {
            let (a, b) = (a.into(), b.into());
            prop_assert_eq!(root(&a, &b, exponent), nearest(&a, &b, exponent).sqrt());
        }

        #[test]
        fn small_quotients_round_as_large_ones_do(a: i128, b in 1u64.., shifts in (0u32..127, 0u32..63)) {
            let (a, b) = (a >> shifts.0, (b >> shifts.1).max(1));
            prop_assert_eq!(nearest_small(a, b.into()), nearest(&a.into(), &b.into(), 0));
        }

        #[test]
        fn integers_round_as_casts_do(a: i128, shift in 0u32..127) {
            let a = a >> shift;
            prop_assert_eq!(nearest_small(a, 1), a as f64);
            prop_assert_eq!(nearest(&a.into(), &1u32.into(), 0), a as f64);
        }

        #[test]
        fn floats_come_back(value: f64) {
            prop_assume!(value.is_finite());
            let (mantissa, exponent) = brc_kernels::accumulate::floats::parts(value);
            prop_assert_eq!(nearest(&mantissa.into(), &1u32.into(), exponent.into()), value);
        }
    }
}
