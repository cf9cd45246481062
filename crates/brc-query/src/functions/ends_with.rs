//! `ends_with(s, suffix)`: whether a string ends with another.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static ENDS_WITH: Function = Function {
    name: "ends_with",
    aliases: &[],
    usage: "ends_with(s, suffix)",
    about: "whether s ends with suffix",
    example: ("ends_with('Oslo', 'lo')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, ENDS_WITH.usage)?;
    string(arguments, 0)?;
    string(arguments, 1)?;
    let holds: fn(&[u8], &[u8]) -> bool = |text, part| text.ends_with(part);
    Ok(Bound::new(LogicalType::Bool, move |views, rows| {
        rows.truths(|row| holds(views[0].bytes(row), views[1].bytes(row)))
    }))
}
