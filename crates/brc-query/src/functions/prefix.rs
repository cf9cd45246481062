//! `prefix(s, n)`: the first characters of a string.

use super::{Bound, Function, Mismatch, count, refuse, string, substr};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static PREFIX: Function = Function {
    name: "prefix",
    aliases: &["left"],
    usage: "prefix(s, n)",
    about: "the first n characters",
    example: ("prefix('database', 4)", "data"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, PREFIX.usage)?;
    string(arguments, 0)?;
    if !arguments[1].logical_type.fits_64_bits() || arguments[1].logical_type.scale() > 0 {
        return refuse(1, "needs an integer");
    }
    Ok(Bound::new(LogicalType::String, |views, rows| {
        rows.strings(|row, out| out.extend_from_slice(substr::part(views[0].bytes(row), 1, views[1].narrow(row))))
    }))
}
