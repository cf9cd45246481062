//! `starts_with(s, prefix)`: whether a string starts with another.

use super::{Bound, Function, Mismatch};
use crate::functions::typed::Typed;

pub(super) static STARTS_WITH: Function = Function {
    name: "starts_with",
    aliases: &[],
    usage: "starts_with(s, prefix)",
    about: "whether s starts with prefix",
    example: ("starts_with('Oslo', 'Os')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    Bound::test_of_two(arguments, STARTS_WITH.usage, <[u8]>::starts_with)
}
