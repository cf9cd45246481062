//! `ln(x)`: the natural logarithm, a float.

use super::{Function, exact};

pub(super) static LN: Function = Function {
    name: "ln",
    aliases: &[],
    usage: "ln(x)",
    about: "the natural logarithm, as float64; NaN if x is below zero",
    example: ("ln(1)", "0.0"),
    bind: |arguments| exact::float_of_one(arguments, LN.usage, f64::ln),
};
