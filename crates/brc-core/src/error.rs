//! Errors, each with the location where it occurred.

use crate::logical_type::LogicalType;
use crate::rejects::Rejects;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. Each variant names the file; those about content also name the location in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An I/O error.
    #[error("{path}: cannot {action}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed operation: "open", "read", "write" …
        action: &'static str,
        /// The operating system's error.
        source: io::Error,
    },
    /// A row of a text file does not fit the schema.
    #[error("{path}: {place}: {fault}", path = .path.display())]
    BadRow {
        /// The file.
        path: PathBuf,
        /// The location of the row.
        place: RowPlace,
        /// What is wrong with the row.
        fault: RowFault,
    },
    /// More rows were rejected than the limit allows.
    #[error("{path}: {place}: more rejected rows than the limit of {limit}", path = .path.display())]
    TooManyRejects {
        /// The file.
        path: PathBuf,
        /// The location of the first row over the limit.
        place: RowPlace,
        /// The limit.
        limit: u64,
    },
    /// A binary file is damaged: a checksum, a length or an invariant does not hold.
    #[error("{path}: corrupt file: {place}: {reason}", path = .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The location in the file: "footer", "row group 3, column 'temperature', block 2" …
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// The file is intact, but this build does not support it (a newer version, another kind of file).
    #[error("{path}: {reason}", path = .path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is not supported.
        reason: String,
    },
    /// The target encoding cannot store a row.
    #[error("{0}")]
    UnsupportedValue(Box<UnsupportedValue>),
    /// A string of a result is not UTF-8 where UTF-8 is required.
    #[error("{path}: column '{column}': a string is not UTF-8", path = .path.display())]
    NotUtf8 {
        /// The file that the result was computed from.
        path: PathBuf,
        /// The column of the result.
        column: String,
    },
    /// A table as a whole exceeds a limit of the target encoding.
    #[error("{encoding} cannot hold this table: {reason}")]
    TooLarge {
        /// The name of the encoding.
        encoding: &'static str,
        /// The limit.
        reason: String,
    },
    /// Values do not fit the types inferred so far, and the output of earlier rows cannot be corrected: the table must
    /// be scanned again with the types of [`Table::inferred`](crate::Table::inferred).
    #[error("a later value does not fit the types inferred from the first rows; set them with --type or --all-strings")]
    Widened,
    /// A sink needs no more rows. [`scan`](crate::scan()) ends and succeeds, so its callers never see this error.
    #[error("no more rows are needed")]
    Stopped,
    /// The operation was cancelled ([`crate::interrupt`]).
    #[error("interrupted")]
    Interrupted,
    /// An operation needs more memory than its limit.
    #[error("{what} needs more than the memory limit of {limit} bytes")]
    Memory {
        /// The operation.
        what: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// A result is out of range for its type.
    #[error("{what} is out of range for {expected}")]
    Overflow {
        /// What was computed.
        what: String,
        /// The type.
        expected: LogicalType,
    },
    /// An expression cannot be evaluated for a value of a row.
    #[error("{0}")]
    Expression(String),
    /// The request is invalid for the column types, such as the sum of a string column. If types are inferred, it may
    /// be valid for the types of all rows ([`with_types`](crate::with_types)).
    #[error("{message}")]
    TypeMismatch {
        /// Why the request is invalid.
        message: String,
        /// The columns whose types are at fault, if known.
        columns: Vec<usize>,
    },
    /// The request is invalid for this table: an unknown column, two outputs with one name …
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// A request that is invalid for the column types.
    pub fn type_mismatch(message: impl Into<String>) -> Self {
        Self::TypeMismatch { message: message.into(), columns: Vec::new() }
    }

    /// For `map_err` on I/O calls: adds the file and the operation. An [`Error`] wrapped in an `io::Error` is
    /// unwrapped: sources other than files may fail for other reasons.
    pub fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| source.downcast().unwrap_or_else(|source| Self::Io { path, action, source })
    }

    /// A damaged location in a file.
    pub fn corrupt(path: &Path, place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), place: place.into(), reason: reason.into() }
    }

    /// A file that this build does not support.
    pub fn unsupported(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unsupported { path: path.to_owned(), reason: reason.into() }
    }

    /// A table that exceeds a limit of an encoding.
    pub fn too_large(encoding: &'static str, reason: impl Into<String>) -> Self {
        Self::TooLarge { encoding, reason: reason.into() }
    }

    /// Corrects the row number of an [`Error::UnsupportedValue`] returned by a part encoder, which does not count the
    /// rejected rows of its split.
    #[must_use]
    pub fn among(mut self, rejects: &Rejects) -> Self {
        if let Self::UnsupportedValue(unsupported_value) = &mut self {
            unsupported_value.row = rejects.line_of(unsupported_value.row.saturating_sub(1)) + 1;
        }
        self
    }
}

