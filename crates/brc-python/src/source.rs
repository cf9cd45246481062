//! What a table is read from: files by their names, or bytes that have none.

use crate::warnings;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use std::fs::File;
use std::io::{Seek, Write};
use std::path::PathBuf;

/// What a table is read from.
pub(crate) enum Source {
    /// Paths, globs and directories.
    Paths(Vec<PathBuf>),
    /// A file without a name, and how messages call it.
    File(PathBuf, File),
}

impl Source {
    /// Knows paths, lists of them, bytes, and objects that have `read`.
    ///
    /// # Errors
    /// If it is none of these, or cannot be read.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        warnings::expect();
        if let Some(path) = path(object) {
            return Ok(Self::Paths(vec![path]));
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let paths = object.try_iter()?.map(|item| {
                let item = item?;
                path(&item).ok_or_else(|| unknown(&item))
            });
            return Ok(Self::Paths(paths.collect::<PyResult<_>>()?));
        }
        let is_bytes = object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>();
        if is_bytes || object.is_instance_of::<PyMemoryView>() {
            let mut file = temporary()?;
            let bytes = object.py().get_type::<PyBytes>().call1((object,))?;
            write(&mut file, &bytes)?;
            return Self::rewound("bytes", file);
        }
        if object.hasattr("read")? {
            let name = object.getattr("name").and_then(|name| name.extract::<String>());
            return Self::rewound(&name.unwrap_or_else(|_| "file".to_owned()), copy(object)?);
        }
        Err(unknown(object))
    }

    fn rewound(name: &str, mut file: File) -> PyResult<Self> {
        file.rewind()?;
        Ok(Self::File(name.into(), file))
    }
}

/// A path, if it is one.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> Option<PathBuf> {
    let is_path = object.is_instance_of::<PyString>() || object.hasattr("__fspath__").unwrap_or(false);
    is_path.then(|| object.extract().ok()).flatten()
}

fn unknown(object: &Bound<'_, PyAny>) -> PyErr {
    let kind = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{kind} is no path, no list of paths, no bytes and no file to read"))
}

/// So many bytes are read at a time.
const COPIED_AT_ONCE: usize = 1 << 20;

/// A copy of what is left of a file that Python reads: threads read it at any place, and more than once.
fn copy(object: &Bound<'_, PyAny>) -> PyResult<File> {
    let mut file = temporary()?;
    loop {
        let piece = object.call_method1("read", (COPIED_AT_ONCE,))?;
        let piece = match piece.cast::<PyString>() {
            Ok(text) => text.encode_utf8()?.into_any(),
            Err(_) => piece,
        };
        if write(&mut file, &piece)? == 0 {
            return Ok(file);
        }
    }
}

fn write(file: &mut File, bytes: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = bytes.py();
    let bytes = bytes.extract::<PyBackedBytes>()?;
    py.detach(|| file.write_all(&bytes))?;
    Ok(bytes.len())
}

fn temporary() -> PyResult<File> {
    tempfile::tempfile().map_err(|error| PyOSError::new_err(format!("cannot make a temporary copy: {error}")))
}
