//! What a table is read from: files by their names, or bytes that have none.

use crate::errors::UsageError;
use crate::warnings;
use brc_encodings::compression_by_extension;
use pyo3::exceptions::{PyOSError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

/// What a table is read from.
pub(crate) enum Source {
    /// Paths, globs and directories.
    Paths(Vec<PathBuf>),
    /// A file without a name, and how messages call it.
    File(PathBuf, File),
}

impl Source {
    /// Knows paths, addresses, lists of them, bytes, and objects that have `read`.
    ///
    /// # Errors
    /// If it is none of these, or cannot be read.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        warnings::expect();
        if let Some(path) = path(object) {
            return match path == Path::new("-") {
                // Python waits for it, so that Ctrl-C ends that.
                true => Self::of(&object.py().import("sys")?.getattr("stdin")?.getattr("buffer")?),
                false => Ok(Self::Paths(vec![named(path)?])),
            };
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let paths = object.try_iter()?.map(|item| {
                let item = item?;
                path(&item).ok_or_else(|| unknown(&item)).and_then(named)
            });
            let paths = paths.collect::<PyResult<Vec<_>>>()?;
            if paths.is_empty() {
                return Err(UsageError::new_err("the list of paths is empty"));
            }
            return Ok(Self::Paths(paths));
        }
        let is_bytes = object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>();
        if is_bytes || object.is_instance_of::<PyMemoryView>() {
            let mut file = temporary()?;
            let bytes = object.py().get_type::<PyBytes>().call1((object,))?;
            write(&mut file, &bytes)?;
            return Self::rewound("bytes", file);
        }
        if object.hasattr("read")? {
            return Self::rewound(name_of(object)?, copy(object)?);
        }
        Err(unknown(object))
    }

    fn rewound(name: impl Into<PathBuf>, mut file: File) -> PyResult<Self> {
        file.rewind()?;
        Ok(Self::File(name.into(), file))
    }
}

/// A path that names something.
fn named(path: PathBuf) -> PyResult<PathBuf> {
    if path.as_os_str().is_empty() { Err(UsageError::new_err("the path is empty")) } else { Ok(path) }
}

/// What messages call a file that Python reads. Where Python decompresses it, it no longer is what its extension says.
fn name_of(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let Ok(name) = object.getattr("name").and_then(|name| name.extract::<String>()) else { return Ok("file".into()) };
    let name = PathBuf::from(name);
    let raw = object.getattr("raw").unwrap_or_else(|_| object.clone());
    let is_as_it_lies = raw.is_instance(&object.py().import("io")?.getattr("FileIO")?)?;
    let is_compression = |extension: &str| ["bz2", "lzma", "xz", "zip"].contains(&extension);
    let is_compressed = compression_by_extension(&name).is_some()
        || name.extension().and_then(OsStr::to_str).is_some_and(is_compression);
    Ok(if is_compressed && !is_as_it_lies { name.with_extension("") } else { name })
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
    let (py, mut file) = (object.py(), temporary()?);
    loop {
        let piece = object.call_method1("read", (COPIED_AT_ONCE,))?;
        let piece = match piece.cast::<PyString>() {
            Ok(text) => text.encode_utf8()?.into_any(),
            Err(_) if piece.is_instance_of::<PyMemoryView>() => py.get_type::<PyBytes>().call1((piece,))?,
            Err(_) => piece,
        };
        if write(&mut file, &piece)? == 0 {
            return Ok(file);
        }
    }
}

fn write(file: &mut File, bytes: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = bytes.py();
    let bytes = bytes.extract::<PyBackedBytes>().map_err(|_| {
        let kind = bytes.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("read returned {kind} and no bytes"))
    })?;
    py.detach(|| file.write_all(&bytes))?;
    Ok(bytes.len())
}

fn temporary() -> PyResult<File> {
    tempfile::tempfile().map_err(|error| PyOSError::new_err(format!("cannot make a temporary copy: {error}")))
}
