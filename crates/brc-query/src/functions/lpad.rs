//! `lpad(s, n, fill)`: a string of n characters, filled up at its start.

use super::{Function, pad};

pub(super) static LPAD: Function = Function {
    name: "lpad",
    aliases: &[],
    usage: "lpad(s, n[, fill])",
    about: "s filled up at its start to n characters, with spaces or with fill; a longer s is cut",
    example: ("lpad('7', 3, '0')", "007"),
    bind: |arguments| pad::bound(arguments, LPAD.usage, true),
};
