//! `ltrim(s)`, `ltrim(s, characters)`: a string without the spaces, or the given characters, at its start.

use super::{Function, trim};

pub(super) static LTRIM: Function = Function {
    name: "ltrim",
    aliases: &[],
    usage: "ltrim(s[, characters])",
    about: "s without leading spaces, or others of these characters; also trim(leading 'x' from s)",
    example: ("ltrim('xxOslox', 'x')", "Oslox"),
    bind: |arguments| trim::bound(arguments, LTRIM.usage, [true, false]),
};
