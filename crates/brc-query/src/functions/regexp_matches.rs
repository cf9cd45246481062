//! `regexp_matches(s, pattern)`: whether a part of a string matches a regular expression.

use super::pattern::Pattern;
use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;

pub(super) static REGEXP_MATCHES: Function = Function {
    name: "regexp_matches",
    aliases: &["regexp_like"],
    usage: "regexp_matches(s, pattern[, options])",
    about: "whether any part of s matches a regular expression (syntax of Rust's regex crate); option i ignores case",
    example: ("regexp_matches('order 66', '[0-9]+')", "true"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=3, REGEXP_MATCHES.usage)?;
    string(arguments, 0)?;
    let regex = Pattern::of(arguments, 1, 2)?.regex;
    Ok(Bound::test(move |text| regex.is_match(text)))
}
