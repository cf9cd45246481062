//! `a / b`: the float nearest to the exact quotient. Of exact numbers, what is divided by zero is null.

use super::{Bound, Function, Mismatch, count, exact};
use crate::node::Typed;
use crate::ratio::{nearest, nearest_small};
use brc_core::{LogicalType, Value};
use num_bigint::{BigInt, BigUint};

pub(super) static DIVIDE: Function = Function {
    name: "/",
    aliases: &[],
    usage: "a / b",
    about: "the float nearest to the quotient; null where exact numbers are divided by zero",
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a / b")?;
    if exact::both(arguments)?.is_none() {
        return Ok(exact::floats(arguments, |one, other| one / other));
    }
    let [one, other] = exact::scales(arguments);
    let bound = Bound::new(LogicalType::Float64, move |views, rows| {
        rows.values(LogicalType::Float64, |row| {
            Ok(quotient(views[0].integer(row), one, views[1].integer(row), other).map(Value::Float))
        })
    });
    Ok(bound.nullable())
}

fn quotient(one: i128, one_scale: u8, other: i128, other_scale: u8) -> Option<f64> {
    if other == 0 {
        return None;
    }
    let signed = if other < 0 { one.checked_neg() } else { Some(one) };
    // Both in units of the finer scale.
    let numerator = signed.and_then(|one| one.checked_mul(exact::factor(one_scale, other_scale)));
    let denominator = other.unsigned_abs().checked_mul(exact::factor(other_scale, one_scale).unsigned_abs());
    Some(match (numerator, denominator) {
        (Some(numerator), Some(denominator)) => nearest_small(numerator, denominator),
        _ => {
            let power = |scale: u8| BigUint::from(10u8).pow(scale.into());
            let sign = if other < 0 { -1 } else { 1 };
            let numerator = BigInt::from(one) * BigInt::from(power(other_scale)) * sign;
            nearest(&numerator, &(BigUint::from(other.unsigned_abs()) * power(one_scale)), 0)
        }
    })
}
