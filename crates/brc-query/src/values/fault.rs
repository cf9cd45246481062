//! Errors in a batch, or in values computed of one.

use brc_core::Error;
use brc_kernels::accumulate::UnknownGroup;
use std::path::Path;

/// What a batch lacks that its scan was requested, or has wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

impl From<UnknownGroup> for Malformed {
    fn from(_: UnknownGroup) -> Self {
        Self("a code is not in its dictionary")
    }
}

/// A number that statistics or keys have no room for.
pub(crate) const TOO_LARGE: Malformed = Malformed("a number does not fit 64 bits");

pub(crate) const TOO_LONG: &str = "a string of more than 2 GiB";

/// Why an expression cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A batch is not what its scan was requested.
    Malformed(&'static str),
    /// A value of a row does not allow it.
    Value(String),
    /// Strings of a batch need more than the bytes of memory that are allowed, or than batches may have at all.
    TooLarge(Option<u64>),
}

/// Strings are too large, even of one row.
pub(crate) fn too_large(limit: Option<u64>) -> Error {
    match limit {
        Some(limit) => Error::Memory { what: "a computed string".to_owned(), limit },
        None => Error::Expression(TOO_LONG.to_owned()),
    }
}

impl Fault {
    /// The fault as an error of a scan of a file.
    pub(crate) fn error(self, path: &Path) -> Error {
        match self {
            Self::Malformed(reason) => Error::corrupt(path, "a batch of rows", reason),
            Self::Value(message) => Error::Expression(message),
            Self::TooLarge(limit) => too_large(limit),
        }
    }
}

impl From<Malformed> for Fault {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed.0)
    }
}
