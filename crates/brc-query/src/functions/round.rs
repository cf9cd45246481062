//! `round(x, n)`: the nearest number of `n` decimals, halves away from zero.

use super::{Bound, Function, Mismatch, constant_integer, count, rounding};
use crate::functions::typed::Typed;
use brc_kernels::arithmetic::Rounding;

pub(super) static ROUND: Function = Function {
    name: "round",
    aliases: &[],
    usage: "round(x[, decimals])",
    about: "x rounded to the given number of decimals, by default 0; halves are rounded away from zero",
    example: ("round(2.567, 1)", "2.6"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=2, ROUND.usage)?;
    let decimals = if arguments.len() == 2 { constant_integer(arguments, 1)? } else { 0 };
    rounding::bound(arguments, decimals, Rounding::Nearest)
}
