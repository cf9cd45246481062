//! Finds where the fields of delimited text end: the scan that every later step of reading text starts from.
//!
//! # What it gives
//! [`scan`] writes one [`FieldEnd`] a field, row after row, into a buffer of the caller's: the offset of the delimiter or
//! line end behind the field, and two marks, whether it ends a row and whether the field needs unquoting. A field starts one
//! byte behind the end before it. A parser of typed columns wants just that: once a row is known to have `c` fields, field
//! `f` of row `r` is entry `r * c + f`, so that a column is a strided walk over one small array; and since offset and marks
//! share a 32-bit word, neither costs a second load.
//!
//! # The rules
//! They are an automaton that reads one byte after the other (`automaton`), in words:
//! - Delimiters and line ends that stand neither in quotes nor behind an escape end a field.
//! - A quote at the start of a field opens it. Anywhere else in a field that does not start with one it is data: `5"
//!   pipe`.
//! - In a quoted field, two quotes are one that is data; a single one closes the field. Behind that must follow a
//!   delimiter or a line end, else the row is malformed. A malformed row reaches through the first line end behind
//!   the offending byte, whether that stands in quotes or not; the next row starts there.
//! - An escape makes data of the byte behind it, in quotes or not; a line feed too. (Of an escaped CRLF only the CR.)
//! - A line that starts with the comment byte is one field, whatever is in it.
//! - With brackets, a `[` at the start of a field opens it, and a `]` before a delimiter or line end closes it; between them
//!   there may be delimiters and other brackets. A field that is not closed ends at the line end.
//! - With [`LineEnd::Lf`], a CR directly before a line feed belongs to the line end: it may follow a closing quote.
//!   The field's end is the line feed nevertheless; who takes the last field of a row leaves out the CR. Any other CR
//!   is data.
//!
//! # How it is fast
//! Blocks of 64 bytes become bit masks, in which quotes are paired by a prefix XOR. That equals the automaton as long as
//! quotes stand only at the borders of fields, which is tested along the way; where one does not, and with escapes, the
//! automaton itself goes on to the end of that row. It reads all of a text with brackets.
//!
//! # Splitting
//! Whether a byte stands in quotes depends on all text before it. A [`Transition`] is what one chunk of text does to any
//! state before it; chunks are worked on in any order, and their transitions are chained.

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
pub(crate) use portable::equal_bytes;
pub use scan::{Cursor, MAX_TEXT, Malformed, scan};
pub use syntax::{LineEnd, Syntax, SyntaxError};
pub use transition::Transition;

/// The end of a field: where it is, and what is known about the field.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct FieldEnd(u32);

impl FieldEnd {
    /// The mark of a field that is the last of its row.
    const ROW: u32 = 1;
    /// The mark of a field that is quoted or has escapes.
    const QUOTED: u32 = 2;
    /// By how many bits the offset is shifted to make room for the marks.
    const MARKS: u32 = 2;

    /// The end of a field at byte `offset` of the text. Offsets from [`MAX_TEXT`] on lose their highest bits.
    #[must_use]
    pub const fn new(offset: usize, row_end: bool, quoted: bool) -> Self {
        let marks = if row_end { Self::ROW } else { 0 } | if quoted { Self::QUOTED } else { 0 };
        Self((offset as u32) << Self::MARKS | marks)
    }

    /// The offset of the delimiter or line end behind the field, or the length of a text that ends with the field.
    #[must_use]
    pub const fn offset(self) -> usize {
        (self.0 >> Self::MARKS) as usize
    }

    /// Whether the field is the last of its row.
    #[must_use]
    pub const fn is_row_end(self) -> bool {
        self.0 & Self::ROW != 0
    }

    /// Whether the field's bytes are not its value: it stands in quotes, or has an escape.
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
