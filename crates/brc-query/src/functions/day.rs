//! `day(t)`: the day of the month of a date or timestamp.

use super::{Bound, Function, Mismatch, count, extract};
use crate::functions::typed::Typed;

pub(super) static DAY: Function = Function {
    name: "day",
    aliases: &[],
    usage: "day(t)",
    about: "the day of the month of a date or timestamp",
    example: ("day(date '2024-02-29')", "29"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, DAY.usage)?;
    extract::of(arguments, 0, extract::DAY, true)
}
