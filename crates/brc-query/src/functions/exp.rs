//! `exp(x)`: e to the power of x, a float.

use super::{Function, exact};

pub(super) static EXP: Function = Function {
    name: "exp",
    aliases: &[],
    usage: "exp(x)",
    about: "e to the power of x, as float64",
    example: ("exp(0)", "1.0"),
    bind: |arguments| exact::float_of_one(arguments, EXP.usage, f64::exp),
};
