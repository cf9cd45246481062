//! `ceil(x)`: the smallest integer that is not below a number.

use super::{Bound, Function, Mismatch, count, rounding};
use crate::node::Typed;

pub(super) static CEIL: Function = Function {
    name: "ceil",
    aliases: &["ceiling"],
    usage: "ceil(x)",
    about: "the smallest whole number not below a number",
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, CEIL.usage)?;
    let up = |value: i128, divisor: i128| value.div_euclid(divisor) + i128::from(value.rem_euclid(divisor) != 0);
    rounding::bound(arguments, 0, up, f64::ceil)
}
