//! `rpad(s, n, fill)`: a string of n characters, filled up at its end.

use super::{Function, pad};

pub(super) static RPAD: Function = Function {
    name: "rpad",
    aliases: &[],
    usage: "rpad(s, n[, fill])",
    about: "s filled up at its end to n characters, with spaces or with fill; a longer s is cut",
    example: ("rpad('7', 3, '0')", "700"),
    bind: |arguments| pad::bound(arguments, RPAD.usage, false),
};
