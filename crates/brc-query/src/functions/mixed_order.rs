//! Orders exact numbers and floats by their values: neither is rounded to be like the other.

use super::exact::factor;
use crate::values::ratio::nearest_small;
use brc_kernels::accumulate::floats::parts;
use num_bigint::BigInt;
use std::cmp::Ordering;

/// How `number / 10^scale` compares with a float. NaN is above all numbers.
pub(super) fn compare(number: i128, scale: u8, float: f64) -> Ordering {
    let nearest = nearest_small(number, factor(0, scale).unsigned_abs());
    match nearest.partial_cmp(&float) {
        None => Ordering::Less,
        Some(Ordering::Equal) => compare_with_nearest(number, scale, float),
        // Rounding keeps the order.
        Some(order) => order,
    }
}

/// How `number / 10^scale` compares with the float nearest to it.
pub(super) fn compare_with_nearest(number: i128, scale: u8, float: f64) -> Ordering {
    if scale == 0 {
        return number.cmp(&(float as i128));
    }
    // With float = mantissa * 2^exponent, number is to be compared with mantissa * 5^scale * 2^(exponent + scale).
    let (mantissa, exponent) = parts(float);
    let shift = exponent + i32::from(scale);
    let ours = BigInt::from(number) << (-shift).max(0).unsigned_abs();
    let theirs = (BigInt::from(mantissa) * BigInt::from(5).pow(scale.into())) << shift.max(0).unsigned_abs();
    ours.cmp(&theirs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_of_floats_are_no_floats() {
        for (number, scale, float, order) in [
            (9_007_199_254_740_993, 0, 9_007_199_254_740_992.0, Ordering::Greater),
            (9_007_199_254_740_991, 0, 9_007_199_254_740_992.0, Ordering::Less),
            (i64::MAX.into(), 0, 9_223_372_036_854_775_808.0, Ordering::Less),
            (i64::MIN.into(), 0, -9_223_372_036_854_775_808.0, Ordering::Equal),
            (u64::MAX.into(), 0, 18_446_744_073_709_551_616.0, Ordering::Less),
            (1, 1, 0.1, Ordering::Less),
            (-1, 1, -0.1, Ordering::Greater),
            (3, 1, 0.3, Ordering::Greater),
            (55, 1, 5.5, Ordering::Equal),
            (-5500, 3, -5.5, Ordering::Equal),
            (0, 5, -0.0, Ordering::Equal),
            (0, 0, 5e-324, Ordering::Less),
            (1, 38, 1e-38, Ordering::Greater),
            (10i128.pow(38) - 1, 0, 1e38, Ordering::Greater),
            (10i128.pow(38) - 1, 38, 1.0, Ordering::Less),
            (1, 0, f64::NAN, Ordering::Less),
            (i128::MAX, 0, -f64::NAN, Ordering::Less),
            (i128::MAX, 0, f64::INFINITY, Ordering::Less),
            (i128::MIN, 0, f64::NEG_INFINITY, Ordering::Greater),
        ] {
            assert_eq!(compare(number, scale, float), order, "{number} / 10^{scale} with {float}");
        }
    }

    proptest! {
        /// A float is an exact number of units of its last bit.
        #[test]
        fn floats_compare_with_their_own_value(
            number in -(10i128.pow(17))..10i128.pow(17), scale in 0u8..18, near in -2i64..3
        ) {
            let float = nearest_small(number, 10u128.pow(scale.into()));
            let float = f64::from_bits(float.to_bits().wrapping_add_signed(near)).clamp(-1e18, 1e18);
            let text = format!("{float:.1100}");
            let (whole, digits) = text.split_once('.').unwrap();
            let exact: BigInt = format!("{whole}{digits}").parse().unwrap();
            let ours = BigInt::from(number) * BigInt::from(10).pow(1100 - u32::from(scale));
            prop_assert_eq!(compare(number, scale, float), ours.cmp(&exact), "{} {} {}", number, scale, text);
        }
    }
}
