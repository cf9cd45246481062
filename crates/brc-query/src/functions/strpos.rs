//! `strpos(s, part)`, also `position(part in s)`: at which character a string first occurs in another.

use super::{Bound, Function, Mismatch, contains, count, length, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static STRPOS: Function = Function {
    name: "strpos",
    aliases: &["instr"],
    usage: "strpos(s, part)",
    about: "the position of the first occurrence of part in s, or 0; also position(part in s)",
    example: ("strpos('database', 'ba')", "5"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, STRPOS.usage)?;
    string(arguments, 0)?;
    string(arguments, 1)?;
    let is_binary = arguments[0].logical_type == LogicalType::Binary;
    Ok(Bound::new(LogicalType::Int64, move |views, rows| {
        rows.narrow(|row| {
            let text = views[0].bytes(row);
            Ok(match contains::find(text, views[1].bytes(row)) {
                None => 0,
                Some(at) if is_binary => at as i64 + 1,
                Some(at) => length::characters(&text[..at]) as i64 + 1,
            })
        })
    }))
}
