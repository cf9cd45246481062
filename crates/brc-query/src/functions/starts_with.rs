//! `starts_with(s, prefix)`: whether a string starts with another.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static STARTS_WITH: Function = Function {
    name: "starts_with",
    aliases: &[],
    usage: "starts_with(s, prefix)",
    about: "whether s starts with prefix",
    example: ("starts_with('Oslo', 'Os')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, STARTS_WITH.usage)?;
    string(arguments, 0)?;
    string(arguments, 1)?;
    let holds: fn(&[u8], &[u8]) -> bool = |text, part| text.starts_with(part);
    Ok(Bound::new(LogicalType::Bool, move |views, rows| {
        rows.truths(|row| holds(views[0].bytes(row), views[1].bytes(row)))
    }))
}
