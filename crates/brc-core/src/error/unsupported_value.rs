//! Rows that an encoding cannot store.

use std::fmt;
use std::path::PathBuf;

/// A row that an encoding cannot store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedValue {
    /// The file that the row comes from. Left empty by encoders, which do not know it; [`scan`](crate::scan()) sets it.
    pub path: PathBuf,
    /// The row's number in the table, from 1; for text, its line. Encoders count from the start of the part;
    /// [`Error::among`](crate::Error::among) and [`scan`](crate::scan()) add the rows before.
    pub row: u64,
    /// The column's name and the value as formatted by [`RowFault::quote`](crate::RowFault::quote), if a single value is at fault.
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
                | Self::OutOfRange
                | Self::AboveMaximum(_)
        )
    }
}
