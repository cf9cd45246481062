//! `contains(s, part)`: whether a string contains another.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static CONTAINS: Function = Function {
    name: "contains",
    aliases: &[],
    usage: "contains(s, part)",
    about: "whether s contains part",
    example: ("contains('Oslo', 'sl')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, CONTAINS.usage)?;
    string(arguments, 0)?;
    string(arguments, 1)?;
    let holds: fn(&[u8], &[u8]) -> bool = |text, part| find(text, part).is_some();
    Ok(Bound::new(LogicalType::Bool, move |views, rows| {
        rows.truths(|row| holds(views[0].bytes(row), views[1].bytes(row)))
    }))
}

/// Where a string first occurs in another.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}
