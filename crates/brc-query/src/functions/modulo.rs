//! `a % b`: what is left of a division that truncates; it has the sign of `a`. Of exact numbers, what is divided by
//! zero is null.

use super::{Bound, Function, Mismatch, count, exact};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static MODULO: Function =
    Function { name: "%", aliases: &["mod"], usage: "a % b", about: "the remainder", example: ("7 % 3", "1"), bind };

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a % b")?;
    let Some((one, other)) = exact::both(arguments)? else {
        return Ok(exact::floats(arguments, |one, other| one % other));
    };
    let scale = one.scale.max(other.scale);
    let wholes = [one.precision - one.scale, other.precision - other.scale];
    let (least, most) = (wholes[0].min(wholes[1]), wholes[0].max(wholes[1]));
    // The remainder is no larger than either number.
    let whole = if scale + most > LogicalType::MAX_PRECISION { least } else { most };
    let output = if one.is_int64 && other.is_int64 { LogicalType::Int64 } else { exact::decimal(scale + whole, scale) };
    let factors = [exact::factor(one.scale, scale), exact::factor(other.scale, scale)];
    let bound = Bound::new(output, move |views, rows| {
        rows.integers(output, |row| Ok(remainder(views[0].integer(row), views[1].integer(row), factors)))
    });
    Ok(bound.nullable())
}

/// `one * factor % (other * factor)`, of which one factor is 1 and the other a power of ten; `None` if that divides by
/// zero.
fn remainder(one: i128, other: i128, factors: [i128; 2]) -> Option<i128> {
    let Some(divisor) = other.checked_mul(factors[1]) else {
        // It is larger than any number of 38 digits.
        return Some(one);
    };
    match one.checked_mul(factors[0]) {
        _ if divisor == 0 => None,
        Some(one) => Some(one.wrapping_rem(divisor)),
        None => Some(long_remainder(one, factors[0], divisor)),
    }
}

/// `one * factor % divisor`, where the product may be too large, of a power of ten and a divisor of up to 38 digits.
fn long_remainder(one: i128, factor: i128, divisor: i128) -> i128 {
    let (mut rest, divisor) = (one.unsigned_abs() % divisor.unsigned_abs(), divisor.unsigned_abs());
    let doubled = |rest: u128| rest * 2 % divisor;
    for _ in 0..factor.ilog10() {
        rest = doubled((doubled(doubled(rest)) + rest) % divisor);
    }
    rest as i128 * one.signum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn long_remainders_are_those_of_short_ones(one in any::<i64>(), digits in 0u32..19, other in 1..i128::from(i64::MAX)) {
            let factor = 10i128.pow(digits);
            prop_assert_eq!(long_remainder(one.into(), factor, other), i128::from(one) * factor % other);
        }
    }

    #[test]
    fn remainders_of_many_digits_are_exact() {
        let most = 10i128.pow(38) - 1;
        for (one, other, factors, expected) in [
            (most, 15, [10, 1], Some(0)),
            (-most, 7, [100, 1], Some(-(most % 7 * 100 % 7))),
            (most, most - 1, [10, 1], Some(10)),
            (most, 12, [1, most / 9], Some(most)),
            (most, 0, [10, 1], None),
        ] {
            assert_eq!(remainder(one, other, factors), expected, "{one} {other}");
        }
    }
}
