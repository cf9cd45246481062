//! The sources of tables: named files, or bytes without a name.

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

/// The source of a table.
pub(crate) enum Source {
    /// Paths, globs and directories.
    Paths(Vec<PathBuf>),
    /// An unnamed file, and its name in messages.
    File(PathBuf, File),
}

impl Source {
    /// Accepts paths, URLs, lists of them, bytes, and objects with a `read` method.
    ///
    /// # Errors
    /// If it is none of these, or cannot be read.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        warnings::collect();
        if let Some(path) = path(object) {
            return match path == Path::new("-") {
                // Python reads it, so that Ctrl-C interrupts the wait.
                true => Self::of(&object.py().import("sys")?.getattr("stdin")?.getattr("buffer")?),
                false => Ok(Self::Paths(vec![non_empty(path)?])),
            };
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            let paths = object.try_iter()?.map(|item| {
                let item = item?;
                path(&item).ok_or_else(|| unknown(&item)).and_then(non_empty)
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
            return Self::of_start_of("bytes", file);
        }
        if object.hasattr("read")? {
            return Self::of_start_of(name_of(object)?, copy(object)?);
        }
        Err(unknown(object))
    }

    fn of_start_of(name: impl Into<PathBuf>, mut file: File) -> PyResult<Self> {
        file.rewind()?;
        Ok(Self::File(name.into(), file))
    }
}

/// Rejects an empty path.
fn non_empty(path: PathBuf) -> PyResult<PathBuf> {
    if path.as_os_str().is_empty() { Err(UsageError::new_err("the path is empty")) } else { Ok(path) }
}

/// The name of a Python file in messages. If Python decompresses it, the extension of the compression is removed.
fn name_of(object: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let Ok(name) = object.getattr("name").and_then(|name| name.extract::<String>()) else { return Ok("file".into()) };
    let name = PathBuf::from(name);
    let raw = object.getattr("raw").unwrap_or_else(|_| object.clone());
    let is_raw = raw.is_instance(&object.py().import("io")?.getattr("FileIO")?)?;
    let is_compression = |extension: &str| ["bz2", "lzma", "xz", "zip"].contains(&extension);
    let is_compressed = compression_by_extension(&name).is_some()
        || name.extension().and_then(OsStr::to_str).is_some_and(is_compression);
    Ok(if is_compressed && !is_raw { name.with_extension("") } else { name })
}

/// The path, if the object is one.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> Option<PathBuf> {
    let is_path = object.is_instance_of::<PyString>() || object.hasattr("__fspath__").unwrap_or(false);
    is_path.then(|| object.extract().ok()).flatten()
}

fn unknown(object: &Bound<'_, PyAny>) -> PyErr {
    let kind = object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("{kind} is no path, no list of paths, no bytes and no file to read"))
}

/// The number of bytes read at a time.
const COPY_BYTES: usize = 1 << 20;

/// Copies the rest of a Python file to a temporary file, which threads can read at any offset and repeatedly.
fn copy(object: &Bound<'_, PyAny>) -> PyResult<File> {
    let (py, mut file) = (object.py(), temporary()?);
    loop {
        let chunk = object.call_method1("read", (COPY_BYTES,))?;
        let chunk = match chunk.cast::<PyString>() {
            Ok(text) => text.encode_utf8()?.into_any(),
            Err(_) if chunk.is_instance_of::<PyMemoryView>() => py.get_type::<PyBytes>().call1((chunk,))?,
            Err(_) => chunk,
        };
        if write(&mut file, &chunk)? == 0 {
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
