//! The rules, one byte after the other: what defines the structure of a text, and what decides wherever the faster ways
//! do not apply.

use super::scan::{Cursor, Malformed};
use super::{FieldEnd, Syntax};

/// What a byte means, were it not for what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    Data,
    Delimiter,
    LineEnd,
    Quote,
    Escape,
    Comment,
    /// Two of these are what a comment starts with.
    HalfComment,
    /// A bracket that opens a field, and the one that closes it.
    OpenBracket,
    CloseBracket,
    /// A CR, where it may be the first byte of a line end.
    Return,
}

/// What the text so far makes of the next byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Before the first byte of a row.
    RowStart,
    /// Before the first byte of another field.
    FieldStart,
    /// In a field without quotes or escapes.
    Unquoted,
    /// Behind an escape outside quotes.
    UnquotedEscape,
    /// In a field without quotes that has an escape.
    UnquotedEscaped,
    /// In quotes.
    Quoted,
    /// Behind an escape in quotes.
    QuotedEscape,
    /// Behind a quote that closes the field, unless another one follows.
    AfterQuote,
    /// Behind a CR behind such a quote.
    AfterQuoteReturn,
    /// In a field that a bracket opened.
    Bracketed,
    /// Behind a bracket that closes it, if the field ends there.
    AfterBracket,
    /// Behind the first of two bytes that a comment starts with.
    HalfComment,
    /// In a comment line.
    Comment,
    /// In what is left of a malformed row.
    Skip,
}

impl State {
    /// The number of states.
    pub(super) const COUNT: usize = 14;

    /// All states, each at the index that it has as a number.
    pub const ALL: [Self; Self::COUNT] = [
        Self::RowStart,
        Self::FieldStart,
        Self::Unquoted,
        Self::UnquotedEscape,
        Self::UnquotedEscaped,
        Self::Quoted,
        Self::QuotedEscape,
        Self::AfterQuote,
        Self::AfterQuoteReturn,
        Self::Bracketed,
        Self::AfterBracket,
        Self::HalfComment,
        Self::Comment,
        Self::Skip,
    ];

    /// The state behind a byte.
    #[inline]
    pub(super) fn next(self, class: Class) -> Self {
        NEXT[self as usize][class as usize]
    }

    /// Whether the field under way needs unquoting.
    #[must_use]
    pub fn is_quoted(self) -> bool {
        use State::*;
        match self {
            UnquotedEscape | UnquotedEscaped | Quoted | QuotedEscape | AfterQuote | AfterQuoteReturn | Bracketed
            | AfterBracket => true,
            RowStart | FieldStart | Unquoted | HalfComment | Comment | Skip => false,
        }
    }

    /// Whether it is between the quotes of a field, or behind an escape there.
    #[must_use]
    pub fn is_inside_quotes(self) -> bool {
        matches!(self, Self::Quoted | Self::QuotedEscape)
    }
}

const CLASSES: usize = 10;

/// [`State::next`] as a table.
static NEXT: [[State; CLASSES]; State::COUNT] = {
    use Class::*;
    const ALL: [Class; CLASSES] =
        [Data, Delimiter, LineEnd, Quote, Escape, Comment, HalfComment, OpenBracket, CloseBracket, Return];
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
        (AfterQuote, Class::Return) => AfterQuoteReturn,
        (AfterQuote, _) => Skip,

        (RowStart, Class::Comment) | (HalfComment, Class::HalfComment) => Comment,
        (RowStart, Class::HalfComment) => HalfComment,
        (RowStart | FieldStart, Class::Quote) => Quoted,
        (RowStart | FieldStart, Class::OpenBracket) => Bracketed,
        (RowStart | FieldStart | Unquoted | UnquotedEscaped | HalfComment, Class::Escape) => UnquotedEscape,
        (UnquotedEscaped, _) => UnquotedEscaped,
        (RowStart | FieldStart | Unquoted | HalfComment, _) => Unquoted,
    }
}

/// Goes on to the end of the row that the cursor is in, or to `to` if that comes first.
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
