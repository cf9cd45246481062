//! `s ilike pattern`: as `like`, whatever the case of letters.

use super::{Function, like};

pub(super) static ILIKE: Function = Function {
    name: "ilike",
    aliases: &[],
    usage: "s ilike pattern [escape c]",
    about: "the same as like, ignoring case",
    example: ("'Oslo' ilike 'o_lo'", "true"),
    bind: |arguments| like::bind(arguments, true),
};
