//! Converts errors to Python exceptions.

use brc_core::{Error, RowLocation};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::{create_exception, intern};
use std::path::Path;

create_exception!(brc, BrcError, PyException, "An error of brc. Its `hints` are suggestions.");
create_exception!(
    brc,
    UsageError,
    BrcError,
    "An invalid request, such as an unknown column or option, or invalid SQL."
);
create_exception!(
    brc,
    BadRowError,
    BrcError,
    "A row of a text file that does not fit the table: its `path`, `line` (from 1), `byte` (from 0), `column` or None, and the `reason`."
);
create_exception!(brc, CorruptFileError, BrcError, "A damaged file.");
create_exception!(
    brc,
    UnsupportedError,
    BrcError,
    "A valid file or value that brc or the output format does not support."
);

/// Adds the exceptions with their public names.
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

/// Converts an error to an exception.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let failure = brc_cli::embedding::failure(error);
    let exception = match error {
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        Error::Io { path, source, .. } if code_of(source).is_some() => {
            return of_system(py, path, code_of(source).unwrap_or_default()).unwrap_or_else(|other| other);
        }
        Error::Io { .. } => BrcError::new_err(failure.message),
        Error::Memory { .. } => PyMemoryError::new_err(failure.message),
        Error::Usage(_) | Error::TypeMismatch { .. } | Error::NoColumns { .. } => UsageError::new_err(failure.message),
        Error::BadRow { .. } | Error::TooManyRejects { .. } => BadRowError::new_err(failure.message),
        Error::Corrupt { .. } => CorruptFileError::new_err(failure.message),
        Error::Unsupported { .. } | Error::UnsupportedValue(_) | Error::TooLarge { .. } => {
            UnsupportedError::new_err(failure.message)
        }
        _ => BrcError::new_err(failure.message),
    };
    match add_attributes(py, &exception, error, failure.hints) {
        Ok(()) => exception,
        Err(other) => other,
    }
}

/// The error number of the system; also for a missing file in an object store.
fn code_of(error: &std::io::Error) -> Option<i32> {
    let is_missing = error.kind() == std::io::ErrorKind::NotFound;
    error.raw_os_error().or_else(|| is_missing.then(|| rustix::io::Errno::NOENT.raw_os_error()))
}

/// The exception that Python itself would raise, such as `FileNotFoundError` or `PermissionError`.
fn of_system(py: Python<'_>, path: &Path, number: i32) -> PyResult<PyErr> {
    let reason = py.import("os")?.call_method1("strerror", (number,))?.extract::<String>()?;
    Ok(PyOSError::new_err((number, reason, path.display().to_string())))
}

/// Sets the attributes of an exception, and adds hints as notes.
fn add_attributes(py: Python<'_>, exception: &PyErr, error: &Error, hints: Vec<String>) -> PyResult<()> {
    let value = exception.value(py);
    // Python before 3.11 has no notes.
    if value.hasattr(intern!(py, "add_note"))? {
        for hint in &hints {
            value.call_method1(intern!(py, "add_note"), (hint,))?;
        }
    }
    value.setattr("hints", hints)?;
    let (path, RowLocation { line, byte, column }, reason) = match error {
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

/// Converts errors of a result to exceptions.
pub(crate) trait OrRaise<T> {
    /// Returns the value or raises the exception.
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
