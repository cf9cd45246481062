//! Iteration over record batches.

use crate::capsule;
use crate::errors::exception;
use crate::stream::{Failed, Stream};
use crate::warnings;
use arrow_array::{RecordBatch, RecordBatchIterator};
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// An iterator that reads record batches.
#[pyclass(frozen, module = "brc")]
pub(crate) struct Batches {
    stream: Mutex<Stream>,
    failed: Failed,
}

impl Batches {
    pub(crate) fn new(stream: Stream, failed: Failed) -> Self {
        Self { stream: Mutex::new(stream), failed }
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| self.stream.lock().next());
        match next {
            Some(Ok(batch)) => Ok(Some(Batch(batch))),
            Some(Err(error)) => Err(match self.failed.take() {
                Some(error) => py.check_signals().err().unwrap_or_else(|| exception(py, &error)),
                None => crate::errors::BrcError::new_err(error.to_string()),
            }),
            None => warnings::emit(py).map(|()| None),
        }
    }
}

/// A record batch, exported as an Arrow stream.
#[pyclass(frozen, module = "brc")]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Producers may ignore the requested schema.
        let _ = requested_schema;
        let schema = self.0.schema();
        capsule::of_stream(py, Box::new(RecordBatchIterator::new([Ok(self.0.clone())], schema)))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.0.schema())
    }
}
