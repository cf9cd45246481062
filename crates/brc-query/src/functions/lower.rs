//! `lower(s)`: a string in lower case. Bytes that are no UTF-8 stay as they are.

use super::{Bound, Function, Mismatch, count, string};
use crate::node::Typed;

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
        Ok(text) if text.is_ascii() => out.extend(text.bytes().map(|byte| byte.to_ascii_lowercase())),
        Ok(text) => out.extend_from_slice(text.to_lowercase().as_bytes()),
        Err(_) => out.extend_from_slice(text),
    }))
}
