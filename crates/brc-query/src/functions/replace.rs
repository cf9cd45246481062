//! `replace(s, from, to)`: a string with each occurrence of another replaced.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static REPLACE: Function = Function {
    name: "replace",
    aliases: &[],
    usage: "replace(s, from, to)",
    about: "s with every occurrence of from replaced by to",
    example: ("replace('a-b-c', '-', '+')", "a+b+c"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 3..=3, REPLACE.usage)?;
    (0..3).try_for_each(|index| string(arguments, index))?;
    Ok(Bound::new(LogicalType::String, |views, rows| {
        rows.strings(|row, out| {
            let (mut rest, from) = (views[0].bytes(row), views[1].bytes(row));
            while let Some(at) = super::contains::find(rest, from).filter(|_| !from.is_empty()) {
                out.extend_from_slice(&rest[..at]);
                out.extend_from_slice(views[2].bytes(row));
                if !out.has_room_for(0) {
                    return;
                }
                rest = &rest[at + from.len()..];
            }
            out.extend_from_slice(rest);
        })
    }))
}
