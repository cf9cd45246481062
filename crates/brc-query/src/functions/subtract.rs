//! `a - b`: the exact difference of numbers, days before a date, or the days between two dates.

use super::exact::{self, Operation};
use super::temporal::{Clock, is_days};
use super::{Bound, Function, Mismatch, count, refuse};
use crate::functions::typed::Typed;
use brc_core::LogicalType;
use brc_kernels::arithmetic;

pub(super) static SUBTRACT: Function =
    Function { name: "-", aliases: &[], usage: "a - b", about: "the exact difference", example: ("5 - 7", "-2"), bind };

#[derive(Clone, Copy)]
struct Subtract;

impl Operation for Subtract {
    const NARROW: arithmetic::Operation = arithmetic::Operation::Subtract;
    const SYMBOL: &'static str = "-";

    fn wide(one: i128, other: i128) -> Option<i128> {
        one.checked_sub(other)
    }
}

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a - b")?;
    let plain = |output| Ok(exact::bound(Subtract, output, [0; 2], [1; 2]));
    match (arguments[0].logical_type, arguments[1].logical_type) {
        (LogicalType::Date, LogicalType::Date) => plain(LogicalType::Int64),
        (LogicalType::Date, days) if is_days(days) => plain(LogicalType::Date),
        _ if (0..2).all(|index| Clock::of(arguments, index).is_ok()) => {
            refuse(0, "needs numbers; the time between t and u is date_diff('second', t, u)")
        }
        _ => exact::sum(Subtract, arguments, |one, other| one - other),
    }
}
