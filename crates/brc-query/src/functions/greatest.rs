//! `greatest(a, b, …)`: the largest of several values of a row.

use super::{Function, extreme};
use std::cmp::Ordering;

pub(super) static GREATEST: Function = Function {
    name: "greatest",
    aliases: &[],
    usage: "greatest(a, b, …)",
    about: "the largest of the values; nulls are skipped",
    example: ("greatest(2, 3.5, null)", "3.5"),
    bind: |arguments| extreme::bound(arguments, GREATEST.usage, Ordering::Greater),
};
