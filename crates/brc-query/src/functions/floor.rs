//! `floor(x)`: the largest integer that is not above a number.

use super::{Bound, Function, Mismatch, count, rounding};
use crate::functions::typed::Typed;
use brc_kernels::arithmetic::Rounding;

pub(super) static FLOOR: Function = Function {
    name: "floor",
    aliases: &[],
    usage: "floor(x)",
    about: "the largest integer not greater than x",
    example: ("floor(-2.5)", "-3"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, FLOOR.usage)?;
    rounding::bound(arguments, 0, Rounding::Down)
}
