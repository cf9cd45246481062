//! `exp(x)`: e to the power of x, a float.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static EXP: Function = Function {
    name: "exp",
    aliases: &[],
    usage: "exp(x)",
    about: "e to the power of x, as float64",
    example: ("exp(0)", "1.0"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, EXP.usage)?;
    let scale = number(arguments, 0)?.scale();
    Ok(Bound::new(LogicalType::Float64, move |views, rows| {
        rows.floats(|row| exact::float(&views[0], scale, row).exp())
    }))
}
