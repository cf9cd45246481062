//! `a + b`: the exact sum of numbers; a date and days.

use super::exact::{self, Operation};
use super::temporal::is_days;
use super::{Bound, Function, Mismatch, count};
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
        (LogicalType::Date, days) | (days, LogicalType::Date) if is_days(days) => {
            Ok(exact::bound(Add, LogicalType::Date, [0; 2], [1; 2]))
        }
        _ => exact::sum(Add, arguments, |one, other| one + other),
    }
}
