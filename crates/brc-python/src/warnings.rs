//! Emits Python warnings about files that are still read.

use parking_lot::Mutex;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::ffi::CString;
use std::path::Path;

/// Warnings not yet emitted: a thread that reads a file must not wait for the interpreter, which may be waiting for the
/// thread.
static PENDING: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Starts collecting warnings. The program `brc` prints its own and does not call this.
pub(crate) fn collect() {
    brc_encodings::on_warning(|path: &Path, text: &str| {
        PENDING.lock().push(format!("{}: {text}", path.display()));
    });
}

/// Emits the collected warnings.
///
/// # Errors
/// If a filter turns warnings into exceptions.
pub(crate) fn emit(py: Python<'_>) -> PyResult<()> {
    let pending = std::mem::take(&mut *PENDING.lock());
    for text in pending {
        let text = CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(())
}
