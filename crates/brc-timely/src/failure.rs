//! The message and exit code of a failure: plain data, so that all processes end with the same.

use brc_cli::embedding;
use brc_compare::printable;
use brc_core::Error;
use serde::{Deserialize, Serialize};

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    message: String,
    hints: Vec<String>,
    code: u8,
}

impl Failed {
    /// An invalid request.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hints: Vec::new(), code: 2 }
    }

    /// A failed run.
    pub(crate) fn run(message: impl Into<String>) -> Self {
        Self { code: 1, ..Self::usage(message) }
    }

    /// Adds a hint.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds the name of the failed process, for other processes.
    pub(crate) fn of(self, process: &str) -> Self {
        Self { message: format!("{process}: {}", self.message), ..self }
    }

    /// Prints the message and hints. Returns the exit code.
    pub(crate) fn report(&self) -> u8 {
        for line in std::iter::once(&self.message).chain(&self.hints) {
            embedding::message(format_args!("brc-timely: {}", printable::lines(line.as_bytes())));
        }
        self.code
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let failure = embedding::failure(&error);
        Self { message: failure.message, hints: failure.hints, code: failure.code }
    }
}
