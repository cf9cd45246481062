//! The dialect of a text table.
//!
//! A [`Dialect`] is complete: code that reads or writes rows needs nothing else and makes no further choices. A
//! [`DialectOverrides`] holds the parts that a user sets; [`sniff`](crate::sniff()) detects the rest.

mod error;
mod parts;

pub use error::DialectError;
pub use parts::{Byte, Delimiter, LineEnd};

use crate::charset::Charset;
use brc_kernels::structure::{self, Syntax, SyntaxError};
use parts::{byte, explicit_option};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The syntax of a text table: separators, quoting, and what surrounds the rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The separator between the fields of a row.
    pub delimiter: Delimiter,
    /// The byte around fields that hold delimiters, quotes or line ends. If `None`, all of these bytes are data.
    #[serde(with = "byte")]
    pub quote: Option<u8>,
    /// Whether two quotes inside a quoted field represent one.
    pub doubled_quotes: bool,
    /// The byte that makes the next byte literal, usually a backslash.
    #[serde(with = "byte")]
    pub escape: Option<u8>,
    /// Whether a field that starts with `[` extends to the next `]` at the end of a field, including any delimiters, as
    /// timestamps in web server logs do. The brackets are not part of the value.
    pub brackets: bool,
    /// The prefix of comment lines.
    pub comment: Option<String>,
    /// Whether the first row holds the names of the columns.
    pub header: bool,
    /// The end of a row.
    pub line_end: LineEnd,
    /// How bytes encode characters.
    pub charset: Charset,
    /// The number of lines to skip at the start: titles, notes, empty lines. Physical lines are counted, also inside
    /// quotes.
    pub preamble_lines: u64,
    /// The number of lines to skip at the end: totals, signatures.
    pub trailing_lines: u64,
    /// The unquoted fields that are null. A quoted field is only null if it is empty and its column has no strings.
    pub null_tokens: Vec<String>,
    /// Whether blanks (spaces and tabs) around a field are stripped. Blanks inside quotes are kept.
    pub trim: bool,
    /// Whether blanks may surround quoted fields; a quote after a blank is data otherwise.
    pub padded_quotes: bool,
}

/// The most common dialect, as in RFC 4180: commas, doubled quotes, a header, empty fields for nulls.
impl Default for Dialect {
    fn default() -> Self {
        Dialect {
            delimiter: Delimiter::Byte(b','),
            quote: Some(b'"'),
            doubled_quotes: true,
            escape: None,
            brackets: false,
            comment: None,
            header: true,
            line_end: LineEnd::Lf,
            charset: Charset::Raw,
            preamble_lines: 0,
            trailing_lines: 0,
            null_tokens: vec![String::new()],
            trim: false,
            padded_quotes: false,
        }
    }
}

impl Dialect {
    /// The part of the dialect that is needed to find fields.
    ///
    /// # Errors
    /// If a part is not supported for reading, or parts contradict each other.
    pub fn syntax(&self) -> Result<Syntax, DialectError> {
        self.check()?;
        let line_end = if self.line_end == LineEnd::Cr { structure::LineEnd::Cr } else { structure::LineEnd::Lf };
        let taken = |error: SyntaxError| DialectError::Taken { byte: Byte(error.byte) };
        let syntax = match self.delimiter {
            Delimiter::Byte(delimiter) => Syntax::new(delimiter, line_end),
            Delimiter::Blanks => Syntax::blanks(line_end),
        };
        let mut syntax = syntax.map_err(taken)?;
        if let Some(quote) = self.quote {
            syntax = syntax.with_quote(quote).map_err(taken)?;
        }
        // A quote that is its own escape means doubled quotes.
        if let Some(escape) = self.escape.filter(|escape| Some(*escape) != self.quote) {
            syntax = syntax.with_escape(escape).map_err(taken)?;
        }
        if self.brackets {
            syntax = syntax.with_brackets().map_err(taken)?;
        }
        if self.padded_quotes && self.quote.is_some() {
            syntax = syntax.with_padding();
        }
        match self.comment.as_deref().map(str::as_bytes) {
            None => Ok(syntax),
            Some([comment]) => syntax.with_comment(*comment).map_err(taken),
            Some([comment, same]) if comment == same => syntax.with_doubled_comment(*comment).map_err(taken),
            Some(_) => Err(DialectError::Unsupported {
                what: "a comment prefix other than one character or a doubled one (##, //, --)",
            }),
        }
    }

