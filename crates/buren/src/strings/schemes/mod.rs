//! The schemes for the strings of a block: one file per scheme, and one list.
//!
//! What all values have in common is removed first (see [`super::template`]). The smallest scheme that can store the
//! rest is chosen. Adding a scheme takes a file and a line in [`SCHEMES`].

mod constant;
mod digits;
mod ipv4;
mod plain;
mod symbols;
mod tokenized;

pub(super) use digits::{MAX_DIGITS, Packed, number};
pub(super) use symbols::few_symbols;

use super::{LENGTHS, Malformed, Scratch, StringBuffer, Strings, Tokenizer, Tokens};
use std::ops::Range;

/// The input of a scheme.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) values: Strings<'a>,
    pub(super) tokenizer: Option<&'a Tokenizer>,
}

/// How a scheme would store its input.
pub(super) struct Plan {
    /// The size in bytes; an estimate for tokens.
    pub(super) bytes: u64,
    /// The values as integers, if stored as such.
    pub(super) integers: Vec<i64>,
}

impl Plan {
    fn sized(bytes: u64) -> Self {
        Self { bytes, integers: Vec::new() }
    }
}

/// The bytes stored by a scheme.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) rows: usize,
    pub(super) tokens: Option<&'a Tokens>,
}

/// A way to store strings.
pub(super) trait Scheme: Sync {
    /// Its id in files, which never changes.
    fn id(&self) -> u8;

    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The relative decoding cost per row.
    fn cost(&self) -> u32;

    /// Whether it stores whole values instead of values without the template.
    fn whole(&self) -> bool {
        false
    }

    /// How it would store these values; `None` if it cannot.
    fn plan(&self, input: Input<'_>) -> Option<Plan>;

    /// Appends the values.
    fn encode(&self, input: Input<'_>, plan: &Plan, out: &mut Vec<u8>);

    /// Replaces `out` with the values of some rows, which start at a group and must exist.
    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed>;

    /// The stored numbers; `None` if it stores something else.
    fn numbers<'a>(&self, _: Stored<'a>) -> Result<Option<Packed<'a>>, Malformed> {
        Ok(None)
    }
}

/// All schemes. Among those of equal size and cost, the first is chosen.
pub(super) static SCHEMES: &[&dyn Scheme] =
    &[&constant::Constant, &plain::Plain, &tokenized::Tokenized, &symbols::Symbols, &digits::Digits, &ipv4::Ipv4];

/// The scheme with this id.
pub(super) fn by_id(id: u8) -> Option<&'static dyn Scheme> {
    SCHEMES.iter().copied().find(|scheme| scheme.id() == id)
}
