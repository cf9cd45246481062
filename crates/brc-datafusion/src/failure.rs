//! Messages and exit codes of failures.

use brc_cli::embedding::message;
use brc_compare::Failure;
use brc_core::Error;
use brc_datafusion::cluster::{decode_failure, failure_of, own_error};
use datafusion::error::DataFusionError;
use datafusion::sql::sqlparser::parser::ParserError;
use std::process::ExitCode;

/// A failure.
#[derive(Debug)]
pub(crate) struct Failed(Failure);

impl Failed {
    /// An invalid request.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self(Failure { code: 2, ..Failure::new(message) })
    }

    /// A failed run.
    #[cfg(feature = "ballista")]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(Failure::new(message))
    }

    fn of(error: &Error) -> Self {
        Self(failure_of(error))
    }

    /// Prints the message and hints.
    pub(crate) fn report(&self) -> ExitCode {
        for line in [&self.0.message].into_iter().chain(&self.0.hints) {
            message(format_args!("brc-sql: {line}"));
        }
        ExitCode::from(self.0.code)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::of(&error)
    }
}

impl From<DataFusionError> for Failed {
    fn from(error: DataFusionError) -> Self {
        if let Some(own) = own_error(&error) {
            return Self::of(own);
        }
        let root = error.find_root();
        let is_usage =
            matches!(root, DataFusionError::SQL(..) | DataFusionError::Plan(_) | DataFusionError::SchemaError(..));
        let message = match root {
            DataFusionError::SQL(parser, _) => match parser.as_ref() {
                ParserError::ParserError(message) | ParserError::TokenizerError(message) => message.clone(),
                ParserError::RecursionLimitExceeded => "the query is too deeply nested".to_owned(),
            },
            _ => error.strip_backtrace(),
        };
        if let Some(failure) = decode_failure(&message) {
            return Self(failure);
        }
        if message.contains("No suitable object store found") {
            let message =
                "copy writes CSV, JSON, Parquet and Arrow to local files only; --output writes them to object stores";
            return Self::usage(message);
        }
        let position = error.diagnostic().and_then(|diagnostic| diagnostic.span);
        let position =
            position.map(|span| format!("line {}, column {} of the query", span.start.line, span.start.column));
        Self(Failure {
            code: if is_usage { 2 } else { 1 },
            hints: position.into_iter().collect(),
            ..Failure::new(message)
        })
    }
}
