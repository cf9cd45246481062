//! `upper(s)`: a string in upper case. Bytes that are no UTF-8 stay as they are.

use super::lower::append;
use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;

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
        Ok(text) => {
            let length = |text: &str| text.chars().flat_map(char::to_uppercase).map(char::len_utf8).sum();
            append(text, out, length, str::to_uppercase);
        }
        Err(_) => out.extend_from_slice(text),
    }))
}
