//! What is odd about files that are read nevertheless.

use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// What was not told yet: whoever reads a file must not wait for the interpreter, which may wait for that.
static PENDING: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes note of warnings from now on, unless this process is the program: that prints its own.
pub(crate) fn expect() {
    brc_encodings::on_warning(|path: &Path, text: &str| {
        PENDING.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{}: {text}", path.display()));
    });
}

/// Tells what there is to tell.
///
/// # Errors
/// Where warnings are to be exceptions, that.
pub(crate) fn tell(py: Python<'_>) -> PyResult<()> {
    let pending = std::mem::take(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner));
    for text in pending {
        let text = CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(())
}
