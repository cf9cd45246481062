//! Converts rows to objects of Python libraries, which are imported only here.

use crate::errors::exception;
use crate::stream::Failed;
use crate::warnings;
use pyo3::prelude::*;

/// A pyarrow.Table.
///
/// # Errors
/// The failure of the scan, or what pyarrow raises.
pub(crate) fn to_arrow<'py>(rows: &Bound<'py, PyAny>, failed: &Failed) -> PyResult<Bound<'py, PyAny>> {
    let pyarrow = rows.py().import("pyarrow")?;
    let reader = pyarrow.getattr("RecordBatchReader")?;
    // `table` would import pandas, if it is installed, just to check the type: 50 MB and half a second.
    let made = match reader.hasattr("from_stream")? {
        true => reader.call_method1("from_stream", (rows,)).and_then(|reader| reader.call_method0("read_all")),
        false => pyarrow.call_method1("table", (rows,)),
    };
    or_original_error(rows.py(), made, failed)
}

/// A polars.DataFrame.
///
/// # Errors
/// The failure of the scan, or what Polars raises.
pub(crate) fn to_polars<'py>(rows: &Bound<'py, PyAny>, failed: &Failed) -> PyResult<Bound<'py, PyAny>> {
    let polars = rows.py().import("polars")?;
    or_original_error(rows.py(), polars.call_method1("DataFrame", (rows,)), failed)
}

/// A pandas.DataFrame.
///
/// # Errors
/// The failure of the scan, or what pandas raises.
pub(crate) fn to_pandas<'py>(rows: &Bound<'py, PyAny>, failed: &Failed) -> PyResult<Bound<'py, PyAny>> {
    let frame = rows.py().import("pandas")?.getattr("DataFrame")?;
    if frame.hasattr("from_arrow")? {
        return or_original_error(rows.py(), frame.call_method1("from_arrow", (rows,)), failed);
    }
    to_arrow(rows, failed)?.call_method0("to_pandas")
}

/// Returns the object, or raises the original error of the stream, of which the library has only the text.
fn or_original_error<'py>(
    py: Python<'py>,
    made: PyResult<Bound<'py, PyAny>>,
    failed: &Failed,
) -> PyResult<Bound<'py, PyAny>> {
    warnings::emit(py)?;
    made.map_err(|raised| match failed.take() {
        Some(brc_core::Error::Interrupted) => {
            py.check_signals().err().unwrap_or_else(|| exception(py, &brc_core::Error::Interrupted))
        }
        Some(error) => exception(py, &error),
        None => raised,
    })
}
