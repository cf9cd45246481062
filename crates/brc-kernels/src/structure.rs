//! Finds the ends of the fields of delimited text: the scan that all further parsing is based on.
//!
//! # Output
//! [`scan`] writes one [`FieldEnd`] per field, row by row, into a buffer of the caller: the offset of the delimiter or
//! line end after the field, and two flags, whether the field ends a row and whether it needs unquoting. A field starts
//! one byte after the previous end. This suits a parser of typed columns: once each row is known to have `c` fields,
//! field `f` of row `r` is entry `r * c + f`, so that a column is a strided walk over one small array; and since offset
//! and flags share a 32-bit word, no second load is needed.
//!
//! # The rules
//! The rules are those of a byte-wise automaton (`automaton`):
//! - Delimiters and line ends that are neither quoted nor escaped end a field.
//! - A quote at the start of a field opens it. Anywhere else in a field that does not start with one it is data:
//!   `5" pipe`.
//! - In a quoted field, two quotes are one quote of data; a single one closes the field. It must be followed by a
//!   delimiter or a line end, else the row is malformed. A malformed row extends through the first line end after the
//!   offending byte, whether quoted or not; the next row starts there.
//! - With padding, blanks may stand before a quote that opens a field and after the one that closes it.
//! - An escape makes the next byte data, quoted or not; also a line feed. (Of an escaped CRLF only the CR.)
//! - A line that starts with the comment byte is one field.
//! - With brackets, a `[` at the start of a field opens it, and a `]` before a delimiter or line end closes it; the
//!   field may contain delimiters and other brackets. A field that is not closed ends at the line end.
//! - With [`LineEnd::Lf`], a CR directly before a line feed belongs to the line end: it may follow a closing quote. The
//!   field's end is nevertheless at the line feed; users of the last field of a row strip the CR. Any other CR is data.
//!
//! # Fast path
//! Blocks of 64 bytes are converted to bit masks, in which quotes are paired by a prefix XOR. This is equivalent to the
//! automaton while quotes occur only at field borders, which is checked; otherwise, and with escapes, the automaton
//! itself continues to the end of the row. Text with brackets is always scanned by the automaton.
//!
//! # Splitting
//! Whether a byte is quoted depends on all text before it. A [`Transition`] maps any state before a chunk of text to
//! the state after it; chunks are processed in any order, and their transitions are chained.

mod automaton;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod scan;
mod syntax;
mod transition;

pub use automaton::State;
pub(crate) use blocks::Blocks;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::{bits_of_bytes, registers};
pub(crate) use portable::{count_bytes, equal_bytes};
pub use scan::{Cursor, MAX_TEXT, Malformed, scan};
pub use syntax::{LineEnd, Syntax, SyntaxError};
pub use transition::Transition;

/// The end of a field, with flags of the field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct FieldEnd(u32);

impl FieldEnd {
    /// The flag of a field that is the last of its row.
    const ROW: u32 = 1;
    /// The flag of a field that is quoted or has escapes.
    const QUOTED: u32 = 2;
    /// The number of bits of the flags, by which the offset is shifted.
    const FLAG_BITS: u32 = 2;

    /// The end of a field at `offset`. Offsets from [`MAX_TEXT`] on lose their highest bits.
    #[must_use]
    pub const fn new(offset: usize, row_end: bool, quoted: bool) -> Self {
        let flags = if row_end { Self::ROW } else { 0 } | if quoted { Self::QUOTED } else { 0 };
        Self((offset as u32) << Self::FLAG_BITS | flags)
    }

    /// The offset of the delimiter or line end after the field, or the length of a text that ends with the field.
    #[must_use]
    pub const fn offset(self) -> usize {
        (self.0 >> Self::FLAG_BITS) as usize
    }

    /// Whether the field is the last of its row.
    #[must_use]
    pub const fn is_row_end(self) -> bool {
        self.0 & Self::ROW != 0
    }

    /// Whether the field's bytes differ from its value, because it is quoted or has an escape.
    #[must_use]
    pub const fn is_quoted(self) -> bool {
        self.0 & Self::QUOTED != 0
    }
}

impl std::fmt::Debug for FieldEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = if self.is_row_end() { " row" } else { "" };
        let quoted = if self.is_quoted() { " quoted" } else { "" };
        write!(f, "{}{row}{quoted}", self.offset())
    }
}

#[cfg(test)]
mod tests;
