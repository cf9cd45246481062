//! Detects the format of files.

use crate::errors::OrRaise;
use crate::scan::described;
use crate::signals::detached;
use crate::source::Source;
use crate::words;
use brc_cli::embedding::{FileFormat, Files};
use brc_core::current_schema;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// The detected format of a file, with the evidence.
#[pyclass(frozen, get_all, module = "brc")]
pub(crate) struct Sniffed {
    encoding: &'static str,
    compression: &'static str,
    /// The parts of the dialect of a text file, by option name.
    dialect: Py<PyDict>,
    /// The evidence for each part.
    evidence: Py<PyDict>,
    /// The columns with their types, inferred from a sample.
    schema: Py<PyDict>,
    /// Suggestions, one sentence each.
    advice: Vec<String>,
}

#[pymethods]
impl Sniffed {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Self { encoding, compression, dialect, schema, .. } = self;
        let (dialect, schema) = (dialect.bind(py).repr()?, schema.bind(py).repr()?);
        Ok(format!("Sniffed(encoding='{encoding}', compression='{compression}', dialect={dialect}, schema={schema})"))
    }
}

/// Detects the format of a file. Column types are inferred from a sample.
///
/// >>> brc.sniff(b"a;b\n1;2\n").dialect["delimiter"]
/// "';'"
#[pyfunction]
#[pyo3(signature = (source, **options))]
pub(crate) fn sniff(source: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Sniffed> {
    let py = source.py();
    let words = words::of_options(options)?;
    let sniffed = match Source::of(source)? {
        Source::Paths(paths) => {
            let files = Files::from_words(&words::with_paths(words, paths)).or_raise(py)?;
            detached(py, || files.sniff())?
        }
        Source::File(name, file) => {
            let files = Files::from_words(&words::with_paths(words, [PathBuf::from("-")])).or_raise(py)?;
            detached(py, || files.sniff_file(&name, file))?
        }
    };
    let (format, table) = sniffed.or_raise(py)?;
    let FileFormat { encoding, compression, parts, advice } = format;
    let (dialect, evidence) = (PyDict::new(py), PyDict::new(py));
    for part in parts {
        let name = part.option.trim_start_matches("--").replace('-', "_");
        dialect.set_item(&name, part.value)?;
        evidence.set_item(&name, part.evidence)?;
    }
    let schema = described(py, &current_schema(table.as_ref()))?.unbind();
    Ok(Sniffed { encoding, compression, dialect: dialect.unbind(), evidence: evidence.unbind(), schema, advice })
}
