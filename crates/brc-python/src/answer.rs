//! Query results.

use crate::errors::OrRaise;
use crate::scan::{Scan, Shape, described, requested, with_metadata};
use crate::signals::detached;
use crate::stream::{Failed, Stream};
use crate::table::Opened;
use crate::{capsule, frames, values};
use arrow_schema::Schema as ArrowSchema;
use brc_arrow::{Options, Reader, StringForm, located};
use brc_cli::embedding;
use brc_core::{Progress, ScanOptions, Schema, Table};
use brc_query::{Plan, Query};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::{Arc, OnceLock};

/// The result of a query.
#[pyclass(frozen, name = "Result", module = "brc")]
pub(crate) struct Answer {
    opened: Arc<Opened>,
    query: Query,
    schema: Schema,
    dictionary: bool,
    /// The scan of a row-by-row query, which is run only when rows are requested.
    scan: Option<Scan>,
    computed: OnceLock<Computed>,
    failed: Failed,
}

/// A computed result, and the plan of its query.
type Computed = (Plan, Arc<brc_query::Answer>);

/// The number of rows in the `repr` of a result.
const REPR_ROWS: u64 = 10;

impl Answer {
    /// Runs a query on a table.
    ///
    /// # Errors
    /// Errors of the query or the table.
    pub(crate) fn ask(py: Python<'_>, opened: &Arc<Opened>, query: Query, dictionary: bool) -> PyResult<Self> {
        // All of it runs on one other thread, so that this thread waits only once.
        let run = || match query.bind(opened.table.as_ref(), opened.files.threads(), &Progress::default())? {
            plan if plan.is_row_by_row() => Ok(None),
            _ => compute(opened, &query).map(Some),
        };
        let computed = detached(py, run)?.or_raise(py)?;
        let opened = Arc::clone(opened);
        let failed = Failed::default();
        let Some(computed) = computed else {
            let scan = Scan::new(py, Arc::clone(&opened), query.clone(), Shape { dictionary, ..Shape::default() })?;
            let schema = scan.own_schema().clone();
            return Ok(Self { opened, query, schema, dictionary, scan: Some(scan), computed: OnceLock::new(), failed });
        };
        let schema = computed.1.schema().clone();
        Ok(Self { opened, query, schema, dictionary, scan: None, computed: OnceLock::from(computed), failed })
    }

    fn options(&self) -> Options {
        let strings = if self.dictionary { StringForm::Dictionary } else { StringForm::View };
        Options { strings, threads: self.opened.files.threads(), ..Options::default() }
    }

    /// The Arrow schema.
    fn arrow(&self) -> ArrowSchema {
        with_metadata(&self.schema, &self.options())
    }

    /// The computed result.
    fn computed(&self, py: Python<'_>) -> PyResult<&Computed> {
        if let Some(computed) = self.computed.get() {
            return Ok(computed);
        }
        let computed = compute_detached(py, &self.opened, &self.query)?;
        Ok(self.computed.get_or_init(|| computed))
    }
}

fn compute_detached(py: Python<'_>, opened: &Arc<Opened>, query: &Query) -> PyResult<Computed> {
    detached(py, || compute(opened, query))?.or_raise(py)
}

fn compute(opened: &Opened, query: &Query) -> brc_core::Result<Computed> {
    let (table, files) = (opened.table.as_ref(), &opened.files);
    let (plan, answer) = query.ask_within(table, files.threads(), &files.memory(), &Progress::default())?;
    Ok((plan, Arc::new(answer)))
}

#[pymethods]
impl Answer {
    /// The columns: their names and types.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        described(py, &self.schema)
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name.clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self, py: Python<'_>) -> PyResult<usize> {
        let (_, answer) = self.computed(py)?;
        let rows = match answer.rows() {
            Some(rows) => rows,
            None => detached(py, || answer.count_rows(self.opened.files.threads()))?.or_raise(py)?,
        };
        Ok(usize::try_from(rows).unwrap_or(usize::MAX))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.num_rows(py)
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = match self.computed.get() {
            Some((plan, answer)) if answer.rows().is_some_and(|rows| rows <= REPR_ROWS) => {
                embedding::shown(plan, answer).or_raise(py)?
            }
            _ => self.shortened(py)?,
        };
        Ok(text.trim_end().to_owned())
    }

    /// All rows as tuples of Python objects. A date or time that Python cannot represent exactly is a string.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        values::rows(py, &self.computed(py)?.1)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.rows(py)?.call_method0("__iter__")
    }

    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = requested(self.arrow(), requested_schema)?;
        let stream = match (&self.scan, self.computed.get()) {
            (Some(scan), None) => scan.stream(py, schema, self.failed.clone())?,
            _ => {
                let answer = Arc::clone(&self.computed(py)?.1);
                let opened = Arc::clone(&self.opened);
                let scan = move |feed: &brc_arrow::Feed| {
                    let read = feed.scan(&*answer, answer.schema().fields(), &ScanOptions::everything(answer.schema()));
                    read.map_err(|error| located(error, opened.table.as_ref()))
                };
                let reader = Reader::new(schema, self.options(), scan).or_raise(py)?;
                Stream::new(reader, None, self.failed.clone())
            }
        };
        capsule::of_stream(py, Box::new(stream))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.arrow())
    }

    /// The rows as a pyarrow.Table.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames::to_arrow(slf, &slf.get().failed)
    }

    /// The rows as a polars.DataFrame.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames::to_polars(slf, &slf.get().failed)
    }

    /// The rows as a pandas.DataFrame.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames::to_pandas(slf, &slf.get().failed)
    }
}

impl Answer {
    /// Formats the first rows, with an ellipsis if there are more.
    fn shortened(&self, py: Python<'_>) -> PyResult<String> {
        let most = self.query.limit.map_or(REPR_ROWS + 1, |limit| limit.min(REPR_ROWS + 1));
        let (plan, answer) = compute_detached(py, &self.opened, &Query { limit: Some(most), ..self.query.clone() })?;
        let text = embedding::shown(&plan, &answer).or_raise(py)?;
        if answer.rows().is_some_and(|rows| rows <= REPR_ROWS) {
            return Ok(text);
        }
        // The header has two lines; the note about omitted columns comes last.
        let last = 2 + REPR_ROWS as usize;
        let line = |(number, line): (usize, &'_ str)| if number == last { " …".to_owned() } else { line.to_owned() };
        Ok(text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n"))
    }
}
