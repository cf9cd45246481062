//! Errors, each with the location where it occurred.

use crate::logical_type::LogicalType;
use crate::rejects::Rejects;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run failed. Each variant names the file; those about content name the place in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused something.
    #[error("{path}: cannot {action}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: "open", "read", "write" …
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A row of a text file does not fit the schema.
    #[error("{path}: {place}: {fault}", path = .path.display())]
    BadRow {
        /// The file.
        path: PathBuf,
        /// Where the row is.
        place: RowPlace,
        /// What is wrong with it.
        fault: RowFault,
    },
    /// More rows were rejected than allowed.
    #[error("{path}: {place}: more rejected rows than the limit of {limit}", path = .path.display())]
    TooManyRejects {
        /// The file.
        path: PathBuf,
        /// Where the first row is that was one too many.
        place: RowPlace,
        /// How many were allowed.
        limit: u64,
    },
    /// A binary file is damaged: a checksum, a length or an invariant does not hold.
    #[error("{path}: corrupt file: {place}: {reason}", path = .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The part of the file: "footer", "row group 3, column 'temperature', block 2" …
        place: String,
        /// What does not hold.
        reason: String,
    },
    /// The file is sound but this build cannot do what it asks (a newer version, another kind of file).
    #[error("{path}: {reason}", path = .path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is not supported.
        reason: String,
    },
    /// A row cannot be stored, because the encoding of the target has no way to write it.
    #[error("{0}")]
    UnsupportedValue(Box<UnsupportedValue>),
    /// A string of a result is not UTF-8 where it has to be.
    #[error("{path}: column '{column}': a string is not UTF-8", path = .path.display())]
    NotUtf8 {
        /// The file that the result is made of.
        path: PathBuf,
        /// The column of the result.
        column: String,
    },
    /// A table is beyond a limit of the encoding of the target: not one of its rows, but all of them together.
    #[error("{encoding} cannot hold this table: {reason}")]
    TooLarge {
        /// The encoding's name.
        encoding: &'static str,
        /// Which limit.
        reason: String,
    },
    /// Values were met that the types inferred so far did not hold, and what was made of the rows before cannot be mended:
    /// the table has to be scanned again, in the types of [`Table::inferred`](crate::Table::inferred).
    #[error("a later value does not fit the types inferred from the first rows; set them with --type or --all-strings")]
    Widened,
    /// A sink has all rows that it needs: [`scan`](crate::scan()) ends there, and succeeds. No one else sees it.
    #[error("no more rows are needed")]
    Stopped,
    /// Somebody had it end before it was done ([`crate::interrupt`]).
    #[error("interrupted")]
    Interrupted,
    /// What is asked needs more memory than it may take.
    #[error("{what} needs more than the memory limit of {limit} bytes")]
    Memory {
        /// What needs it.
        what: String,
        /// How many bytes there may be.
        limit: u64,
    },
    /// A result is beyond what its type holds.
    #[error("{what} is out of range for {expected}")]
    Overflow {
        /// What was computed.
        what: String,
        /// Its type.
        expected: LogicalType,
    },
    /// An expression cannot be computed for a value that a row has.
    #[error("{0}")]
    Expression(String),
    /// The request makes no sense for the types of the table's columns, and would for others: a sum of strings … Where types
    /// are inferred, those of all rows may be others ([`with_types`](crate::with_types)).
    #[error("{message}")]
    TypeMismatch {
        /// What makes no sense.
        message: String,
        /// The columns whose types are at fault, where they are known.
        columns: Vec<usize>,
    },
    /// The request makes no sense for this table: an unknown column, two outputs of one name …
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// A request that makes no sense for the types of columns.
    pub fn type_mismatch(message: impl Into<String>) -> Self {
        Self::TypeMismatch { message: message.into(), columns: Vec::new() }
    }

    /// For `map_err` on an I/O call: which file, and what was tried. What is inside an error of the system's kind comes out
    /// again: files that are no system's may fail for other reasons.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| source.downcast().unwrap_or_else(|source| Self::Io { path, action, source })
    }

    /// A damaged place in a file.
    pub fn corrupt(path: &Path, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), place: place.into(), reason: reason.into() }
    }

    /// Something this build does not support in that file.
    pub fn unsupported(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), reason: reason.into() }
    }

    /// A table that is beyond a limit of an encoding.
    pub fn too_large(encoding: &'static str, reason: impl Into<String>) -> Self {
        Self::TooLarge { encoding, reason: reason.into() }
    }

    /// Corrects the row of an [`Error::UnsupportedValue`] that an encoder of a part returned: the encoder did not see the rows of
    /// the split that were rejected.
    #[must_use]
    pub fn among(mut self, rejects: &Rejects) -> Self {
        if let Self::UnsupportedValue(unsupported_value) = &mut self {
            unsupported_value.row = rejects.line_of(unsupported_value.row.saturating_sub(1)) + 1;
        }
        self
    }
}

