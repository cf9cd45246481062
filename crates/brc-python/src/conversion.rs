//! Converts tables, files and Arrow streams to files.

use crate::errors::OrRaise;
use crate::signals::watched;
use crate::source::{Source, path};
use crate::table::Table;
use crate::{capsule, words};
use brc_cli::embedding::{self, ConversionInput, Convert};
use brc_core::Progress;
use brc_encodings::RecordBatches;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// The outcome of a conversion: every row of the input is stored or rejected.
#[pyclass(frozen, get_all, module = "brc")]
pub(crate) struct Ledger {
    rows_read: u64,
    rows_stored: u64,
    rows_rejected: u64,
    /// The number of values that are written differently than in the input, by column.
    altered: Py<PyDict>,
    /// The reasons why rows were rejected, most frequent first: column or None, reason, rows, first line.
    reasons: Vec<Py<PyTuple>>,
    bytes_in: u64,
    bytes_out: u64,
    /// Other notes, one sentence each.
    notes: Vec<String>,
}

#[pymethods]
impl Ledger {
    fn __repr__(&self) -> String {
        let Self { rows_read, rows_stored, rows_rejected, bytes_in, bytes_out, .. } = self;
        format!(
            "Ledger(rows_read={rows_read}, rows_stored={rows_stored}, rows_rejected={rows_rejected}, \
             bytes_in={bytes_in}, bytes_out={bytes_out})"
        )
    }
}

impl Ledger {
    fn new(py: Python<'_>, ledger: embedding::Ledger) -> PyResult<Self> {
        let altered = PyDict::new(py);
        for (column, values) in ledger.altered {
            altered.set_item(column, values)?;
        }
        let converted = ledger.converted;
        let reason = |reason: &brc_encodings::RejectReason| {
            let kind = reason.fault.as_ref().map_or_else(|| "other reasons".to_owned(), brc_core::RowFault::kind);
            Ok((reason.column.clone(), kind, reason.rows, reason.first_line).into_pyobject(py)?.unbind())
        };
        Ok(Self {
            rows_read: converted.rows_read,
            rows_stored: converted.rows_stored,
            rows_rejected: converted.rows_rejected,
            altered: altered.unbind(),
            reasons: converted.reasons.iter().map(reason).collect::<PyResult<_>>()?,
            bytes_in: converted.bytes_in,
            bytes_out: converted.bytes_out,
            notes: ledger.notes,
        })
    }
}

/// Writes a table, or anything that `write` accepts, to a file. Options are those of `brc convert`; `progress` is
/// called with the rows and bytes read so far. The extension of the target determines its encoding, unless `to` is
/// given.
///
/// >>> import tempfile
/// >>> with tempfile.TemporaryDirectory() as directory:
/// ...     brc.convert(b"a\n1\n2\n", directory + "/a.parquet", compression="zstd").rows_stored
/// 2
#[pyfunction]
#[pyo3(signature = (source, target, *, progress=None, **options))]
pub(crate) fn convert(
    source: &Bound<'_, PyAny>,
    target: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Ledger> {
    let py = source.py();
    let mut words = words::of_options(options)?;
    if let Ok(table) = source.cast::<Table>() {
        let Some((of_table, paths)) = table.get().words(py)? else { return write(source, target, progress, options) };
        words.extend(of_table);
        return run(py, words, paths, &target, ConversionInput::Named, progress);
    }
    if source.hasattr("__arrow_c_stream__")? && path(source).is_none() {
        return write(source, target, progress, options);
    }
    match Source::of(source)? {
        Source::Paths(paths) => run(py, words, paths, &target, ConversionInput::Named, progress),
        Source::File(name, file) => {
            run(py, words, vec!["-".into()], &target, ConversionInput::File(name, file), progress)
        }
    }
}

/// Writes the rows of an object of another library to a file: anything with `__arrow_c_stream__`, and pandas objects.
///
/// >>> import pyarrow, tempfile
/// >>> with tempfile.TemporaryDirectory() as directory:
/// ...     brc.write(pyarrow.table({"a": [1, None]}), directory + "/a.buren").rows_stored
/// 2
#[pyfunction]
#[pyo3(signature = (object, target, *, progress=None, **options))]
pub(crate) fn write(
    object: &Bound<'_, PyAny>,
    target: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Ledger> {
    let py = object.py();
    let reader = capsule::stream_of(&streaming(object)?)?;
    let table = RecordBatches::new(Path::new("the stream"), Box::new(reader)).or_raise(py)?;
    run(py, words::of_options(options)?, vec!["-".into()], &target, ConversionInput::Table(Box::new(table)), progress)
}

/// Returns an object with a stream: the object itself, or its conversion by pyarrow.
fn streaming<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if object.hasattr("__arrow_c_stream__")? {
        return Ok(object.clone());
    }
    let py = object.py();
    let kind = object.get_type();
    let name = kind.fully_qualified_name()?.to_string();
    if name.starts_with("pandas.") {
        return py.import("pyarrow")?.getattr("Table")?.call_method1("from_pandas", (object,));
    }
    if object.hasattr("__arrow_c_array__")? {
        let batch = py.import("pyarrow")?.call_method1("record_batch", (object,))?;
        return py.import("pyarrow")?.getattr("Table")?.call_method1("from_batches", (vec![batch],));
    }
    Err(PyTypeError::new_err(format!("{name} has no __arrow_c_stream__")))
}

fn run(
    py: Python<'_>,
    words: Vec<OsString>,
    mut paths: Vec<PathBuf>,
    target: &Path,
    input: ConversionInput,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<Ledger> {
    paths.push(target.to_owned());
    let convert = Convert::from_words(&words::with_paths(words, paths)).or_raise(py)?;
    let progress = Progress::default();
    let report = || match callback {
        Some(callback) => callback.call1((progress.rows.load(Relaxed), progress.bytes.load(Relaxed))).map(drop),
        None => Ok(()),
    };
    let ledger = watched(py, report, || convert.run(input, &progress))?.or_raise(py)?;
    if callback.is_some() {
        report()?;
    }
    Ledger::new(py, ledger)
}
