//! `right(s, n)`: the last characters of a string.

use super::{Bound, Function, Mismatch, count, integer, string, substr};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static RIGHT: Function = Function {
    name: "right",
    aliases: &[],
    usage: "right(s, n)",
    about: "the last n characters; of a negative n, all but the first ones",
    example: ("right('database', 4)", "base"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, RIGHT.usage)?;
    string(arguments, 0)?;
    integer(arguments, 1)?;
    Ok(Bound::new(LogicalType::String, |views, rows| {
        rows.strings(|row, out| {
            let count = views[1].narrow(row);
            // The first of the last n is the nth from the end.
            let from = if count > 0 { -count } else { count.saturating_neg().saturating_add(1) };
            if count != 0 {
                out.extend_from_slice(substr::part(views[0].bytes(row), from, i64::MAX));
            }
        })
    }))
}