/// A row that an encoding cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedValue {
    /// The file that the row comes from. An encoder, which does not know it, leaves it empty; [`scan`](crate::scan())
    /// fills it in.
    pub path: PathBuf,
    /// The row's number in the table, from 1; for text, its line. An encoder counts from the start of the part;
    /// [`Error::among`] and [`scan`](crate::scan()) add what is before.
    pub row: u64,
    /// The name of the column and the value as [`RowFault::quote`] shows it, if one value is at fault.
    pub value: Option<(String, String)>,
    /// The name of the encoding.
    pub encoding: &'static str,
    /// What the encoding cannot hold.
    pub fault: UnsupportedReason,
}

impl fmt::Display for UnsupportedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, row, value, encoding, fault } = self;
        write!(f, "{}: row {row}", path.display())?;
        match value {
            Some((column, value)) => write!(f, ", column '{column}': {encoding} cannot hold '{value}', which {fault}"),
            None => write!(f, ": {encoding} cannot hold it: {fault}"),
        }
    }
}

/// Why an encoding cannot hold a value or a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsupportedReason {
    /// A string has no bytes.
    #[error("is empty")]
    Empty,
    /// A string has what separates columns.
    #[error("contains the delimiter '{}'", .0.escape_ascii())]
    Delimiter(u8),
    /// A string has what ends lines.
    #[error("contains a line feed")]
    LineFeed,
    /// A string has what text never has.
    #[error("contains a NUL byte")]
    NulByte,
    /// The last string of a line ends with what would be taken for a part of the line's end.
    #[error("ends with a carriage return, which would be read as part of the line end")]
    CarriageReturn,
    /// A string is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The first line of a text would begin with what is not taken for a part of it.
    #[error("its first bytes would be read as a byte order mark")]
    ByteOrderMark,
    /// A line would be longer than a line may be.
    #[error("its line would be longer than {0} bytes")]
    LineTooLong(usize),
    /// A value is larger or smaller than any that the encoding has a place for.
    #[error("is out of range for its type in this encoding")]
    OutOfRange,
    /// There is no value, where there must be one.
    #[error("is null")]
    Null,
    /// A number is not within what the table's metadata allow.
    #[error("is not within 0 to {0}")]
    AboveMaximum(u16),
    /// A row is too long to be stored with those that it must be stored with.
    #[error("with the {rows} rows stored before it in the same frame it exceeds {most} bytes")]
    FrameTooLong {
        /// How many rows are stored with it.
        rows: u32,
        /// How many bytes they may have.
        most: usize,
    },
}

impl UnsupportedReason {
    /// Whether it is some bytes of a string that the encoding cannot hold: encodings that hold any bytes could.
    #[must_use]
    pub fn is_of_bytes(&self) -> bool {
        !matches!(
            self,
            Self::Empty
                | Self::ByteOrderMark
                | Self::LineTooLong(_)
                | Self::FrameTooLong { .. }
                | Self::Null
                | Self::AboveMaximum(_)
        )
    }
}

/// Where a row of a text file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPlace {
    /// Its line, from 1.
    pub line: u64,
    /// The byte at which the row starts, from 0.
    pub byte: u64,
    /// The name of the column at fault, if one is.
    pub column: Option<String>,
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}", self.line, self.byte)?;
        match &self.column {
            Some(column) => write!(f, ", column '{column}'"),
            None => Ok(()),
        }
    }
}

