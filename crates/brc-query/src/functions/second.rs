//! `second(t)`: the second of a time or timestamp.

use super::{Bound, Function, Mismatch, count, extract};
use crate::functions::typed::Typed;

pub(super) static SECOND: Function = Function {
    name: "second",
    aliases: &[],
    usage: "second(t)",
    about: "the second of a time or timestamp, 0 to 59",
    example: ("second(time '12:34:56')", "56"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, SECOND.usage)?;
    extract::of(arguments, 0, extract::SECOND, false)
}
