//! Scans a text from a known state and writes the ends of all fields.

use super::blocks::{BLOCK, BlockText, Carry, FieldEnds, Masks, Needles, ROOM};
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
            run_with(level, ScanBlocks { syntax, text, cursor, ends });
        }
        automaton::scan_row(syntax, text, cursor, to, ends)?;
    }
    Ok(())
}

/// Scans whole blocks, up to one that needs the automaton.
struct ScanBlocks<'a> {
    syntax: &'a Syntax,
    text: &'a [u8],
    cursor: &'a mut Cursor,
    ends: &'a mut Vec<FieldEnd>,
}

impl Work for ScanBlocks<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<B: Isa>(self) {
        let Self { syntax, text, cursor, ends } = self;
        let Some(carry) = Carry::new(cursor.state) else { return };
        let first = cursor.at;
        ends.reserve(text.len() - first + ROOM);
        let (blocks, _) = text[first..].as_chunks::<BLOCK>();
        let (out, length) = (ends.as_mut_ptr(), ends.len());
        let text = BlockText { text, first, needles: Needles::new(syntax) };
        let mut scan = BlockScan { text, blocks, carry, at: first, rows: 0, lines: 0, out, length };
        // SAFETY: the caller promises the instructions. There is room for one end per remaining byte, and `ROOM` more;
        // at most one per byte is written.
        unsafe {
            match syntax.quote() {
                Some(_) => while scan.without_quotes::<B, true>() && scan.with_quotes::<B>() {},
                None => drop(scan.without_quotes::<B, false>()),
            }
            ends.set_len(scan.length);
        }
        cursor.at = scan.at;
        cursor.state = scan.carry.state(syntax, cursor.state, &text.text[text.first..cursor.at]);
        cursor.rows += scan.rows;
        cursor.lines += scan.lines;
    }
}

/// The number of blocks without quotes after which no more are expected. Where some fields are quoted, blocks with and
/// without quotes alternate, and a branch on them would cost more than the work that it saves.
const CALM: usize = 16;

/// A scan of whole blocks.
struct BlockScan<'a> {
    text: BlockText<'a>,
    /// The blocks that have not been scanned.
    blocks: &'a [[u8; BLOCK]],
    carry: Carry,
    /// The offset of the first of them in the text.
    at: usize,
    rows: usize,
    lines: u64,
    out: *mut FieldEnd,
    length: usize,
}

impl<'a> BlockScan<'a> {
    /// Scans blocks up to one with a quote, unless a quote may affect the first one. Returns whether the next block can be
    /// scanned with quotes.
    ///
    /// # Safety
    /// As for [`Self::take`].
    #[inline(always)]
    unsafe fn without_quotes<B: Isa, const QUOTES: bool>(&mut self) -> bool {
        if !self.carry.is_unquoted() {
            return true;
        }
        while let Some((block, rest)) = self.blocks.split_first() {
            // SAFETY: promised by the caller.
            let masks = unsafe { Masks::of::<B, QUOTES>(&self.text.needles, block) };
            if QUOTES && masks.quotes != 0 {
                return true;
            }
            let Some(found) = self.carry.step_without_quotes(&masks) else { return false };
            // SAFETY: likewise.
            unsafe { self.take::<B, false>(rest, &masks, &found) };
        }
        false
    }

    /// Scans blocks up to the last of several without quotes. Returns whether the next block can be scanned.
    ///
    /// # Safety
    /// As for [`Self::take`].
    #[inline(always)]
    unsafe fn with_quotes<B: Isa>(&mut self) -> bool {
        let mut calm = 0;
        while let Some((block, rest)) = self.blocks.split_first() {
            // SAFETY: promised by the caller.
            let masks = unsafe { Masks::of::<B, true>(&self.text.needles, block) };
            // SAFETY: likewise.
            let found = unsafe { self.carry.step::<B>(&self.text.needles, &masks, block) };
            let Some(found) = found else { return false };
            // SAFETY: likewise.
            unsafe { self.take::<B, true>(rest, &masks, &found) };
            calm = if masks.quotes == 0 { calm + 1 } else { 0 };
            if calm >= CALM {
                return true;
            }
        }
        false
    }

    /// Writes the ends in the first block.
    ///
    /// # Safety
    /// The processor has the instructions. There is room for the ends of all blocks, at most one per byte, and [`ROOM`]
    /// more.
    #[inline(always)]
    unsafe fn take<B: Isa, const QUOTES: bool>(&mut self, rest: &'a [[u8; BLOCK]], masks: &Masks, found: &FieldEnds) {
        // SAFETY: promised by the caller.
        unsafe { B::emit::<QUOTES>(&self.text, found, self.at, self.out.add(self.length)) };
        self.length += found.ends.count_ones() as usize;
        self.rows += found.rows.count_ones() as usize;
        self.lines += u64::from(masks.line_ends.count_ones());
        self.at += BLOCK;
        self.blocks = rest;
    }
}
