//! `hour(t)`: the hour of a time or timestamp.

use super::{Bound, Function, Mismatch, count, extract};
use crate::functions::typed::Typed;

pub(super) static HOUR: Function = Function {
    name: "hour",
    aliases: &[],
    usage: "hour(t)",
    about: "the hour of a time or timestamp, 0 to 23",
    example: ("hour(timestamp '2024-02-29 12:34:56')", "12"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, HOUR.usage)?;
    extract::of(arguments, 0, extract::HOUR, false)
}