/// A row that an encoding cannot store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedValue {
    /// The file that the row comes from. Left empty by encoders, which do not know it; [`scan`](crate::scan()) sets it.
    pub path: PathBuf,
    /// The row's number in the table, from 1; for text, its line. Encoders count from the start of the part;
    /// [`Error::among`] and [`scan`](crate::scan()) add the rows before.
    pub row: u64,
    /// The column's name and the value as formatted by [`RowFault::quote`], if a single value is at fault.
    pub value: Option<(String, String)>,
    /// The name of the encoding.
    pub encoding: &'static str,
    /// Why it cannot store the row.
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

/// Why an encoding cannot store a value or a row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnsupportedReason {
    /// A string is empty.
    #[error("is empty")]
    Empty,
    /// A string contains the column delimiter.
    #[error("contains the delimiter '{}'", .0.escape_ascii())]
    Delimiter(u8),
    /// A string contains a line feed.
    #[error("contains a line feed")]
    LineFeed,
    /// A string contains a NUL byte, which text must not.
    #[error("contains a NUL byte")]
    NulByte,
    /// The last string of a line ends with a carriage return, which would be read as part of the line end.
    #[error("ends with a carriage return, which would be read as part of the line end")]
    CarriageReturn,
    /// A string is not UTF-8.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The first line of a text would start with a byte order mark, which readers skip.
    #[error("its first bytes would be read as a byte order mark")]
    ByteOrderMark,
    /// A line would exceed the maximum length.
    #[error("its line would be longer than {0} bytes")]
    LineTooLong(usize),
    /// A value is out of range for its type in the encoding.
    #[error("is out of range for its type in this encoding")]
    OutOfRange,
    /// A value is null where the encoding allows no nulls.
    #[error("is null")]
    Null,
    /// A number is outside the range given in the table's metadata.
    #[error("is not within 0 to {0}")]
    AboveMaximum(u16),
    /// A row is too long for the frame it belongs to.
    #[error("with the {rows} rows stored before it in the same frame it exceeds {most} bytes")]
    FrameTooLong {
        /// The number of rows before it in the frame.
        rows: u32,
        /// The maximum size of a frame in bytes.
        most: usize,
    },
}

