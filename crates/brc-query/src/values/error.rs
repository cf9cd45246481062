//! Errors of a batch, or of values computed from it.

use brc_core::{Error, StringsTooLarge};
use brc_kernels::accumulate::UnknownGroup;
use std::path::Path;

/// What is wrong with a batch: it lacks a column that the scan requested, or a value is out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BatchError(pub(crate) &'static str);

impl From<UnknownGroup> for BatchError {
    fn from(_: UnknownGroup) -> Self {
        Self("a code is not in its dictionary")
    }
}

/// A number is too large for statistics or keys.
pub(crate) const TOO_LARGE: BatchError = BatchError("a number does not fit 64 bits");

pub(crate) const TOO_LONG: &str = "a string of more than 2 GiB";

/// Why an expression cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EvalError {
    /// The batch is malformed, as [`BatchError`] says.
    Batch(&'static str),
    /// A value of a row is outside the domain of a function.
    Value(String),
    /// The strings of a batch exceed the given memory limit in bytes, or without one the 2 GiB of a batch.
    TooLarge(Option<u64>),
}

/// The error of strings that are too large even for a batch of one row.
pub(crate) fn too_large(limit: Option<u64>) -> Error {
    match limit {
        Some(limit) => Error::Memory { what: "a computed string".to_owned(), limit },
        None => Error::Expression(TOO_LONG.to_owned()),
    }
}

impl EvalError {
    /// This as an error of a scan of a file.
    pub(crate) fn error(self, path: &Path) -> Error {
        match self {
            Self::Batch(reason) => Error::corrupt(path, "a batch of rows", reason),
            Self::Value(message) => Error::Expression(message),
            Self::TooLarge(limit) => too_large(limit),
        }
    }
}

impl From<StringsTooLarge> for EvalError {
    fn from(_: StringsTooLarge) -> Self {
        Self::TooLarge(None)
    }
}

impl From<BatchError> for EvalError {
    fn from(error: BatchError) -> Self {
        Self::Batch(error.0)
    }
}
