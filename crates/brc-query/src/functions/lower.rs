//! `lower(s)`: a string in lower case. Bytes that are no UTF-8 stay as they are.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;

pub(super) static LOWER: Function = Function {
    name: "lower",
    aliases: &["lcase"],
    usage: "lower(s)",
    about: "s in lower case",
    example: ("lower('Oslo')", "oslo"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    in_case(arguments, LOWER.usage, u8::to_ascii_lowercase, char::to_lowercase, str::to_lowercase)
}

/// A function that converts the case of a string, given how it does so for ASCII, characters and whole strings. A
/// string may become longer, so that the length of a long one is known before it is converted.
pub(super) fn in_case<C: Iterator<Item = char>>(
    arguments: &[Typed],
    usage: &str,
    of_ascii: impl Fn(&u8) -> u8 + Send + Sync + 'static,
    of_character: impl Fn(char) -> C + Send + Sync + 'static,
    of_string: impl Fn(&str) -> String + Send + Sync + 'static,
) -> Result<Bound, Mismatch> {
    const MIN_LONG_BYTES: usize = 1 << 16;
    count(arguments, 1..=1, usage)?;
    string(arguments, 0)?;
    let length = move |text: &str| text.chars().flat_map(&of_character).map(char::len_utf8).sum();
    Ok(Bound::text(move |text, out| match std::str::from_utf8(text) {
        Ok(text) if text.is_ascii() => out.extend(text.len(), text.as_bytes().iter().map(&of_ascii)),
        Ok(text) if text.len() < MIN_LONG_BYTES || out.has_room_for(length(text)) => {
            out.extend_from_slice(of_string(text).as_bytes());
        }
        Ok(_) => {}
        Err(_) => out.extend_from_slice(text),
    }))
}
