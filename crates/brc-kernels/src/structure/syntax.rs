//! The bytes with a meaning.

use super::automaton::Class;
use std::fmt;

/// The end of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed, with or without a CR before it.
    Lf,
    /// A CR alone.
    Cr,
}

impl LineEnd {
    /// The byte to search for.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Lf => b'\n',
            Self::Cr => b'\r',
        }
    }
}

/// The bytes that structure a text: the part of its dialect that is needed to find fields.
#[derive(Clone, PartialEq, Eq)]
pub struct Syntax {
    delimiter: u8,
    quote: Option<u8>,
    escape: Option<u8>,
    comment: Option<u8>,
    is_comment_doubled: bool,
    has_blanks: bool,
    has_padding: bool,
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
    /// A syntax with this delimiter and line end, and no quotes, escapes or comments.
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
            has_padding: false,
            has_brackets: false,
            line_end,
            classes,
        };
        syntax.set(delimiter, Class::Delimiter)?;
        Ok(syntax)
    }

    /// A syntax whose fields are separated by blanks: spaces and tabs. Each blank ends a field here, so that adjacent
    /// blanks enclose empty fields, which the caller has to ignore.
    ///
    /// # Errors
    /// None, because no byte has another meaning yet.
    pub fn blanks(line_end: LineEnd) -> Result<Self, SyntaxError> {
        let mut syntax = Self::new(b' ', line_end)?;
        syntax.set(b'\t', Class::Delimiter)?;
        syntax.has_blanks = true;
        Ok(syntax)
    }

    /// Adds a quote; two quotes inside a quoted field represent one.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_quote(mut self, quote: u8) -> Result<Self, SyntaxError> {
        self.set(quote, Class::Quote)?;
        self.quote = Some(quote);
        Ok(self)
    }

    /// Allows spaces and tabs around quoted fields, unless they are delimiters.
    #[must_use]
    pub fn with_padding(mut self) -> Self {
        for blank in [b' ', b'\t'] {
            let class = &mut self.classes[usize::from(blank)];
            if *class == Class::Data {
                (*class, self.has_padding) = (Class::Blank, true);
            }
        }
        self
    }

    /// Adds an escape, which makes the next byte data.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_escape(mut self, escape: u8) -> Result<Self, SyntaxError> {
        self.set(escape, Class::Escape)?;
        self.escape = Some(escape);
        Ok(self)
    }

    /// Adds a comment byte; lines that start with it are not rows.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_comment(mut self, comment: u8) -> Result<Self, SyntaxError> {
        self.set(comment, Class::Comment)?;
        self.comment = Some(comment);
        Ok(self)
    }

    /// Adds a doubled comment byte; lines that start with two of it are not rows.
    ///
    /// # Errors
    /// If the byte already has a meaning.
    pub fn with_doubled_comment(mut self, comment: u8) -> Result<Self, SyntaxError> {
        self.set(comment, Class::HalfComment)?;
        (self.comment, self.is_comment_doubled) = (Some(comment), true);
        Ok(self)
    }

    /// Adds brackets: a field that starts with `[` extends to the `]` before a delimiter or line end, or to the line
    /// end if there is none.
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

    /// The byte between the fields of a row.
    #[must_use]
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The byte around quoted fields.
    #[must_use]
    pub fn quote(&self) -> Option<u8> {
        self.quote
    }

    /// The byte that makes the next byte data.
    #[must_use]
    pub fn escape(&self) -> Option<u8> {
        self.escape
    }

    /// The byte that comment lines start with, once or [twice](Self::has_doubled_comment).
    #[must_use]
    pub fn comment(&self) -> Option<u8> {
        self.comment
    }

    /// Whether comment lines start with two bytes.
    #[must_use]
    pub fn has_doubled_comment(&self) -> bool {
        self.is_comment_doubled
    }

    /// Whether a text that starts at a row start starts with a comment line.
    #[must_use]
    pub fn is_comment(&self, text: &[u8]) -> bool {
        let Some(comment) = self.comment else { return false };
        text.first() == Some(&comment) && (!self.is_comment_doubled || text.get(1) == Some(&comment))
    }

    /// Whether spaces and tabs separate the fields.
    #[must_use]
    pub fn has_blanks(&self) -> bool {
        self.has_blanks
    }

    /// Whether fields may be bracketed.
    #[must_use]
    pub fn has_brackets(&self) -> bool {
        self.has_brackets
    }

    /// Whether blanks around quoted fields are allowed.
    #[must_use]
    pub fn has_padding(&self) -> bool {
        self.has_padding
    }

    /// Whether a byte separates, encloses or escapes, so that an escape may take that away.
    #[must_use]
    #[inline]
    pub fn has_meaning(&self, byte: u8) -> bool {
        !matches!(self.class(byte), Class::Data | Class::Blank)
    }

    /// Whether masks of single bytes suffice to find fields.
    pub(super) fn has_masks(&self) -> bool {
        self.escape.is_none() && !self.has_blanks && !self.has_brackets
    }

    /// The end of a row.
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
            .field("has_padding", &self.has_padding)
            .field("has_brackets", &self.has_brackets)
            .field("line_end", &self.line_end)
            .finish()
    }
}
