//! `log(x)`: the logarithm to base 10, and `log(base, x)` that to another base: floats.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::functions::typed::Typed;

pub(super) static LOG: Function = Function {
    name: "log",
    aliases: &[],
    usage: "log([base, ]x)",
    about: "the logarithm to base 10, or to another base, as float64; NaN if x is below zero",
    example: ("log(2, 8)", "3.0"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=2, LOG.usage)?;
    if arguments.len() == 1 {
        return exact::float_of_one(arguments, LOG.usage, f64::log10);
    }
    number(arguments, 0)?;
    number(arguments, 1)?;
    Ok(exact::floats(arguments, logarithm))
}

/// Exact where the library has a function for the base.
fn logarithm(base: f64, x: f64) -> f64 {
    match base {
        2.0 => x.log2(),
        10.0 => x.log10(),
        _ => x.ln() / base.ln(),
    }
}
