//! What is wrong with a row of a text file, and where.

use crate::logical_type::LogicalType;
use std::fmt;

/// The location of a row in a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLocation {
    /// The line, from 1.
    pub line: u64,
    /// The offset at which the row starts, in bytes.
    pub byte: u64,
    /// The name of the column at fault, if one is.
    pub column: Option<String>,
}

impl fmt::Display for RowLocation {
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
    /// A row in quotes exceeds the maximum length.
    #[error("a row is longer than {0} bytes inside quotes, or a quote is never closed")]
    QuotedTooLong(usize),
    /// A field continues after its closing quote.
    #[error("text after a closing quote")]
    TextAfterQuote,
    /// A value is this null token, or empty, in a column without nulls.
    #[error("null{token} in a column that is not null", token = in_parentheses(.0))]
    Null(String),
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

/// A null token as messages show it after the word.
fn in_parentheses(token: &str) -> String {
    if token.is_empty() { String::new() } else { format!(" ('{token}')") }
}

impl RowFault {
    /// The fault without the value: the same text for all rows with the same fault.
    #[must_use]
    pub fn kind(&self) -> String {
        match self {
            Self::Null(_) => "null in a column that is not null".to_owned(),
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

    /// Whether it is unknown where the row ends, so that the lines after it may be rows or a part of it.
    #[must_use]
    pub fn hides_rows(&self) -> bool {
        match self {
            Self::QuotedTooLong(_) => true,
            Self::LikeComment { fault, .. } => fault.hides_rows(),
            _ => false,
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
