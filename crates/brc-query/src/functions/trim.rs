//! `trim(s)`: a string without the spaces around it.

use super::{Bound, Function, Mismatch, count, string};
use crate::node::Typed;

pub(super) static TRIM: Function = Function {
    name: "trim",
    aliases: &[],
    usage: "trim(s)",
    about: "s without leading and trailing spaces",
    example: ("trim('  Oslo ')", "Oslo"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, TRIM.usage)?;
    string(arguments, 0)?;
    Ok(Bound::text(|text, out| {
        let start = text.iter().position(|&byte| byte != b' ').unwrap_or(text.len());
        let end = text.iter().rposition(|&byte| byte != b' ').map_or(start, |last| last + 1);
        out.extend_from_slice(&text[start..end]);
    }))
}
