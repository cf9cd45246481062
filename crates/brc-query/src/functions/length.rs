//! `length(s)`: the characters of a string, or the bytes of binary data.

use super::{Bound, Function, Mismatch, count, string};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static LENGTH: Function = Function {
    name: "length",
    aliases: &["len", "char_length", "character_length"],
    usage: "length(s)",
    about: "the number of characters of a string, or of bytes of binary data",
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, LENGTH.usage)?;
    string(arguments, 0)?;
    let length: fn(&[u8]) -> usize = match arguments[0].logical_type {
        LogicalType::Binary => <[u8]>::len,
        // Whatever is no continuation of a character begins one.
        _ => |text| text.iter().filter(|&&byte| byte as i8 >= -0x40).count(),
    };
    Ok(Bound::new(LogicalType::Int64, move |views, rows| rows.narrow(|row| Ok(length(views[0].bytes(row)) as i64))))
}