    /// Rejects a dialect whose parts contradict each other, so that text could be read in several ways.
    pub fn check(&self) -> Result<(), DialectError> {
        let delimiter = match self.delimiter {
            Delimiter::Byte(byte) => Some(byte),
            Delimiter::Blanks => Some(b' '),
        };
        let bytes = [("delimiter", delimiter), ("quote", self.quote), ("escape", self.escape)];
        for (index, (part, byte)) in bytes.iter().enumerate() {
            let Some(byte) = *byte else { continue };
            if matches!(byte, b'\n' | b'\r') {
                return Err(DialectError::LineEnd { part });
            }
            if !byte.is_ascii() && self.charset != Charset::Raw {
                return Err(DialectError::NotAscii { part, byte: Byte(byte), charset: self.charset });
            }
            if let Some((other, _)) = bytes[..index].iter().find(|(_, other)| *other == Some(byte)) {
                // A quote may be its own escape, which means doubled quotes.
                if (*other, *part) != ("quote", "escape") {
                    return Err(DialectError::Same { part, other, byte: Byte(byte) });
                }
            }
        }
        let bracket = bytes.iter().find_map(|(_, byte)| byte.filter(|byte| b"[]".contains(byte)));
        if let Some(byte) = bracket.filter(|_| self.brackets) {
            return Err(DialectError::Taken { byte: Byte(byte) });
        }
        match self.comment.as_deref() {
            Some("") => Err(DialectError::EmptyComment),
            Some(comment) if comment.contains(['\n', '\r']) => Err(DialectError::LineEnd { part: "comment" }),
            _ => Ok(()),
        }
    }
}

/// One line: first the parts that every dialect has, then those that few have.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delimiter {}, ", self.delimiter.quoted())?;
        match self.quote {
            Some(quote) => write!(f, "quote {}", Delimiter::Byte(quote).quoted())?,
            None => f.write_str("no quotes")?,
        }
        if self.quote.is_some() && !self.doubled_quotes {
            f.write_str(" (not doubled)")?;
        }
        if let Some(escape) = self.escape {
            write!(f, ", escape {}", Delimiter::Byte(escape).quoted())?;
        }
        if self.brackets {
            f.write_str(", brackets")?;
        }
        f.write_str(if self.header { ", header" } else { ", no header" })?;
        write!(f, ", line end {}, charset {}", self.line_end, self.charset)?;
        if let Some(comment) = &self.comment {
            write!(f, ", comment '{comment}'")?;
        }
        for (lines, name) in [(self.preamble_lines, "preamble"), (self.trailing_lines, "trailing")] {
            match lines {
                0 => {}
                1 => write!(f, ", 1 {name} line")?,
                _ => write!(f, ", {lines} {name} lines")?,
            }
        }
        if self.null_tokens != [""] {
            write!(f, ", null {:?}", self.null_tokens)?;
        }
        if self.trim { f.write_str(", fields trimmed") } else { Ok(()) }
    }
}

/// The parts of a dialect that the user sets. `None` leaves a part to [`sniff`](crate::sniff()), or to the default if
/// it cannot be detected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DialectOverrides {
    /// See [`Dialect::delimiter`].
    pub delimiter: Option<Delimiter>,
    /// See [`Dialect::quote`]; `Some(None)` means that there are no quotes.
    #[serde(with = "explicit_option")]
    pub quote: Option<Option<u8>>,
    /// See [`Dialect::doubled_quotes`].
    pub doubled_quotes: Option<bool>,
    /// See [`Dialect::escape`].
    #[serde(with = "explicit_option")]
    pub escape: Option<Option<u8>>,
    /// See [`Dialect::brackets`].
    pub brackets: Option<bool>,
    /// See [`Dialect::comment`].
    #[serde(with = "explicit_option")]
    pub comment: Option<Option<String>>,
    /// See [`Dialect::header`].
    pub header: Option<bool>,
    /// See [`Dialect::line_end`].
    pub line_end: Option<LineEnd>,
    /// See [`Dialect::charset`].
    pub charset: Option<Charset>,
    /// See [`Dialect::preamble_lines`].
    pub preamble_lines: Option<u64>,
    /// See [`Dialect::trailing_lines`].
    pub trailing_lines: Option<u64>,
    /// See [`Dialect::null_tokens`].
    pub null_tokens: Option<Vec<String>>,
    /// See [`Dialect::trim`].
    pub trim: Option<bool>,
}

