//! `ends_with(s, suffix)`: whether a string ends with another.

use super::{Bound, Function, Mismatch};
use crate::functions::typed::Typed;

pub(super) static ENDS_WITH: Function = Function {
    name: "ends_with",
    aliases: &[],
    usage: "ends_with(s, suffix)",
    about: "whether s ends with suffix",
    example: ("ends_with('Oslo', 'lo')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    Bound::test_of_two(arguments, ENDS_WITH.usage, <[u8]>::ends_with)
}
