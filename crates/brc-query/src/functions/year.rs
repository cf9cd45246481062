//! `year(t)`: the year of a date or timestamp.

use super::{Bound, Function, Mismatch, count, extract};
use crate::functions::typed::Typed;

pub(super) static YEAR: Function = Function {
    name: "year",
    aliases: &[],
    usage: "year(t)",
    about: "the year of a date or timestamp",
    example: ("year(date '2024-02-29')", "2024"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, YEAR.usage)?;
    extract::of(arguments, 0, extract::YEAR, true)
}
