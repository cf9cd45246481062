//! `month(t)`: the month of a date or timestamp, from 1.

use super::{Bound, Function, Mismatch, count, extract};
use crate::functions::typed::Typed;

pub(super) static MONTH: Function = Function {
    name: "month",
    aliases: &[],
    usage: "month(t)",
    about: "the month of a date or timestamp, 1 to 12",
    example: ("month(date '2024-02-29')", "2"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, MONTH.usage)?;
    extract::of(arguments, 0, extract::MONTH, true)
}
