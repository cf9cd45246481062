//! `prefix(s, n)`: the first characters of a string.

use super::{Bound, Function, Mismatch, count, integer, length, string, substr};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static PREFIX: Function = Function {
    name: "prefix",
    aliases: &["left"],
    usage: "prefix(s, n)",
    about: "the first n characters; of a negative n, all but the last ones; also left(s, n)",
    example: ("prefix('database', 4)", "data"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, PREFIX.usage)?;
    string(arguments, 0)?;
    integer(arguments, 1)?;
    Ok(Bound::new(LogicalType::String, |views, rows| {
        rows.strings(|row, out| {
            let (text, count) = (views[0].bytes(row), views[1].narrow(row));
            let count = if count < 0 { count.saturating_add(length::characters(text) as i64) } else { count };
            out.extend_from_slice(substr::part(text, 1, count));
        })
    }))
}
