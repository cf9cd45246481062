//! `concat(a, b, …)`, also written `a || b`: strings one behind the other, other values in their text form.

use super::{Bound, Function, Mismatch, count};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static CONCAT: Function = Function {
    name: "concat",
    aliases: &["||"],
    usage: "concat(a, b, …)",
    about: "values one behind the other, as text, without nulls; a || b is null if one is",
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=64, CONCAT.usage)?;
    let types: Vec<LogicalType> = arguments.iter().map(|argument| argument.logical_type).collect();
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        rows.strings(|row, out| {
            for (view, &logical_type) in views.iter().zip(&types) {
                if let Some(value) = view.get(row) {
                    out.push_value(value, logical_type);
                }
            }
        })
    }))
}
