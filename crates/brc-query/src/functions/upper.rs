//! `upper(s)`: a string in upper case. Bytes that are no UTF-8 stay as they are.

use super::lower::in_case;
use super::{Bound, Function, Mismatch};
use crate::functions::typed::Typed;

pub(super) static UPPER: Function = Function {
    name: "upper",
    aliases: &["ucase"],
    usage: "upper(s)",
    about: "s in upper case",
    example: ("upper('Oslo')", "OSLO"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    in_case(arguments, UPPER.usage, u8::to_ascii_uppercase, char::to_uppercase, str::to_uppercase)
}
