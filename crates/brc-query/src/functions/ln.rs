//! `ln(x)`: the natural logarithm, a float.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static LN: Function = Function {
    name: "ln",
    aliases: &[],
    usage: "ln(x)",
    about: "the natural logarithm, as float64; NaN if x is below zero",
    example: ("ln(1)", "0.0"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, LN.usage)?;
    let scale = number(arguments, 0)?.scale();
    Ok(Bound::new(LogicalType::Float64, move |views, rows| rows.floats(|row| exact::float(&views[0], scale, row).ln())))
}
