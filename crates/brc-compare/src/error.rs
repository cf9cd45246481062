//! What goes wrong in a comparison: here, or in one of its processes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written, or options do not go together.
    #[error(transparent)]
    Table(#[from] brc_core::Error),
    /// One of its processes failed.
    #[error(transparent)]
    Job(#[from] Failure),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// A failure in the words of the program: plain data, so that one process can tell it for another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong, and where.
    pub message: String,
    /// What may help.
    pub hints: Vec<String>,
    /// The exit code.
    pub code: u8,
}

impl Failure {
    /// A run that failed for no reason that has an exit code of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: 1 }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
