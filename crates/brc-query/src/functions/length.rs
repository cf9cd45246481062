//! `length(s)`: the characters of a string, or the bytes of binary data.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use crate::values::view::ViewData;
use brc_core::LogicalType;

pub(super) static LENGTH: Function = Function {
    name: "length",
    aliases: &["len", "char_length", "character_length"],
    usage: "length(s)",
    about: "the number of characters, or of bytes in binary data; octet_length(s) always counts bytes",
    example: ("length('blåbær')", "6"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, LENGTH.usage)?;
    string(arguments, 0)?;
    Ok(bound(arguments[0].logical_type == LogicalType::Binary))
}

/// The number of bytes, or of characters.
pub(super) fn bound(of_bytes: bool) -> Bound {
    Bound::new(LogicalType::Int64, move |views, rows| match views[0].data {
        ViewData::Strings(strings) if of_bytes || strings.span().is_ascii() => {
            let (offsets, _) = strings.parts();
            let lengths = offsets.windows(2).map(|ends| ends[1] - ends[0]);
            Ok(lengths.collect::<Vec<_>>().into())
        }
        _ if of_bytes => rows.narrow(|row| Ok(views[0].bytes(row).len() as i64)),
        _ => rows.narrow(|row| Ok(characters(views[0].bytes(row)) as i64)),
    })
}

/// Whatever is no continuation of a character begins one.
pub(super) fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte as i8 >= -0x40).count()
}
