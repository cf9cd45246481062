//! Which bytes mean something.

use super::automaton::Class;
use std::fmt;

/// What ends a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed, with or without a CR before it.
    Lf,
    /// A CR alone.
    Cr,
}

impl LineEnd {
    /// The byte by which it is found.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Lf => b'\n',
            Self::Cr => b'\r',
        }
    }
}

/// The bytes that give a text its structure: the part of its dialect that is needed to find fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Syntax {
    delimiter: u8,
    quote: Option<u8>,
    escape: Option<u8>,
    comment: Option<u8>,
    is_comment_doubled: bool,
    has_blanks: bool,
    has_brackets: bool,
    line_end: LineEnd,
    classes: [Class; 256],
}

/// One byte with two meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte.
    pub byte: u8,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' has two meanings", self.byte.escape_ascii())
    }
}

impl std::error::Error for SyntaxError {}

impl Syntax {
    /// Fields between delimiters, in rows that end with `line_end`; no quotes, escapes or comments.
    ///
    /// # Errors
    /// If the delimiter is a CR or line feed.
    pub fn new(delimiter: u8, line_end: LineEnd) -> Result<Self, SyntaxError> {
        let mut classes = [Class::Data; 256];
        classes[usize::from(line_end.byte())] = Class::LineEnd;
        if line_end == LineEnd::Lf {
            classes[usize::from(b'\r')] = Class::Return;
        }
        let mut syntax = Self {
            delimiter,
            quote: None,
            escape: None,
            comment: None,
            is_comment_doubled: false,
            has_blanks: false,
            has_brackets: false,
            line_end,
            classes,
        };
        syntax.set(delimiter, Class::Delimiter)?;
        Ok(syntax)
    }

    /// Fields between blanks: spaces and tabs. Each one ends a field here, so that there are empty fields between two of
    /// them, which mean nothing.
    ///
    /// # Errors
    /// None, as no byte has another meaning yet.
    pub fn blanks(line_end: LineEnd) -> Result<Self, SyntaxError> {
        let mut syntax = Self::new(b' ', line_end)?;
        syntax.set(b'\t', Class::Delimiter)?;
        syntax.has_blanks = true;
        Ok(syntax)
    }

    /// Fields may stand between two of these bytes; two of them inside stand for one.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_quote(mut self, quote: u8) -> Result<Self, SyntaxError> {
        self.set(quote, Class::Quote)?;
        self.quote = Some(quote);
        Ok(self)
    }

    /// The byte behind one of these is data.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_escape(mut self, escape: u8) -> Result<Self, SyntaxError> {
        self.set(escape, Class::Escape)?;
        self.escape = Some(escape);
        Ok(self)
    }

    /// Lines that start with this byte are no rows.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_comment(mut self, comment: u8) -> Result<Self, SyntaxError> {
        self.set(comment, Class::Comment)?;
        self.comment = Some(comment);
        Ok(self)
    }

    /// Lines that start with two of this byte are no rows.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_doubled_comment(mut self, comment: u8) -> Result<Self, SyntaxError> {
        self.set(comment, Class::HalfComment)?;
        (self.comment, self.is_comment_doubled) = (Some(comment), true);
        Ok(self)
    }

    /// A field that starts with `[` reaches to the `]` before a delimiter or line end, or to the line end if there is none.
    ///
    /// # Errors
    /// If one of them already has a meaning.
    pub fn with_brackets(mut self) -> Result<Self, SyntaxError> {
        self.set(b'[', Class::OpenBracket)?;
        self.set(b']', Class::CloseBracket)?;
        self.has_brackets = true;
        Ok(self)
    }

    fn set(&mut self, byte: u8, class: Class) -> Result<(), SyntaxError> {
        let known = &mut self.classes[usize::from(byte)];
        if *known != Class::Data || matches!(byte, b'\r' | b'\n') {
            return Err(SyntaxError { byte });
        }
        *known = class;
        Ok(())
    }

    /// What stands between the fields of a row.
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// What stands around quoted fields.
    #[must_use]
    pub fn quote(&self) -> Option<u8> {
        self.quote
    }

    /// What makes data of the byte behind it.
    #[must_use]
    pub fn escape(&self) -> Option<u8> {
        self.escape
    }

    /// What comment lines start with, once or [twice](Self::has_doubled_comment).
    #[must_use]
    pub fn comment(&self) -> Option<u8> {
        self.comment
    }

    /// Whether comment lines start with two bytes.
    #[must_use]
    pub fn has_doubled_comment(&self) -> bool {
        self.is_comment_doubled
    }

    /// Whether a text that starts at the start of a row starts with a comment line.
    #[must_use]
    pub fn is_comment(&self, text: &[u8]) -> bool {
        let Some(comment) = self.comment else { return false };
        text.first() == Some(&comment) && (!self.is_comment_doubled || text.get(1) == Some(&comment))
    }

    /// Whether spaces and tabs stand between the fields.
    #[must_use]
    pub fn has_blanks(&self) -> bool {
        self.has_blanks
    }

    /// Whether fields may stand in brackets.
    #[must_use]
    pub fn has_brackets(&self) -> bool {
        self.has_brackets
    }

    /// Whether masks of single bytes can find fields.
    pub(super) fn has_masks(&self) -> bool {
        self.escape.is_none() && !self.has_blanks && !self.has_brackets
    }

    /// What ends a row.
    #[must_use]
    pub fn line_end(&self) -> LineEnd {
        self.line_end
    }

    #[inline]
    pub(super) fn class(&self, byte: u8) -> Class {
        self.classes[usize::from(byte)]
    }
}

impl fmt::Debug for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let char = |byte: u8| byte.escape_ascii().to_string();
        f.debug_struct("Syntax")
            .field("delimiter", &char(self.delimiter))
            .field("quote", &self.quote.map(char))
            .field("escape", &self.escape.map(char))
            .field("comment", &self.comment.map(char))
            .field("is_comment_doubled", &self.is_comment_doubled)
            .field("has_blanks", &self.has_blanks)
            .field("has_brackets", &self.has_brackets)
            .field("line_end", &self.line_end)
            .finish()
    }
}
