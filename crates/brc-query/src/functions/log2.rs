//! `log2(x)`: the logarithm to base 2, a float.

use super::{Function, exact};

pub(super) static LOG2: Function = Function {
    name: "log2",
    aliases: &[],
    usage: "log2(x)",
    about: "the logarithm to base 2, as float64; NaN if x is below zero",
    example: ("log2(8)", "3.0"),
    bind: |arguments| exact::float_of_one(arguments, LOG2.usage, f64::log2),
};
