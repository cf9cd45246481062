//! Errors, each with the location where it occurred.

mod row_fault;
mod unsupported_value;

pub use row_fault::{RowFault, RowLocation};
pub use unsupported_value::{UnsupportedReason, UnsupportedValue};

use crate::logical_type::LogicalType;
use crate::rejects::Rejects;
use crate::table::WantedText;
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
        place: RowLocation,
        /// What is wrong with the row.
        fault: RowFault,
    },
    /// More rows were rejected than the limit allows.
    #[error("{path}: {place}: more rejected rows than the limit of {limit}", path = .path.display())]
    TooManyRejects {
        /// The file.
        path: PathBuf,
        /// The location of the first row over the limit.
        place: RowLocation,
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
    /// The file is so empty that it does not say which columns it has.
    #[error("{path}: {reason}", path = .path.display())]
    NoColumns {
        /// The file.
        path: PathBuf,
        /// What is missing, and what to do.
        reason: &'static str,
        /// Whether it has rows, which are null in each column of the table that it is part of.
        has_rows: bool,
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
        /// The columns of which it needs the null tokens as text.
        as_text: Vec<WantedText>,
    },
    /// The request is invalid for this table: an unknown column, two outputs with one name …
    #[error("{0}")]
    Usage(String),
}

impl Error {
    /// A request that is invalid for the column types.
    pub fn type_mismatch(message: impl Into<String>) -> Self {
        Self::TypeMismatch { message: message.into(), columns: Vec::new(), as_text: Vec::new() }
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
