//! `sqrt(x)`: the square root of a number, a float; NaN of what is below zero.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static SQRT: Function = Function {
    name: "sqrt",
    aliases: &[],
    usage: "sqrt(x)",
    about: "the square root, as float64",
    example: ("sqrt(9)", "3.0"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, SQRT.usage)?;
    let scale = number(arguments, 0)?.scale();
    Ok(Bound::new(LogicalType::Float64, move |views, rows| {
        rows.floats(|row| exact::float(&views[0], scale, row).sqrt())
    }))
}
