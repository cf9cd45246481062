//! `minute(t)`: the minute of a time or timestamp.

use super::{Bound, Function, Mismatch, count, extract};
use crate::functions::typed::Typed;

pub(super) static MINUTE: Function = Function {
    name: "minute",
    aliases: &[],
    usage: "minute(t)",
    about: "the minute of a time or timestamp, 0 to 59",
    example: ("minute(timestamp '2024-02-29 12:34:56')", "34"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, MINUTE.usage)?;
    extract::of(arguments, 0, extract::MINUTE, false)
}
