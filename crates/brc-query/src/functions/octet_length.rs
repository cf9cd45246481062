//! `octet_length(s)`: the bytes of a string.

use super::{Bound, Function, Mismatch, count, length, string};
use crate::functions::typed::Typed;

pub(super) static OCTET_LENGTH: Function = Function {
    name: "octet_length",
    aliases: &["strlen", "byte_length"],
    usage: "octet_length(s)",
    about: "the number of bytes; also strlen(s)",
    example: ("octet_length('blåbær')", "8"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, OCTET_LENGTH.usage)?;
    string(arguments, 0)?;
    Ok(length::bound(true))
}
