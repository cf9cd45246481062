//! `a + b`: the exact sum of numbers; a date and days.

use super::exact::{self, Operation};
use super::{Bound, Function, Mismatch, count, refuse};
use crate::functions::typed::Typed;
use brc_core::LogicalType;
use brc_kernels::arithmetic;

pub(super) static ADD: Function =
    Function { name: "+", aliases: &[], usage: "a + b", about: "the exact sum", example: ("2 + 0.25", "2.25"), bind };

#[derive(Clone, Copy)]
struct Add;

impl Operation for Add {
    const NARROW: arithmetic::Operation = arithmetic::Operation::Add;
    const SYMBOL: &'static str = "+";

    fn wide(one: i128, other: i128) -> Option<i128> {
        one.checked_add(other)
    }
}

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a + b")?;
    match (arguments[0].logical_type, arguments[1].logical_type) {
        (LogicalType::Date, LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64)
        | (LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64, LogicalType::Date) => {
            Ok(exact::bound(Add, LogicalType::Date, [0; 2], [1; 2]))
        }
        _ => {
            let Some((one, other)) = exact::both(arguments)? else {
                return Ok(exact::floats(arguments, |one, other| one + other));
            };
            let output = exact::sum_type(one, other);
            let scale = output.scale();
            if scale < one.scale.max(other.scale) {
                return refuse(1, "has too many decimals");
            }
            let factors = [exact::factor(one.scale, scale), exact::factor(other.scale, scale)];
            Ok(exact::bound(Add, output, [one.scale, other.scale], factors))
        }
    }
}
