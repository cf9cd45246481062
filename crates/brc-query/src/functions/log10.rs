//! `log10(x)`: the logarithm to base 10, a float.

use super::{Function, exact};

pub(super) static LOG10: Function = Function {
    name: "log10",
    aliases: &[],
    usage: "log10(x)",
    about: "the logarithm to base 10, as float64; NaN if x is below zero",
    example: ("log10(1000)", "3.0"),
    bind: |arguments| exact::float_of_one(arguments, LOG10.usage, f64::log10),
};
