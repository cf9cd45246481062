//! `a / b`: the float nearest to the exact quotient. Of exact numbers, what is divided by zero is null.

use super::{Bound, Function, Mismatch, count, exact};
use crate::functions::typed::Typed;
use crate::values::ratio::{nearest, nearest_small};
use crate::values::view::{View, ViewData};
use brc_core::{Array, BitmapBuffer, Integers, LogicalType, Value};
use brc_kernels::arithmetic::quotients;
use brc_kernels::cpu::Level;
use brc_kernels::filter::{range, words};
use num_bigint::{BigInt, BigUint};

pub(super) static DIVIDE: Function = Function {
    name: "/",
    aliases: &[],
    usage: "a / b",
    about: "the quotient, as the nearest float64; null if an integer or decimal is divided by zero",
    example: ("7 / 2", "3.5"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a / b")?;
    if exact::both(arguments)?.is_none() {
        return Ok(exact::floats(arguments, |one, other| one / other));
    }
    let [one, other] = exact::scales(arguments);
    let factors = [exact::factor(one, other), exact::factor(other, one)];
    let bound = Bound::new(LogicalType::Float64, move |views, rows| {
        if let Some(quotients) = narrow(&views[0], &views[1], factors) {
            return Ok(quotients);
        }
        rows.values(LogicalType::Float64, |row| {
            Ok(quotient(views[0].integer(row), one, views[1].integer(row), other).map(Value::Float))
        })
    });
    Ok(bound.nullable())
}

/// All quotients, if both sides in units of the finer scale are floats: then dividing them rounds once.
fn narrow(one: &View<'_>, other: &View<'_>, factors: [i128; 2]) -> Option<Array> {
    let (ViewData::Narrow(ones), ViewData::Narrow(others)) = (&one.data, &other.data) else { return None };
    let factors @ [dividend, divisor] = [i64::try_from(factors[0]).ok()?, i64::try_from(factors[1]).ok()?];
    if ones.len() != others.len() || !exact::is_exact(ones, dividend) || !exact::is_exact(others, divisor) {
        return None;
    }
    let level = Level::best();
    let data = quotients(level, ones, others, factors).into();
    let mut is_zero = vec![0; words(others.len())];
    range(level, Integers::I64(others), 0, 0, &mut is_zero);
    let defined: Vec<u64> = is_zero.iter().map(|word| !word).collect();
    Some(Array { data, validity: BitmapBuffer::of_words(&defined, others.len()) })
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
