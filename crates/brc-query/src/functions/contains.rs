//! `contains(s, part)`: whether a string contains another.

use super::{Bound, Function, Mismatch};
use crate::functions::typed::Typed;

pub(super) static CONTAINS: Function = Function {
    name: "contains",
    aliases: &[],
    usage: "contains(s, part)",
    about: "whether s contains part",
    example: ("contains('Oslo', 'sl')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    Bound::test_of_two(arguments, CONTAINS.usage, |text, part| find(text, part).is_some())
}

/// Where a string first occurs in another.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}
