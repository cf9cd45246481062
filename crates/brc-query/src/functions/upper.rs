//! `upper(s)`: a string in upper case. Bytes that are no UTF-8 stay as they are.

use super::lower::LONG;
use super::{Bound, Function, Mismatch, count, string};
use crate::node::Typed;

pub(super) static UPPER: Function = Function {
    name: "upper",
    aliases: &["ucase"],
    usage: "upper(s)",
    about: "s in upper case",
    example: ("upper('Oslo')", "OSLO"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, UPPER.usage)?;
    string(arguments, 0)?;
    Ok(Bound::text(|text, out| match std::str::from_utf8(text) {
        Ok(text) if text.is_ascii() => out.extend(text.len(), text.bytes().map(|byte| byte.to_ascii_uppercase())),
        // A character may become longer ones: of a long text it is known first how long it becomes.
        Ok(text)
            if text.len() >= LONG
                && !out.has_room_for(text.chars().flat_map(char::to_uppercase).map(char::len_utf8).sum()) => {}
        Ok(text) => out.extend_from_slice(text.to_uppercase().as_bytes()),
        Err(_) => out.extend_from_slice(text),
    }))
}
