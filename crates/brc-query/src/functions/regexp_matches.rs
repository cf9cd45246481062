//! `regexp_matches(s, pattern)`: whether a part of a string matches a regular expression.

use super::{Bound, Function, Mismatch, constant_text, count, refuse, string};
use crate::node::Typed;
use regex::bytes::Regex;

pub(super) static REGEXP_MATCHES: Function = Function {
    name: "regexp_matches",
    aliases: &["regexp_like"],
    usage: "regexp_matches(s, pattern)",
    about: "whether any part of s matches a regular expression (syntax of Rust's regex crate)",
    example: ("regexp_matches('order 66', '[0-9]+')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, REGEXP_MATCHES.usage)?;
    string(arguments, 0)?;
    let pattern = constant_text(arguments, 1)?;
    match std::str::from_utf8(&pattern).ok().map(Regex::new) {
        Some(Ok(regex)) => Ok(Bound::test(move |text| regex.is_match(text))),
        Some(Err(error)) => {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            refuse(1, format!("needs a regular expression: {reason}"))
        }
        None => refuse(1, "needs a UTF-8 pattern"),
    }
}
