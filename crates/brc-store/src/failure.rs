//! Why a request failed, in words that say what to do about it.

use crate::address::Address;
use object_store::Error as StoreError;
use std::error::Error as _;
use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;

/// Why some bytes did not come. Everyone who waits for them is told.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    reason: String,
    /// Whether another try may succeed.
    pub(crate) is_passing: bool,
}

impl Failure {
    /// What a server did wrong that it may do right the next time.
    pub(crate) fn passing(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), is_passing: true }
    }

    pub(crate) fn lasting(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), is_passing: false }
    }

    /// The file is not the one that it was when it was opened.
    pub(crate) fn changed() -> Self {
        Self::lasting(ErrorKind::Other, "it was changed or replaced during the run")
    }

    fn whole_files() -> Self {
        Self::lasting(ErrorKind::Unsupported, "the server sends whole files, not parts of them")
    }

    pub(crate) fn of(error: &StoreError, address: &Address) -> Self {
        let hint = || format!("access is denied: {}", address.credentials_hint());
        match error {
            StoreError::NotFound { .. } => Self::lasting(ErrorKind::NotFound, "there is no such file"),
            StoreError::Precondition { .. } | StoreError::NotModified { .. } => Self::changed(),
            StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
                Self::lasting(ErrorKind::PermissionDenied, hint())
            }
            StoreError::NotSupported { .. } => Self::whole_files(),
            error => match innermost(error) {
                // Where a store is no simple web server, the library has no name for it.
                reason if reason.contains("non-partial response") => Self::whole_files(),
                reason if is_refusal(&reason) => Self::lasting(ErrorKind::Other, reason),
                reason => Self::passing(ErrorKind::Other, reason),
            },
        }
    }

    /// Whether the server found fault with the request for a reason that it alone knows.
    pub(crate) fn is_refusal(&self) -> bool {
        self.kind == ErrorKind::Other && is_refusal(&self.reason)
    }

    /// The same, of some bytes.
    pub(crate) fn at(&self, range: &Range<u64>) -> io::Error {
        io::Error::new(self.kind_outside(), format!("bytes {} to {}: {}", range.start, range.end, self.reason))
    }

    /// Of what a file holds, and not of a server, others would say the rest.
    fn kind_outside(&self) -> ErrorKind {
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
        Self::new(failure.kind_outside(), failure.reason)
    }
}

/// Whether the server found fault with the request, not with itself.
fn is_refusal(reason: &str) -> bool {
    let code = reason.split_once("status code: ").map_or("", |(_, code)| code);
    code.starts_with('4') && !code.starts_with("408") && !code.starts_with("429")
}

/// What goes wrong where no file is at hand yet.
pub(crate) fn io_error(error: &StoreError) -> io::Error {
    io::Error::other(innermost(error))
}

/// What lies at the bottom of an error, without the request that all around it say again; the answer of a server in one line.
fn innermost(error: &StoreError) -> String {
    let mut reasons: Vec<String> = vec![error.to_string()];
    let mut source = error.source();
    while let Some(inner) = source {
        reasons.push(inner.to_string());
        source = inner.source();
    }
    // Those outside mostly end with the text of those inside.
    let last = reasons.last().cloned().unwrap_or_default();
    let last = match last.rsplit_once("Server returned ") {
        Some((_, answer)) => format!("the server returned {answer}"),
        None => last,
    };
    last.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(400).collect()
}