/// What is wrong with a row of a text file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowFault {
    /// The row has fewer columns than the schema.
    #[error("missing delimiter '{}'", char::from(*.0))]
    MissingSeparator(u8),
    /// The row has more columns than the schema.
    #[error("more columns than the schema has")]
    TooManyColumns,
    /// The row has not as many columns as the table.
    #[error("{found} column{s} instead of {expected}", s = if *.found == 1 { "" } else { "s" })]
    Columns {
        /// How many it has.
        found: usize,
        /// How many the table has.
        expected: usize,
    },
    /// The last row has fewer columns than the table, and no line end.
    #[error("{found} column{s} instead of {expected}, and no line end", s = if *.found == 1 { "" } else { "s" })]
    CutOff {
        /// How many it has.
        found: usize,
        /// How many the table has.
        expected: usize,
    },
    /// The row begins as comments often do.
    #[error("{fault}, in a line that begins with '{prefix}'")]
    LikeComment {
        /// What it begins with.
        prefix: &'static str,
        /// What is wrong with it as a row.
        fault: Box<RowFault>,
    },
    /// A quote is never closed.
    #[error("a quote is never closed")]
    UnclosedQuote,
    /// A field goes on behind its closing quote.
    #[error("text after a closing quote")]
    TextAfterQuote,
    /// A value is null, as this text says, where there must be a value.
    #[error("null ('{0}') in a column without nulls")]
    Null(String),
    /// The line has nothing on it.
    #[error("empty line")]
    EmptyLine,
    /// A string is empty.
    #[error("empty name")]
    EmptyName,
    /// A string contains a NUL byte, which text never does: the file is binary or UTF-16.
    #[error("NUL byte in a name")]
    NulByte,
    /// A number is empty.
    #[error("empty number")]
    EmptyNumber,
    /// A number is not of the form `-12.3`.
    #[error("malformed number '{0}'")]
    MalformedNumber(String),
    /// A number has more decimals than its column.
    #[error("'{text}' has more than {scale} decimal{s}", s = if *.scale == 1 { "" } else { "s" })]
    TooManyDecimals {
        /// The number.
        text: String,
        /// The decimals that the column has.
        scale: u8,
    },
    /// A number has more decimals than any of the first rows, which told the decimals of its column.
    #[error(
        "'{text}' has more than {scale} decimal{s}, the most in the first rows; set the type with --schema",
        s = if *.scale == 1 { "" } else { "s" }
    )]
    MoreDecimalsThanGuessed {
        /// The number.
        text: String,
        /// The decimals that the first rows have at most.
        scale: u8,
    },
    /// A number does not fit an integer at its column's scale.
    #[error("number '{0}' does not fit {1} bits")]
    NumberTooLarge(String, u32),
    /// A value has not the form of its column's type.
    #[error("'{text}' is not a valid {expected}")]
    MalformedValue {
        /// The value.
        text: String,
        /// The column's type.
        expected: LogicalType,
    },
    /// A value is outside of what its column's type holds.
    #[error("'{text}' is out of range for {expected}")]
    OutOfRange {
        /// The value.
        text: String,
        /// The column's type.
        expected: LogicalType,
    },
    /// The line is longer than a line may be.
    #[error("line longer than {0} bytes")]
    LineTooLong(usize),
    /// A line of JSON holds something else than an object.
    #[error("not a JSON object")]
    NoObject,
    /// A line, or the text, ends before an object of JSON does.
    #[error("the JSON object does not end")]
    ObjectNotEnded,
    /// An object is not valid JSON.
    #[error("malformed JSON at byte {at} of the object: {reason}")]
    MalformedJson {
        /// What is wrong.
        reason: String,
        /// How many of its bytes were read until then, with those before it on its line.
        at: usize,
    },
    /// The objects of a JSON text cannot be told apart from here on.
    #[error("malformed JSON: {0}; the rest cannot be read")]
    BrokenJson(&'static str),
    /// A string of JSON has escapes that stand for nothing.
    #[error("malformed string: {0}")]
    MalformedString(String),
    /// A row names a column that the schema does not have.
    #[error("no column is named '{0}'")]
    UnknownColumn(String),
    /// A row names the column twice.
    #[error("named twice in the row")]
    DuplicateColumn,
    /// A row has a key twice that is no column.
    #[error("duplicate key '{0}'")]
    DuplicateKey(String),
    /// A number is larger than any of the file may be.
    #[error("'{text}' is above the maximum of {maximum}")]
    AboveMaximum {
        /// The number.
        text: String,
        /// What the file's header says.
        maximum: u16,
    },
    /// The file ends before all numbers that its header promises.
    #[error("the file ends after {found} of {expected} numbers")]
    TooFewNumbers {
        /// How many it has.
        found: u64,
        /// How many its header promises.
        expected: u64,
    },
    /// The file has more numbers than its header promises.
    #[error("'{text}' comes after the {expected} numbers that the header announces")]
    TooManyNumbers {
        /// The first that is too many.
        text: String,
        /// How many its header promises.
        expected: u64,
    },
    /// There is no white space for longer than a number may be.
    #[error("no white space in {0} bytes")]
    NumberTooLong(usize),
    /// A row does not name the column.
    #[error("missing")]
    MissingColumn,
    /// A value is of another type than its column.
    #[error("{found} in a column of type {expected}")]
    WrongType {
        /// What the value is.
        found: &'static str,
        /// The column's type.
        expected: LogicalType,
    },
}

impl RowFault {
    /// What is wrong, without the value: the same for all rows with the same fault.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Null(_) => "null in a column without nulls".to_owned(),
            Self::MalformedNumber(_) => "malformed number".to_owned(),
            Self::TooManyDecimals { scale, .. } | Self::MoreDecimalsThanGuessed { scale, .. } => {
                format!("more than {scale} decimal{}", if *scale == 1 { "" } else { "s" })
            }
            Self::NumberTooLarge(_, bits) => format!("number does not fit {bits} bits"),
            Self::MalformedValue { expected, .. } => format!("not a valid {expected}"),
            Self::OutOfRange { expected, .. } => format!("out of range for {expected}"),
            Self::MalformedJson { .. } => "malformed JSON".to_owned(),
            Self::MalformedString(_) => "malformed string".to_owned(),
            Self::LikeComment { prefix, fault } => format!("{}, in a line that begins with '{prefix}'", fault.kind()),
            other => other.to_string(),
        }
    }

    /// A short printable form of some bytes for a message.
    #[must_use]
    pub fn quote(text: &[u8]) -> String {
        const LONGEST: usize = 40;
        let shown = &text[..text.len().min(LONGEST)];
        let ellipsis = if text.len() > LONGEST { "…" } else { "" };
        format!("{}{ellipsis}", shown.escape_ascii())
    }
}
