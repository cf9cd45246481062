//! `lower(s)`: a string in lower case. Bytes that are no UTF-8 stay as they are.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use crate::values::text::Text;

pub(super) static LOWER: Function = Function {
    name: "lower",
    aliases: &["lcase"],
    usage: "lower(s)",
    about: "s in lower case",
    example: ("lower('Oslo')", "oslo"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, LOWER.usage)?;
    string(arguments, 0)?;
    Ok(Bound::text(|text, out| match std::str::from_utf8(text) {
        Ok(text) if text.is_ascii() => out.extend(text.len(), text.bytes().map(|byte| byte.to_ascii_lowercase())),
        Ok(text) => {
            let length = |text: &str| text.chars().flat_map(char::to_lowercase).map(char::len_utf8).sum();
            append(text, out, length, str::to_lowercase);
        }
        Err(_) => out.extend_from_slice(text),
    }))
}

/// Appends what `convert` makes of a text. It may be longer, so that `length` says of a long one first how long it
/// becomes.
pub(super) fn append(
    text: &str,
    out: &mut Text<'_>,
    length: impl FnOnce(&str) -> usize,
    convert: impl FnOnce(&str) -> String,
) {
    const MIN_LONG_BYTES: usize = 1 << 16;
    if text.len() < MIN_LONG_BYTES || out.has_room_for(length(text)) {
        out.extend_from_slice(convert(text).as_bytes());
    }
}
