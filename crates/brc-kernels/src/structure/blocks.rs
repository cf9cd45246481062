//! The rules for 64 bytes at once, as masks with one bit per byte.

use super::automaton::Class;
use super::{FieldEnd, LineEnd, State, Syntax};

/// The size of a block in bytes.
pub(crate) const BLOCK: usize = 64;

/// The index of each byte in the block, shifted to make room for the flags: with them it fills a byte exactly.
#[cfg(target_arch = "x86_64")]
pub(super) static SHIFTED_INDEXES: [u8; BLOCK] = {
    let mut indexes = [0; BLOCK];
    let mut index = 0;
    while index < BLOCK {
        indexes[index] = (index << FieldEnd::FLAG_BITS) as u8;
        index += 1;
    }
    indexes
};

/// The bytes to search for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needles {
    delimiter: u8,
    pub(super) line_end: u8,
    /// Unspecified if the syntax has none, like the comment byte.
    pub(super) quote: u8,
    comment: u8,
    has_comments: bool,
    /// Whether a CR may be the first byte of a line end.
    has_returns: bool,
}

impl Needles {
    pub(super) fn new(syntax: &Syntax) -> Self {
        Self {
            delimiter: syntax.delimiter(),
            line_end: syntax.line_end().byte(),
            quote: syntax.quote().unwrap_or(0),
            comment: syntax.comment().unwrap_or(0),
            has_comments: syntax.comment().is_some(),
            has_returns: syntax.line_end() == LineEnd::Lf,
        }
    }
}

/// A text that is scanned by blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockText<'a> {
    pub(super) text: &'a [u8],
    /// The offset of the first block.
    pub(super) first: usize,
    pub(super) needles: Needles,
}

/// The positions of the needles in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Masks {
    delimiters: u64,
    pub(super) line_ends: u64,
    pub(super) quotes: u64,
    comments: u64,
}

impl Masks {
    /// Searches for the needles.
    ///
    /// # Safety
    /// As for [`Blocks`].
    #[inline(always)]
    pub(super) unsafe fn of<B: Blocks, const QUOTES: bool>(needles: &Needles, block: &[u8; BLOCK]) -> Self {
        // SAFETY: promised by the caller.
        let positions = |needle| unsafe { B::positions(block, needle) };
        Self {
            delimiters: positions(needles.delimiter),
            line_ends: positions(needles.line_end),
            quotes: if QUOTES { positions(needles.quote) } else { 0 },
            comments: if needles.has_comments { positions(needles.comment) } else { 0 },
        }
    }
}

/// The operations of an instruction set on blocks.
///
/// # Safety
/// The functions must only be called if the processor has these instructions, and are inlined into a function that
/// enables them.
pub(crate) trait Blocks: Copy {
    /// A mask of the bytes of the block that equal `needle`.
    ///
    /// # Safety
    /// See the trait.
    unsafe fn positions(block: &[u8; BLOCK], needle: u8) -> u64;

    /// Sets each bit to the parity of the bits up to and including it.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    unsafe fn prefix_xor(mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    /// Writes the ends in the block at offset `base` of the text; without `QUOTES`, no field has one.
    ///
    /// # Safety
    /// See the trait; the block is in the text, and there is room for [`ROOM`] ends at `out`.
    #[inline(always)]
    unsafe fn emit<const QUOTES: bool>(_: &BlockText<'_>, found: &FieldEnds, base: usize, out: *mut FieldEnd) {
        let (mut ends, quoted) = (found.ends, found.quoted());
        let mut count = 0;
        while ends != 0 {
            let index = ends.trailing_zeros();
            let bit = ends & ends.wrapping_neg();
            let end = FieldEnd::new(base + index as usize, found.rows & bit != 0, quoted & bit != 0);
            // SAFETY: the caller promises room for more ends than a block has bytes.
            unsafe { out.add(count).write(end) };
            count += 1;
            ends &= ends - 1;
        }
    }
}

/// The number of ends that [`Blocks::emit`] may write, including excess entries.
pub(super) const ROOM: usize = 2 * BLOCK;

/// The fields that end in a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldEnds {
    /// The ends of fields.
    pub(super) ends: u64,
    /// The ends that are also ends of rows.
    pub(super) rows: u64,
    /// The ends directly after the closing quote of their field.
    pub(super) after_quote: u64,
    /// The ends after such a quote and a CR.
    pub(super) after_return: u64,
}

impl FieldEnds {
    /// The ends whose fields have a quote.
    #[inline(always)]
    pub(super) fn quoted(&self) -> u64 {
        self.after_quote | self.after_return
    }
}

/// The state between blocks: a [`State`] in the form that masks need. All fields but `inside` are 0 or 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Carry {
    /// All ones inside quotes.
    inside: u64,
    /// The previous byte is the end of a field, or a quote.
    after_border: u64,
    /// The previous byte closes a field or is the first of two quotes.
    after_quote: u64,
    /// The previous byte is a CR after such a quote.
    after_return: u64,
    row_start: u64,
}

