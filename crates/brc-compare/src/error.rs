//! Errors of a comparison and of its processes.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a comparison failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written, or options conflict.
    #[error(transparent)]
    Table(#[from] brc_core::Error),
    /// A job failed in its process.
    #[error(transparent)]
    Job(#[from] Failure),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// A failure as the program reports it: plain data, passed from one process to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong, and where.
    pub message: String,
    /// Suggestions for the user.
    pub hints: Vec<String>,
    /// The exit code.
    pub code: u8,
}

impl Failure {
    /// A failure with the general exit code 1.
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