impl UnsupportedReason {
    /// Whether the cause is some bytes of a string; encodings for arbitrary bytes could store it.
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

/// The location of a row in a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPlace {
    /// The line, from 1.
    pub line: u64,
    /// The offset at which the row starts, in bytes.
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
    /// The row's number of columns differs from the table's.
    #[error("{found} column{s} instead of {expected}", s = if *.found == 1 { "" } else { "s" })]
    Columns {
        /// The row's number of columns.
        found: usize,
        /// The table's number of columns.
        expected: usize,
    },
    /// The last row has fewer columns than the table, and no line end.
    #[error("{found} column{s} instead of {expected}, and no line end", s = if *.found == 1 { "" } else { "s" })]
    CutOff {
        /// The row's number of columns.
        found: usize,
        /// The table's number of columns.
        expected: usize,
    },
    /// The row begins like a comment.
    #[error("{fault}, in a line that begins with '{prefix}'")]
    LikeComment {
        /// The prefix.
        prefix: &'static str,
        /// What is wrong with it as a row.
        fault: Box<RowFault>,
    },
    /// A quote is never closed.
    #[error("a quote is never closed")]
    UnclosedQuote,
    /// A field continues after its closing quote.
    #[error("text after a closing quote")]
    TextAfterQuote,
    /// A value is this null token in a column without nulls.
    #[error("null ('{0}') in a column without nulls")]
    Null(String),
    /// The line is empty.
    #[error("empty line")]
    EmptyLine,
    /// A string is empty.
    #[error("empty name")]
    EmptyName,
    /// A string contains a NUL byte, so the file is probably binary or UTF-16.
    #[error("NUL byte in a name")]
    NulByte,
    /// A number is empty.
    #[error("empty number")]
    EmptyNumber,
    /// A number does not have the form `-12.3`.
    #[error("malformed number '{0}'")]
    MalformedNumber(String),
    /// A number has more decimals than its column.
    #[error("'{text}' has more than {scale} decimal{s}", s = if *.scale == 1 { "" } else { "s" })]
    TooManyDecimals {
        /// The number.
        text: String,
        /// The column's scale.
        scale: u8,
    },
    /// A number has more decimals than any in the sample from which the column's scale was inferred.
    #[error(
        "'{text}' has more than {scale} decimal{s}, the most in the first rows; set the type with --schema",
        s = if *.scale == 1 { "" } else { "s" }
    )]
    MoreDecimalsThanGuessed {
        /// The number.
        text: String,
        /// The largest number of decimals in the sample.
        scale: u8,
    },
    /// A number does not fit the given number of bits at its column's scale.
    #[error("number '{0}' does not fit {1} bits")]
    NumberTooLarge(String, u32),
    /// A value does not have the form of its column's type.
    #[error("'{text}' is not a valid {expected}")]
    MalformedValue {
        /// The value.
        text: String,
        /// The column's type.
        expected: LogicalType,
    },
    /// A value is out of range for its column's type.
    #[error("'{text}' is out of range for {expected}")]
    OutOfRange {
        /// The value.
        text: String,
        /// The column's type.
        expected: LogicalType,
    },
    /// The line exceeds the maximum length.
    #[error("line longer than {0} bytes")]
    LineTooLong(usize),
    /// A line of JSON is not an object.
    #[error("not a JSON object")]
    NoObject,
    /// The line or the text ends inside a JSON object.
    #[error("the JSON object does not end")]
    ObjectNotEnded,
    /// An object is not valid JSON.
    #[error("malformed JSON at byte {at} of the object: {reason}")]
    MalformedJson {
        /// What is wrong.
        reason: String,
        /// The number of bytes of the object read so far, including those before it on its line.
        at: usize,
    },
    /// The JSON text is so malformed that later objects cannot be found.
    #[error("malformed JSON: {0}; the rest cannot be read")]
    BrokenJson(&'static str),
    /// A JSON string has invalid escapes.
    #[error("malformed string: {0}")]
    MalformedString(String),
    /// A row has a key that the schema does not have.
    #[error("no column is named '{0}'")]
    UnknownColumn(String),
    /// A row has the column twice.
    #[error("named twice in the row")]
    DuplicateColumn,
    /// A row has a key twice that is not a column.
    #[error("duplicate key '{0}'")]
    DuplicateKey(String),
    /// A number exceeds the maximum of the file.
    #[error("'{text}' is above the maximum of {maximum}")]
    AboveMaximum {
        /// The number.
        text: String,
        /// The maximum in the file's header.
        maximum: u16,
    },
    /// The file has fewer numbers than its header says.
    #[error("the file ends after {found} of {expected} numbers")]
    TooFewNumbers {
        /// The number of numbers found.
        found: u64,
        /// The number of numbers in the header.
        expected: u64,
    },
    /// The file has more numbers than its header says.
    #[error("'{text}' comes after the {expected} numbers that the header announces")]
    TooManyNumbers {
        /// The first excess number.
        text: String,
        /// The number of numbers in the header.
        expected: u64,
    },
    /// No white space follows within the maximum length of a number.
    #[error("no white space in {0} bytes")]
    NumberTooLong(usize),
    /// A row lacks the column.
    #[error("missing")]
    MissingColumn,
    /// A value has a different type than its column.
    #[error("{found} in a column of type {expected}")]
    WrongType {
        /// The type of the value.
        found: &'static str,
        /// The column's type.
        expected: LogicalType,
    },
}

impl RowFault {
    /// The fault without the value: the same text for all rows with the same fault.
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

    /// A short printable form of some bytes, for messages.
    #[must_use]
    pub fn quote(text: &[u8]) -> String {
        const MAX_BYTES: usize = 40;
        let shown = &text[..text.len().min(MAX_BYTES)];
        let ellipsis = if text.len() > MAX_BYTES { "…" } else { "" };
        format!("{}{ellipsis}", shown.escape_ascii())
    }
}
