//! `power(x, y)`: a number to the power of another, a float.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::functions::typed::Typed;

pub(super) static POWER: Function = Function {
    name: "power",
    aliases: &["pow"],
    usage: "power(x, y)",
    about: "x to the power of y, as float64",
    example: ("power(2, 10)", "1024.0"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, POWER.usage)?;
    number(arguments, 0)?;
    number(arguments, 1)?;
    Ok(exact::floats(arguments, f64::powf))
}
