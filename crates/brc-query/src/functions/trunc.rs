//! `trunc(x, n)`: a number without its digits after the first `n` decimals.

use super::{Bound, Function, Mismatch, constant_integer, count, rounding};
use crate::functions::typed::Typed;
use brc_kernels::arithmetic::Rounding;

pub(super) static TRUNC: Function = Function {
    name: "trunc",
    aliases: &["truncate"],
    usage: "trunc(x[, decimals])",
    about: "x cut off after the given number of decimals, by default 0",
    example: ("trunc(-2.567, 1)", "-2.5"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=2, TRUNC.usage)?;
    let decimals = if arguments.len() == 2 { constant_integer(arguments, 1)? } else { 0 };
    rounding::bound(arguments, decimals, Rounding::Truncate)
}
