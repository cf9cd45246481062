//! Decoding errors, and the boundary to libraries that decode data.

use brc_core::Error;
use std::borrow::Cow;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// What is wrong with decoded bytes, before their location is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes contradict themselves or the rest of the file.
    Corrupt(Cow<'static, str>),
    /// The bytes are valid, but a table of `brc` cannot hold them.
    Unsupported(Cow<'static, str>),
    /// The same of the value of a row, which is counted from the first one decoded with it.
    UnsupportedRow(usize, Cow<'static, str>),
}

impl Fault {
    pub(crate) fn corrupt(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Corrupt(reason.into())
    }

    pub(crate) fn unsupported(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// The same fault, with its row counted from `rows` rows earlier.
    pub(crate) fn after(self, rows: usize) -> Self {
        match self {
            Self::UnsupportedRow(row, reason) => Self::UnsupportedRow(rows + row, reason),
            fault => fault,
        }
    }

    /// The error with its location in a file.
    pub(crate) fn at(self, path: &Path, location: &str) -> Error {
        match self {
            Self::Corrupt(reason) => Error::corrupt(path, location, reason),
            Self::Unsupported(reason) => Error::unsupported(path, format!("{location}: {reason}")),
            Self::UnsupportedRow(row, reason) => Error::unsupported(path, format!("{location}, row {row}: {reason}")),
        }
    }
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is about to become an error of the file being read: then a panic hook must neither
/// report it nor end the process.
#[must_use]
pub fn turns_panics_into_errors() -> bool {
    GUARDED.get()
}

/// Calls a library that returns errors but may still panic on unforeseen bytes.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(outer);
    outcome.unwrap_or_else(|_| Err(Fault::corrupt("the library that decodes it gave up on its content")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_errors() {
        let fault = guarded(|| -> Result<(), Fault> {
            assert!(turns_panics_into_errors());
            std::panic::resume_unwind(Box::new(()))
        });
        assert!(matches!(fault.unwrap_err(), Fault::Corrupt(_)) && !turns_panics_into_errors());
    }
}
