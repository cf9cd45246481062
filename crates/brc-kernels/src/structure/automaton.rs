//! The rules, byte by byte: the definition of the structure of a text, and the slow path of the scan.

use super::scan::{Cursor, Malformed};
use super::{FieldEnd, Syntax};

/// The meaning of a byte, independent of its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Data,
    Delimiter,
    LineEnd,
    Quote,
    Escape,
    Comment,
    /// The first or second of two bytes that start a comment.
    HalfComment,
    /// A bracket that opens a field, and one that closes it.
    OpenBracket,
    CloseBracket,
    /// A CR that may be the first byte of a line end.
    Return,
    /// A blank that may stand between a delimiter and a quote.
    Blank,
}

/// The scanner state before a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// At the start of a row.
    RowStart,
    /// At the start of a field other than the first.
    FieldStart,
    /// After blanks at the start of a field, which a quote may still open.
    Padding,
    /// In a field without quotes or escapes.
    Unquoted,
    /// After an escape outside quotes.
    UnquotedEscape,
    /// In an unquoted field with an escape.
    UnquotedEscaped,
    /// Inside quotes.
    Quoted,
    /// After an escape inside quotes.
    QuotedEscape,
    /// After a quote that closes the field, unless another quote follows.
    AfterQuote,
    /// After blanks that follow such a quote.
    AfterQuotePadding,
    /// After a CR that follows such a quote.
    AfterQuoteReturn,
    /// In a field that a bracket opened.
    Bracketed,
    /// After a bracket that closes the field, if the field ends there.
    AfterBracket,
    /// After the first of two bytes that start a comment.
    HalfComment,
    /// In a comment line.
    Comment,
    /// In the rest of a malformed row.
    Skip,
}

impl State {
    /// The number of states.
    pub(super) const COUNT: usize = 16;

    /// All states, each at its index.
    pub const ALL: [Self; Self::COUNT] = [
        Self::RowStart,
        Self::FieldStart,
        Self::Padding,
        Self::Unquoted,
        Self::UnquotedEscape,
        Self::UnquotedEscaped,
        Self::Quoted,
        Self::QuotedEscape,
        Self::AfterQuote,
        Self::AfterQuotePadding,
        Self::AfterQuoteReturn,
        Self::Bracketed,
        Self::AfterBracket,
        Self::HalfComment,
        Self::Comment,
        Self::Skip,
    ];

    /// The state after a byte.
    #[inline]
    pub(super) fn next(self, class: Class) -> Self {
        NEXT[self as usize][class as usize]
    }

    /// Whether the current field needs unquoting.
    #[must_use]
    pub fn is_quoted(self) -> bool {
        use State::*;
        match self {
            UnquotedEscape | UnquotedEscaped | Quoted | QuotedEscape | AfterQuote | AfterQuotePadding
            | AfterQuoteReturn | Bracketed | AfterBracket => true,
            RowStart | FieldStart | Padding | Unquoted | HalfComment | Comment | Skip => false,
        }
    }

    /// Whether the state is inside quotes, or after an escape there.
    #[must_use]
    pub fn is_inside_quotes(self) -> bool {
        matches!(self, Self::Quoted | Self::QuotedEscape)
    }
}

const CLASSES: usize = 11;

/// [`State::next`] as a table.
static NEXT: [[State; CLASSES]; State::COUNT] = {
    use Class::*;
    const ALL: [Class; CLASSES] =
        [Data, Delimiter, LineEnd, Quote, Escape, Comment, HalfComment, OpenBracket, CloseBracket, Return, Blank];
    let mut table = [[State::Skip; CLASSES]; State::COUNT];
    let mut state = 0;
    while state < State::COUNT {
        let mut class = 0;
        while class < CLASSES {
            table[state][class] = next(State::ALL[state], ALL[class]);
            class += 1;
        }
        state += 1;
    }
    table
};

const fn next(state: State, class: Class) -> State {
    use State::*;
    match (state, class) {
        (UnquotedEscape, _) => UnquotedEscaped,
        (QuotedEscape, _) => Quoted,

        (Quoted, Class::Quote) => AfterQuote,
        (Quoted, Class::Escape) => QuotedEscape,
        (Quoted, _) => Quoted,

        (_, Class::LineEnd) => RowStart,
        (Comment, _) => Comment,
        (Skip | AfterQuoteReturn, _) => Skip,

        (Bracketed | AfterBracket, Class::CloseBracket) => AfterBracket,
        (AfterBracket, Class::Delimiter) => FieldStart,
        (Bracketed | AfterBracket, _) => Bracketed,

        (_, Class::Delimiter) => FieldStart,
        (AfterQuote, Class::Quote) => Quoted,
        (AfterQuote | AfterQuotePadding, Class::Return) => AfterQuoteReturn,
        (AfterQuote | AfterQuotePadding, Class::Blank) => AfterQuotePadding,
        (AfterQuote | AfterQuotePadding, _) => Skip,

        (RowStart, Class::Comment) | (HalfComment, Class::HalfComment) => Comment,
        (RowStart, Class::HalfComment) => HalfComment,
        (RowStart | FieldStart | Padding, Class::Blank) => Padding,
        (RowStart | FieldStart | Padding, Class::Quote) => Quoted,
        (RowStart | FieldStart, Class::OpenBracket) => Bracketed,
        (RowStart | FieldStart | Padding | Unquoted | UnquotedEscaped | HalfComment, Class::Escape) => UnquotedEscape,
        (UnquotedEscaped, _) => UnquotedEscaped,
        (RowStart | FieldStart | Padding | Unquoted | HalfComment, _) => Unquoted,
    }
}

/// Scans to the end of the cursor's row, or to `to` if that comes first.
pub(super) fn scan_row(
    syntax: &Syntax,
    text: &[u8],
    cursor: &mut Cursor,
    to: usize,
    ends: &mut Vec<FieldEnd>,
) -> Result<(), Malformed> {
    let mut state = cursor.state;
    for (at, &byte) in (cursor.at..to).zip(&text[cursor.at..to]) {
        let class = syntax.class(byte);
        let before = state;
        state = state.next(class);
        cursor.lines += u64::from(class == Class::LineEnd);
        let row_end = state == State::RowStart;
        if before != State::Skip {
            if row_end || state == State::FieldStart {
                ends.push(FieldEnd::new(at, row_end, before.is_quoted()));
                cursor.rows += usize::from(row_end);
            } else if state == State::Skip {
                (cursor.at, cursor.state) = (at + 1, state);
                return Err(Malformed { at });
            }
        }
        if row_end {
            (cursor.at, cursor.state) = (at + 1, state);
            return Ok(());
        }
    }
    (cursor.at, cursor.state) = (to, state);
    Ok(())
}
