//! Scans a text from a known state and writes the ends of all fields.

use super::blocks::{BLOCK, Carry, Needles, ROOM};
use super::{FieldEnd, State, Syntax, automaton};
use crate::cpu::Level;
use crate::isa::{Isa, Work, run_with};
use std::fmt;

/// The maximum length of a text in bytes: what remains of 32 bits after the flags of a [`FieldEnd`].
pub const MAX_TEXT: usize = 1 << (u32::BITS - FieldEnd::FLAG_BITS);

/// The progress of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The offset of the next byte.
    pub at: usize,
    /// The state before that byte.
    pub state: State,
    /// The number of row ends written so far.
    pub rows: usize,
    /// The number of line ends so far, including those that do not end a row.
    pub lines: u64,
}

impl Cursor {
    /// The start of a text, and of a row.
    pub const START: Self = Self { at: 0, state: State::RowStart, rows: 0, lines: 0 };
}

/// A byte other than a delimiter or line end after a closing quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// The offset of the byte in the text.
    pub at: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text after a closing quote at byte {}", self.at)
    }
}

impl std::error::Error for Malformed {}

/// Appends the ends of all fields from the cursor up to offset `to` of the text, and moves the cursor there. If the
/// text does not end with a line end, its last field and row have no end; the state describes them.
///
/// `ends` needs room for one entry per byte of `cursor.at..to`, so a long text is best scanned in windows whose ends
/// fit in the L2 cache; the position of their borders does not matter.
///
/// # Errors
/// At a malformed row. The ends of its fields before the offending byte are written; the cursor is after that byte, in
/// [`State::Skip`]. Continuing the scan skips the rest of the row.
///
/// # Panics
/// If `cursor.at <= to <= text.len() <= MAX_TEXT` does not hold.
pub fn scan(
    level: Level,
    syntax: &Syntax,
    text: &[u8],
    cursor: &mut Cursor,
    to: usize,
    ends: &mut Vec<FieldEnd>,
) -> Result<(), Malformed> {
    assert!(cursor.at <= to && to <= text.len() && text.len() <= MAX_TEXT, "a part of a text that is not too long");
    let text = &text[..to];
    while cursor.at < to {
        if syntax.has_masks() {
            match syntax.quote() {
                Some(_) => run_with(level, ScanBlocks::<true> { syntax, text, cursor, ends }),
                None => run_with(level, ScanBlocks::<false> { syntax, text, cursor, ends }),
            }
        }
        automaton::scan_row(syntax, text, cursor, to, ends)?;
    }
    Ok(())
}

/// Scans whole blocks, up to one that needs the automaton.
struct ScanBlocks<'a, const QUOTES: bool> {
    syntax: &'a Syntax,
    text: &'a [u8],
    cursor: &'a mut Cursor,
    ends: &'a mut Vec<FieldEnd>,
}

impl<const QUOTES: bool> Work for ScanBlocks<'_, QUOTES> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<B: Isa>(self) {
        let Self { syntax, text, cursor, ends } = self;
        let Some(mut carry) = Carry::new(cursor.state) else { return };
        let first = cursor.at;
        let needles = Needles::new(syntax);
        let (mut rows, mut lines) = (0, 0);
        ends.reserve(text.len() - cursor.at + ROOM);
        let (out, mut length) = (ends.as_mut_ptr(), ends.len());
        let (blocks, _) = text[cursor.at..].as_chunks::<BLOCK>();
        for block in blocks {
            // SAFETY: the caller promises the instructions.
            let masks = unsafe { B::masks(&needles, block) };
            // SAFETY: likewise.
            let parity = if QUOTES { unsafe { B::prefix_xor(masks.quotes) } } else { 0 };
            let Some(found) = carry.step::<QUOTES>(&masks, parity) else { break };
            // SAFETY: likewise; there is room for one end per remaining byte, including this block, and `ROOM` more.
            unsafe { B::emit(&found, cursor.at, out.add(length)) };
            length += found.ends.count_ones() as usize;
            rows += found.rows.count_ones() as usize;
            lines += u64::from(masks.line_ends.count_ones());
            cursor.at += BLOCK;
        }
        // SAFETY: `length` ends were written, at most one per byte, for which there was room.
        unsafe { ends.set_len(length) };
        cursor.state = carry.state(syntax, cursor.state, &text[first..cursor.at]);
        cursor.rows += rows;
        cursor.lines += lines;
    }
}
