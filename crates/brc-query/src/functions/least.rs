//! `least(a, b, …)`: the smallest of several values of a row.

use super::{Function, extreme};
use std::cmp::Ordering;

pub(super) static LEAST: Function = Function {
    name: "least",
    aliases: &[],
    usage: "least(a, b, …)",
    about: "the smallest of the values; nulls are skipped",
    example: ("least('b', 'a')", "a"),
    bind: |arguments| extreme::bound(arguments, LEAST.usage, Ordering::Less),
};