impl Carry {
    /// `None` for states that must be processed byte by byte.
    pub(super) fn new(state: State) -> Option<Self> {
        use State::*;
        match state {
            RowStart | FieldStart | Unquoted | Quoted | AfterQuote | AfterQuoteReturn => {}
            Padding | AfterQuotePadding | UnquotedEscape | UnquotedEscaped | QuotedEscape | Bracketed
            | AfterBracket | HalfComment | Comment | Skip => return None,
        }
        Some(Self {
            inside: if state == Quoted { u64::MAX } else { 0 },
            after_border: u64::from(matches!(state, RowStart | FieldStart | AfterQuote)),
            after_quote: u64::from(state == AfterQuote),
            after_return: u64::from(state == AfterQuoteReturn),
            row_start: u64::from(state == RowStart),
        })
    }

    /// The state after `bytes`, which began in state `start`.
    pub(super) fn state(&self, syntax: &Syntax, start: State, bytes: &[u8]) -> State {
        match self.state_without_padding() {
            State::Unquoted if syntax.has_padding() && is_padding(syntax, start, bytes) => State::Padding,
            state => state,
        }
    }

    fn state_without_padding(&self) -> State {
        if self.inside != 0 {
            State::Quoted
        } else if self.after_return != 0 {
            State::AfterQuoteReturn
        } else if self.after_quote != 0 {
            State::AfterQuote
        } else if self.row_start != 0 {
            State::RowStart
        } else if self.after_border != 0 {
            State::FieldStart
        } else {
            State::Unquoted
        }
    }

    /// Whether no quote has an effect on the next byte.
    pub(super) fn is_unquoted(&self) -> bool {
        self.inside | self.after_quote | self.after_return == 0
    }

    /// Advances by a block without quotes, which none before it affects. Returns `None` if the block needs the automaton,
    /// because of a comment.
    #[inline(always)]
    pub(super) fn step_without_quotes(&mut self, masks: &Masks) -> Option<FieldEnds> {
        let rows = masks.line_ends;
        let ends = masks.delimiters | rows;
        if masks.comments & (rows << 1 | self.row_start) != 0 {
            return None;
        }
        *self = Self { row_start: rows >> 63, after_border: ends >> 63, ..*self };
        Some(FieldEnds { ends, rows, after_quote: 0, after_return: 0 })
    }

    /// Advances by a block. Returns `None` if the block needs the automaton: a quote that is not at the border of a
    /// field, or a comment.
    ///
    /// # Safety
    /// As for [`Blocks`].
    #[inline(always)]
    pub(super) unsafe fn step<B: Blocks>(
        &mut self,
        needles: &Needles,
        masks: &Masks,
        block: &[u8; BLOCK],
    ) -> Option<FieldEnds> {
        let quotes = masks.quotes;
        // SAFETY: promised by the caller.
        let inside = unsafe { B::prefix_xor(quotes) } ^ self.inside;
        let ends = (masks.delimiters | masks.line_ends) & !inside;
        let rows = masks.line_ends & ends;
        let borders = ends | quotes;
        let (opening, closing) = (quotes & inside, quotes & !inside);
        let after_border = borders << 1 | self.after_border;
        let after_quote = closing << 1 | self.after_quote;
        let mut odd = masks.comments & (rows << 1 | self.row_start) | opening & !after_border;
        let (mut returns, mut after_return) = (0, 0);
        let others = after_quote & !borders;
        if others | self.after_return != 0 {
            // SAFETY: promised by the caller.
            returns = others & if needles.has_returns { unsafe { B::positions(block, b'\r') } } else { 0 };
            after_return = returns << 1 | self.after_return;
            odd |= others & !returns | after_return & !masks.line_ends;
        }
        if odd != 0 {
            return None;
        }
        *self = Self {
            inside: 0u64.wrapping_sub(inside >> 63),
            after_border: borders >> 63,
            after_quote: closing >> 63,
            after_return: returns >> 63,
            row_start: rows >> 63,
        };
        // A field with a quote ends behind one.
        Some(FieldEnds { ends, rows, after_quote: after_quote & ends, after_return })
    }
}

/// Whether `bytes`, which began in state `start` and end in a field without quotes, end with blanks at the start of that
/// field. Masks do not tell blanks from other data.
#[cold]
fn is_padding(syntax: &Syntax, start: State, bytes: &[u8]) -> bool {
    let blanks = bytes.iter().rev().take_while(|byte| syntax.class(**byte) == Class::Blank).count();
    let before = bytes[..bytes.len() - blanks].last().map(|byte| syntax.class(*byte));
    let begins_field = match before {
        Some(class) => matches!(class, Class::Delimiter | Class::LineEnd),
        None => matches!(start, State::RowStart | State::FieldStart),
    };
    blanks > 0 && begins_field
}
