//! The dialect of a text table.
//!
//! A [`Dialect`] is complete: code that reads or writes rows needs nothing else and makes no further choices. A
//! [`DialectOverrides`] holds the parts that a user sets; [`sniff`](crate::sniff()) detects the rest.

use crate::charset::Charset;
use brc_kernels::structure::{self, Syntax, SyntaxError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a text table is written: what separates fields and rows, and what stands around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// What separates the fields of a row.
    pub delimiter: Delimiter,
    /// The byte around fields that hold delimiters, quotes or line ends. Without one, every such byte is text.
    #[serde(with = "byte")]
    pub quote: Option<u8>,
    /// Whether two quotes in a quoted field stand for one.
    pub doubled_quotes: bool,
    /// The byte that takes the meaning from the byte after it, usually a backslash.
    #[serde(with = "byte")]
    pub escape: Option<u8>,
    /// Whether a field that begins with `[` reaches to the `]` at the end of a field, with delimiters between them, as the
    /// time in logs of web servers does. The brackets are no part of the value.
    pub brackets: bool,
    /// What a line starts with that is not a row.
    pub comment: Option<String>,
    /// Whether the first row holds the names of the columns.
    pub header: bool,
    /// What ends a row.
    pub line_end: LineEnd,
    /// How bytes stand for characters.
    pub charset: Charset,
    /// How many lines to skip at the beginning: titles, notes, empty lines. These are lines as an editor counts them,
    /// whether they stand in quotes or not.
    pub preamble_lines: u64,
    /// How many lines to leave out at the end: sums, signatures.
    pub trailing_lines: u64,
    /// The unquoted fields that are null. A quoted field never is.
    pub null_tokens: Vec<String>,
    /// Whether blanks (spaces and tabs) around a field are left out. Those inside quotes always stay.
    pub trim: bool,
}

/// What most files use, by RFC 4180: commas, doubled quotes, a header, empty fields for nulls.
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
        }
    }
}

impl Dialect {
    /// The part of it that is needed to find fields.
    ///
    /// # Errors
    /// If there are parts that no text is read by yet, or that contradict each other.
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
        // A quote that is its own escape is one that is doubled.
        if let Some(escape) = self.escape.filter(|escape| Some(*escape) != self.quote) {
            syntax = syntax.with_escape(escape).map_err(taken)?;
        }
        if self.brackets {
            syntax = syntax.with_brackets().map_err(taken)?;
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

    /// Refuses a dialect whose parts contradict each other, so that no text could be read by it in one way only.
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
                // A quote may be its own escape: that is another way to say that it is doubled.
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

/// One line: the parts that every dialect has, then those that most have not.
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
        for (lines, place) in [(self.preamble_lines, "preamble"), (self.trailing_lines, "trailing")] {
            match lines {
                0 => {}
                1 => write!(f, ", 1 {place} line")?,
                _ => write!(f, ", {lines} {place} lines")?,
            }
        }
        if self.null_tokens != [""] {
            write!(f, ", null {:?}", self.null_tokens)?;
        }
        if self.trim { f.write_str(", fields trimmed") } else { Ok(()) }
    }
}

/// What a user says about a dialect. What is `None` is left to [`sniff`](crate::sniff()), or to the default where it
/// can't be sniffed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DialectOverrides {
    /// See [`Dialect::delimiter`].
    pub delimiter: Option<Delimiter>,
    /// See [`Dialect::quote`]; `Some(None)` says that there are no quotes, which is never sniffed.
    #[serde(with = "given")]
    pub quote: Option<Option<u8>>,
    /// See [`Dialect::doubled_quotes`].
    pub doubled_quotes: Option<bool>,
    /// See [`Dialect::escape`].
    #[serde(with = "given")]
    pub escape: Option<Option<u8>>,
    /// See [`Dialect::brackets`].
    pub brackets: Option<bool>,
    /// See [`Dialect::comment`].
    #[serde(with = "given")]
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
    /// `dialect` with the parts that are overridden.
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

/// What separates the fields of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Delimiter {
    /// This byte. Two of them have an empty field between them.
    Byte(u8),
    /// One or more spaces or tabs; those at the beginning and end of a row, and in the last column, separate nothing.
    Blanks,
}

impl Delimiter {
    /// As it stands in a sentence: `','`, but `tab`.
    pub fn quoted(self) -> impl fmt::Display {
        let text = self.to_string();
        if text.len() == 1 { format!("'{text}'") } else { text }
    }
}

/// `,` `tab` `space` `blanks` `\x01`: what [`FromStr`] takes.
impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Delimiter::Byte(byte) => Byte(byte).fmt(f),
            Delimiter::Blanks => f.write_str("blanks"),
        }
    }
}

impl FromStr for Delimiter {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        if text == "blanks" { Ok(Delimiter::Blanks) } else { text.parse().map(|Byte(byte)| Delimiter::Byte(byte)) }
    }
}

/// What ends a row. Reading takes CRLF where LF is expected and the other way round; files mix them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineEnd {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
    /// A carriage return alone, as old Macs wrote.
    Cr,
}

