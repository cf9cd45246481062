//! `concat(a, b, …)`, also written `a || b`: strings in sequence, other values in their text form.

use super::{Bound, Function, Mismatch, count};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static CONCAT: Function = Function {
    name: "concat",
    aliases: &["||"],
    usage: "concat(a, b, …)",
    about: "the values joined as text; nulls are skipped (a || b is null if either is null)",
    example: ("concat('Oslo', '/', 12)", "Oslo/12"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=usize::MAX, CONCAT.usage)?;
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
