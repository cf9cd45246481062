//! How the strings of one block are stored: one file a scheme, and one list.
//!
//! What all values have in common is taken out first (see [`super::template`]). Of the schemes that can store what is
//! left, the smallest wins. Adding a scheme is a file and a line in [`SCHEMES`].

mod constant;
mod digits;
mod ipv4;
mod plain;
mod symbols;
mod tokenized;

pub(super) use digits::{MOST as MOST_DIGITS, Packed, number};
pub(super) use symbols::few_symbols;

use super::{LENGTHS, Malformed, Scratch, StringBuffer, Strings, Tokenizer, Tokens};
use std::ops::Range;

/// What a scheme is to store.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) values: Strings<'a>,
    pub(super) tokenizer: Option<&'a Tokenizer>,
}

/// What a scheme makes of its input.
pub(super) struct Plan {
    /// The size in bytes; only where tokens are counted it is an estimate.
    pub(super) bytes: u64,
    /// The values as integers, where they are stored as such.
    pub(super) integers: Vec<i64>,
}

impl Plan {
    fn sized(bytes: u64) -> Self {
        Self { bytes, integers: Vec::new() }
    }
}

/// What a scheme stored.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) rows: usize,
    pub(super) tokens: Option<&'a Tokens>,
}

/// A way to store strings.
pub(super) trait Scheme: Sync {
    /// What stands for it in files, for ever.
    fn id(&self) -> u8;

    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// What a row costs to decode, compared with the other schemes.
    fn cost(&self) -> u32;

    /// Whether it stores whole values, with what they have in common.
    fn whole(&self) -> bool {
        false
    }

    /// What it would make of these values; `None` if it cannot store them.
    fn plan(&self, input: Input<'_>) -> Option<Plan>;

    /// Appends the values.
    fn encode(&self, input: Input<'_>, plan: &Plan, out: &mut Vec<u8>);

    /// Replaces what is in `out` by the values of some rows, the first of which starts a group. Rows that are not there
    /// are not asked for.
    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed>;

    /// What it stored as numbers; `None` if it stored something else.
    fn numbers<'a>(&self, _: Stored<'a>) -> Result<Option<Packed<'a>>, Malformed> {
        Ok(None)
    }
}

/// All schemes. Of two that need the same room and time the first is taken.
pub(super) static SCHEMES: &[&dyn Scheme] =
    &[&constant::Constant, &plain::Plain, &tokenized::Tokenized, &symbols::Symbols, &digits::Digits, &ipv4::Ipv4];

/// The scheme of that id.
pub(super) fn by_id(id: u8) -> Option<&'static dyn Scheme> {
    SCHEMES.iter().copied().find(|scheme| scheme.id() == id)
}
