//! `rtrim(s)`, `rtrim(s, characters)`: a string without the spaces, or the given characters, at its end.

use super::{Function, trim};

pub(super) static RTRIM: Function = Function {
    name: "rtrim",
    aliases: &[],
    usage: "rtrim(s[, characters])",
    about: "s without trailing spaces, or others of these characters; also trim(trailing 'x' from s)",
    example: ("rtrim('xxOslox', 'x')", "xxOslo"),
    bind: |arguments| trim::bound(arguments, RTRIM.usage, [false, true]),
};
