//! `s ilike pattern`: as `like`, whatever the case of letters.

use super::{Function, like};

pub(super) static ILIKE: Function = Function {
    name: "ilike",
    aliases: &[],
    usage: "s ilike pattern [escape c]",
    about: "as like, whatever the case of letters",
    bind: |arguments| like::bind(arguments, true),
};
