//! `a * b`: the exact product of numbers, with the decimals of both.

use super::exact::{self, Operation};
use super::{Bound, Function, Mismatch, count, refuse};
use crate::functions::typed::Typed;
use brc_core::LogicalType;
use brc_kernels::arithmetic;

pub(super) static MULTIPLY: Function = Function {
    name: "*",
    aliases: &[],
    usage: "a * b",
    about: "the exact product",
    example: ("1.5 * 0.5", "0.75"),
    bind,
};

#[derive(Clone, Copy)]
struct Multiply;

impl Operation for Multiply {
    const NARROW: arithmetic::Operation = arithmetic::Operation::Multiply;
    const SYMBOL: &'static str = "*";

    fn wide(one: i128, other: i128) -> Option<i128> {
        one.checked_mul(other)
    }
}

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a * b")?;
    let Some((one, other)) = exact::both(arguments)? else {
        return Ok(exact::floats(arguments, |one, other| one * other));
    };
    if one.scale + other.scale > LogicalType::MAX_PRECISION {
        return refuse(1, "has too many decimals for an exact product; cast one to float64");
    }
    let output = match one.is_int64 && other.is_int64 {
        true => LogicalType::Int64,
        false => exact::decimal(one.precision.saturating_add(other.precision), one.scale + other.scale),
    };
    Ok(exact::bound(Multiply, output, [one.scale, other.scale], [1; 2]))
}