impl LineEnd {
    /// The bytes.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            LineEnd::Lf => b"\n",
            LineEnd::CrLf => b"\r\n",
            LineEnd::Cr => b"\r",
        }
    }

    /// The last byte, by which the end is found.
    pub fn last_byte(self) -> u8 {
        if self == LineEnd::Cr { b'\r' } else { b'\n' }
    }
}

impl fmt::Display for LineEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LineEnd::Lf => "LF",
            LineEnd::CrLf => "CRLF",
            LineEnd::Cr => "CR",
        })
    }
}

impl FromStr for LineEnd {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        [LineEnd::Lf, LineEnd::CrLf, LineEnd::Cr]
            .into_iter()
            .find(|line_end| line_end.to_string().eq_ignore_ascii_case(text))
            .ok_or_else(|| DialectError::UnknownLineEnd { text: text.to_owned() })
    }
}

/// One byte that has a meaning in a dialect, written so that it can be seen and typed: `,` `"` `tab` `space` `\x01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Byte(pub u8);

impl fmt::Display for Byte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("tab"),
            b' ' => f.write_str("space"),
            byte if byte.is_ascii_graphic() => write!(f, "{}", char::from(byte)),
            byte => write!(f, "\\x{byte:02x}"),
        }
    }
}

impl FromStr for Byte {
    type Err = DialectError;

    fn from_str(text: &str) -> Result<Self, DialectError> {
        match text {
            "tab" | "\\t" => return Ok(Byte(b'\t')),
            "space" => return Ok(Byte(b' ')),
            _ => {}
        }
        if let [byte] = text.as_bytes() {
            return Ok(Byte(*byte));
        }
        let hex = text.strip_prefix("\\x").or_else(|| text.strip_prefix("0x"));
        hex.filter(|hex| hex.len() == 2 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            .map(Byte)
            .ok_or_else(|| DialectError::NotOneByte { text: text.to_owned() })
    }
}

/// An optional byte as an optional string.
mod byte {
    use super::Byte;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(byte: &Option<u8>, serializer: S) -> Result<S::Ok, S::Error> {
        byte.map(|byte| Byte(byte).to_string()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map(|Byte(byte)| byte)).transpose().map_err(D::Error::custom)
    }
}

/// An optional part that may be said to be absent, as a list: nothing is said by `null`, and `[null]` says that it is absent.
mod given {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        given: &Option<Option<T>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        given.as_ref().map(|part| [part]).serialize(serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<T>>, D::Error> {
        Ok(Option::<[Option<T>; 1]>::deserialize(deserializer)?.map(|[part]| part))
    }
}

impl TryFrom<String> for Delimiter {
    type Error = DialectError;

    fn try_from(text: String) -> Result<Self, DialectError> {
        text.parse()
    }
}

impl From<Delimiter> for String {
    fn from(delimiter: Delimiter) -> Self {
        delimiter.to_string()
    }
}

/// Why something is no dialect, or no part of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialectError {
    /// A delimiter, quote or escape of more or less than one byte.
    #[error("'{text}' is not a single byte; use a character, tab, space, or a code such as \\x01")]
    NotOneByte {
        /// What was given.
        text: String,
    },
    /// A line end that nobody uses.
    #[error("unknown line end '{text}' (line ends: lf, crlf, cr)")]
    UnknownLineEnd {
        /// What was given.
        text: String,
    },
    /// A charset of no known name.
    #[error(
        "unknown charset '{text}' (charsets: utf-8, utf-16le, utf-16be, latin1, windows-1252 and others of the web)"
    )]
    UnknownCharset {
        /// What was given.
        text: String,
    },
    /// One byte with two meanings.
    #[error("{byte} can't be both the {other} and the {part}")]
    Same {
        /// The part that came second.
        part: &'static str,
        /// The part that it equals.
        other: &'static str,
        /// The byte.
        byte: Byte,
    },
    /// A line end with another meaning.
    #[error("a line end can't be part of the {part}")]
    LineEnd {
        /// The part.
        part: &'static str,
    },
    /// A byte above 127 in a text that is converted to UTF-8, where it never stands alone.
    #[error("the {part} {byte} is not ASCII, which charset {charset} needs")]
    NotAscii {
        /// The part.
        part: &'static str,
        /// The byte.
        byte: Byte,
        /// The charset.
        charset: Charset,
    },
    /// A byte with two meanings, one of which may be that of a line end.
    #[error("{byte} can't have two meanings")]
    Taken {
        /// The byte.
        byte: Byte,
    },
    /// A part by which no text can be read.
    #[error("{what} is not supported")]
    Unsupported {
        /// The part.
        what: &'static str,
    },
    /// A comment prefix with which every line would be a comment.
    #[error("an empty comment prefix would make every line a comment")]
    EmptyComment,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_are_written() {
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
    fn only_what_is_given_is_overridden() {
        assert_eq!(DialectOverrides::default().apply(Dialect::default()), Dialect::default());
        let overrides = DialectOverrides { quote: Some(None), header: Some(false), ..DialectOverrides::default() };
        let expected = Dialect { quote: None, header: false, ..Dialect::default() };
        assert_eq!(overrides.apply(Dialect::default()), expected);
    }

    #[test]
    fn a_dialect_reads_as_a_sentence() {
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
