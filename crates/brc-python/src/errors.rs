//! Failures as exceptions.

use brc_core::{Error, RowPlace};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};
use std::path::Path;

create_exception!(brc, BrcError, PyException, "What brc cannot do. Its `hints` say what may help.");
create_exception!(brc, UsageError, BrcError, "A request that makes no sense: an unknown column or option, wrong SQL.");
create_exception!(
    brc,
    BadRowError,
    BrcError,
    "A row of a text that does not fit: its `path`, `line` (from 1), `byte` (from 0), `column` or None, and the `reason`."
);
create_exception!(brc, CorruptFileError, BrcError, "A file that is damaged.");
create_exception!(
    brc,
    UnsupportedError,
    BrcError,
    "A file or a value that is sound, but that brc or a format does not hold."
);

/// Adds the exceptions under the names that users see.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, exception) in [
        ("Error", py.get_type::<BrcError>()),
        ("UsageError", py.get_type::<UsageError>()),
        ("BadRowError", py.get_type::<BadRowError>()),
        ("CorruptFileError", py.get_type::<CorruptFileError>()),
        ("UnsupportedError", py.get_type::<UnsupportedError>()),
    ] {
        exception.setattr("__name__", name)?;
        exception.setattr("__qualname__", name)?;
        module.add(name, exception)?;
    }
    Ok(())
}

/// The exception for a failure.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let failure = brc_cli::embedding::failure(error);
    let made = match error {
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Error::Io { path, source, .. } if code_of(source).is_some() => {
            return of_system(py, path, code_of(source).unwrap_or_default()).unwrap_or_else(|other| other);
        }
        Error::Io { .. } => BrcError::new_err(failure.message),
        Error::Memory { .. } => PyMemoryError::new_err(failure.message),
        Error::Usage(_) | Error::TypeMismatch { .. } => UsageError::new_err(failure.message),
        Error::BadRow { .. } | Error::TooManyRejects { .. } => BadRowError::new_err(failure.message),
        Error::Corrupt { .. } => CorruptFileError::new_err(failure.message),
        Error::Unsupported { .. } | Error::UnsupportedValue(_) | Error::TooLarge { .. } => {
            UnsupportedError::new_err(failure.message)
        }
        _ => BrcError::new_err(failure.message),
    };
    match described(py, &made, error, failure.hints) {
        Ok(()) => made,
        Err(other) => other,
    }
}

/// The system's number of an error; also of one that a store found as a system would have.
fn code_of(error: &std::io::Error) -> Option<i32> {
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    error.raw_os_error().or_else(|| is_missing.then(|| rustix::io::Errno::NOENT.raw_os_error()))
}

/// The exception that Python itself would raise: a `FileNotFoundError`, a `PermissionError` …
fn of_system(py: Python<'_>, path: &Path, number: i32) -> PyResult<PyErr> {
    let reason = py.import("os")?.call_method1("strerror", (number,))?.extract::<String>()?;
    Ok(PyOSError::new_err((number, reason, path.display().to_string())))
}

/// Gives an exception its attributes, and shows hints below its message.
fn described(py: Python<'_>, exception: &PyErr, error: &Error, hints: Vec<String>) -> PyResult<()> {
    let value = exception.value(py);
    // Before 3.11 there are no notes.
    if value.hasattr(intern!(py, "add_note"))? {
        for hint in &hints {
            value.call_method1(intern!(py, "add_note"), (hint,))?;
        }
    }
    value.setattr("hints", hints)?;
    let (path, RowPlace { line, byte, column }, reason) = match error {
        Error::BadRow { path, place, fault } => (path, place, fault.to_string()),
        Error::TooManyRejects { path, place, limit } => {
            (path, place, format!("more rejected rows than the limit of {limit}"))
        }
        _ => return Ok(()),
    };
    value.setattr("path", path.display().to_string())?;
    value.setattr("line", line)?;
    value.setattr("byte", byte)?;
    value.setattr("column", column)?;
    value.setattr("reason", reason)
}

/// Makes exceptions of failures.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception for the failure.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for brc_core::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

impl<T> OrRaise<T> for Result<T, arrow_schema::ArrowError> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| match error {
            arrow_schema::ArrowError::ExternalError(error) => match error.downcast::<Error>() {
                Ok(error) => exception(py, &error),
                Err(error) => BrcError::new_err(error.to_string()),
            },
            error => UnsupportedError::new_err(error.to_string()),
        })
    }
}
