//! `ceil(x)`: the smallest integer that is not below a number.

use super::{Bound, Function, Mismatch, count, rounding};
use crate::functions::typed::Typed;
use brc_kernels::arithmetic::Rounding;

pub(super) static CEIL: Function = Function {
    name: "ceil",
    aliases: &["ceiling"],
    usage: "ceil(x)",
    about: "the smallest integer not less than x",
    example: ("ceil(2.1)", "3"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, CEIL.usage)?;
    rounding::bound(arguments, 0, Rounding::Up)
}
