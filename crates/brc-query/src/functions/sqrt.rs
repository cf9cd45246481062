//! `sqrt(x)`: the square root of a number, a float; NaN of what is below zero.

use super::{Function, exact};

pub(super) static SQRT: Function = Function {
    name: "sqrt",
    aliases: &[],
    usage: "sqrt(x)",
    about: "the square root, as float64",
    example: ("sqrt(9)", "3.0"),
    bind: |arguments| exact::float_of_one(arguments, SQRT.usage, f64::sqrt),
};