impl DialectOverrides {
    /// Returns `dialect` with the overrides applied.
    #[must_use]
    pub fn apply(&self, mut dialect: Dialect) -> Dialect {
        macro_rules! apply {
            ($($part:ident)*) => { $(if let Some(value) = &self.$part { dialect.$part.clone_from(value); })* };
        }
        apply! {
            delimiter quote doubled_quotes escape brackets comment header line_end charset preamble_lines trailing_lines
            null_tokens trim
        }
        dialect
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip_through_text() {
        for byte in 0..=u8::MAX {
            assert_eq!(Byte(byte).to_string().parse(), Ok(Byte(byte)));
        }
        for (text, byte) in [("tab", b'\t'), ("\\t", b'\t'), ("\t", b'\t'), ("0x1F", 0x1f), ("\\x01", 1), ("x", b'x')] {
            assert_eq!(text.parse(), Ok(Delimiter::Byte(byte)));
        }
        assert_eq!("blanks".parse(), Ok(Delimiter::Blanks));
        for text in ["", ",,", "§", "0x1", "0x+1", "\\x001"] {
            assert_eq!(text.parse::<Delimiter>(), Err(DialectError::NotOneByte { text: text.to_owned() }));
        }
        assert_eq!("CRLF".parse(), Ok(LineEnd::CrLf));
        assert!("lfcr".parse::<LineEnd>().is_err());
    }

    #[test]
    fn contradictions_are_refused() {
        let dialect = Dialect::default();
        assert_eq!(dialect.check(), Ok(()));
        let same = Dialect { quote: Some(b','), ..dialect.clone() };
        assert_eq!(same.check(), Err(DialectError::Same { part: "quote", other: "delimiter", byte: Byte(b',') }));
        assert_eq!(Dialect { escape: Some(b'"'), ..dialect.clone() }.check(), Ok(()));
        assert!(Dialect { escape: Some(b','), ..dialect.clone() }.check().is_err());
        assert!(Dialect { delimiter: Delimiter::Blanks, quote: Some(b' '), ..dialect.clone() }.check().is_err());
        assert!(Dialect { delimiter: Delimiter::Byte(b'\n'), ..dialect.clone() }.check().is_err());
        let brackets = Dialect { quote: Some(b'['), brackets: true, ..dialect.clone() };
        assert_eq!(brackets.syntax(), Err(DialectError::Taken { byte: Byte(b'[') }));
        assert!(Dialect { comment: Some(String::new()), ..dialect.clone() }.check().is_err());
        let section = Dialect { delimiter: Delimiter::Byte(0xa7), ..dialect };
        assert_eq!(section.check(), Ok(()));
        assert!(Dialect { charset: Charset::UTF_8, ..section }.check().is_err());
    }

    #[test]
    fn overrides_change_only_set_parts() {
        assert_eq!(DialectOverrides::default().apply(Dialect::default()), Dialect::default());
        let overrides = DialectOverrides { quote: Some(None), header: Some(false), ..DialectOverrides::default() };
        let expected = Dialect { quote: None, header: false, ..Dialect::default() };
        assert_eq!(overrides.apply(Dialect::default()), expected);
    }

    #[test]
    fn a_dialect_is_displayed_in_one_line() {
        let dialect = Dialect {
            delimiter: Delimiter::Byte(b'\t'),
            escape: Some(b'\\'),
            brackets: true,
            header: false,
            preamble_lines: 1,
            ..Dialect::default()
        };
        assert_eq!(
            dialect.to_string(),
            "delimiter tab, quote '\"', escape '\\', brackets, no header, line end LF, charset raw, 1 preamble line"
        );
    }
}
