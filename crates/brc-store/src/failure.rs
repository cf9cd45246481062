//! Why a request failed, with advice for the user.

use crate::address::Address;
use object_store::Error as StoreError;
use std::error::Error as _;
use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;

/// Why some bytes could not be fetched; reported to every thread that waits for them.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    reason: String,
    /// Whether a retry may succeed.
    pub(crate) is_passing: bool,
}

impl Failure {
    /// A temporary failure of a server.
    pub(crate) fn temporary(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), is_passing: true }
    }

    pub(crate) fn permanent(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), is_passing: false }
    }

    /// The file has changed since it was opened.
    pub(crate) fn changed() -> Self {
        Self::permanent(ErrorKind::Other, "it was changed or replaced during the run")
    }

    fn whole_files() -> Self {
        Self::permanent(ErrorKind::Unsupported, "the server sends whole files, not parts of them")
    }

    pub(crate) fn of(error: &StoreError, address: &Address) -> Self {
        let hint = || format!("access is denied: {}", address.credentials_hint());
        match error {
            StoreError::NotFound { .. } => Self::permanent(ErrorKind::NotFound, "there is no such file"),
            StoreError::Precondition { .. } | StoreError::NotModified { .. } => Self::changed(),
            StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
                Self::permanent(ErrorKind::PermissionDenied, hint())
            }
            StoreError::NotSupported { .. } => Self::whole_files(),
            error => match innermost(error) {
                // The library has no name for what is unsupported by stores that are not plain web servers.
                reason if reason.contains("non-partial response") => Self::whole_files(),
                // Pages that a server makes as they are sent have no length.
                reason if reason.contains("Content-Length") => Self::permanent(
                    ErrorKind::Unsupported,
                    format!(
                        "the server does not say how long it is; read it from a pipe: curl -sL '{}' | brc query - …",
                        address.path.display()
                    ),
                ),
                reason if is_refusal(&reason) => Self::permanent(ErrorKind::Other, reason),
                reason => Self::temporary(ErrorKind::Other, reason),
            },
        }
    }

    /// Whether the server rejected the request for a reason that only it knows.
    pub(crate) fn is_refusal(&self) -> bool {
        self.kind == ErrorKind::Other && is_refusal(&self.reason)
    }

    /// The same with a byte range.
    pub(crate) fn at(&self, range: &Range<u64>) -> io::Error {
        io::Error::new(self.io_kind(), format!("bytes {} to {}: {}", range.start, range.end, self.reason))
    }

    /// Other kinds would be taken for properties of the file's contents.
    fn io_kind(&self) -> ErrorKind {
        match self.kind {
            kind @ (ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::TimedOut) => kind,
            _ => ErrorKind::Other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::new(failure.io_kind(), failure.reason)
    }
}

/// Whether the server blames the request rather than itself.
fn is_refusal(reason: &str) -> bool {
    let code = reason.split_once("status code: ").map_or("", |(_, code)| code);
    code.starts_with('4') && !code.starts_with("408") && !code.starts_with("429")
}

/// The error of a request that is not about a particular file.
pub(crate) fn io_error(error: &StoreError) -> io::Error {
    io::Error::other(innermost(error))
}

/// The innermost source of an error, without the request that the outer ones repeat; the server's response in one line.
fn innermost(error: &StoreError) -> String {
    let mut reasons: Vec<String> = vec![error.to_string()];
    let mut source = error.source();
    while let Some(inner) = source {
        reasons.push(inner.to_string());
        source = inner.source();
    }
    // Outer errors mostly end with the text of inner ones.
    let last = reasons.last().cloned().unwrap_or_default();
    let last = match last.rsplit_once("Server returned ") {
        Some((_, answer)) => format!("the server returned {answer}"),
        None => last,
    };
    last.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(400).collect()
}
