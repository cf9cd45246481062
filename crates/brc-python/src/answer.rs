//! Answers to queries.

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
use brc_query::{Answered, LongAnswer, Plan, Query, QueryResult};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};
use std::sync::{Arc, OnceLock};

/// An answer to a query.
#[pyclass(frozen, name = "Result", module = "brc")]
pub(crate) struct Answer {
    opened: Arc<Opened>,
    query: Query,
    schema: Schema,
    dictionary: bool,
    /// The rows of the table, where they are the answer: they are read only when somebody asks for them.
    scan: Option<Scan>,
    found: OnceLock<(Plan, Arc<Found>)>,
    failed: Failed,
}

/// Rows that were found.
enum Found {
    Held(Box<QueryResult>),
    Long(Box<LongAnswer>),
}

impl Found {
    fn scan(&self, feed: &brc_arrow::Feed) -> brc_core::Result<()> {
        let of =
            |table: &dyn Table| feed.scan(table, table.schema().fields(), &ScanOptions::everything(table.schema()));
        match self {
            Self::Held(answer) => of(&answer.table()?),
            Self::Long(answer) => of(answer.as_ref()),
        }
    }
}

/// How many rows an answer shows of itself.
const SHOWN: u64 = 10;

impl Answer {
    /// Asks a table.
    ///
    /// # Errors
    /// What is wrong with the query, or with the table.
    pub(crate) fn ask(py: Python<'_>, opened: &Arc<Opened>, query: Query, dictionary: bool) -> PyResult<Self> {
        // Another thread does all of it, so that this one is waited for only once.
        let find = || match query.bind(opened.table.as_ref(), opened.files.threads(), &Progress::default())? {
            plan if plan.is_row_by_row() => Ok(None),
            _ => ask(opened, &query).map(Some),
        };
        let found = detached(py, find)?.or_raise(py)?;
        let opened = Arc::clone(opened);
        let failed = Failed::default();
        let Some(found) = found else {
            let scan = Scan::new(py, Arc::clone(&opened), query.clone(), Shape { dictionary, ..Shape::default() })?;
            let schema = scan.own_schema().clone();
            return Ok(Self { opened, query, schema, dictionary, scan: Some(scan), found: OnceLock::new(), failed });
        };
        let schema = match found.1.as_ref() {
            Found::Held(answer) => answer.table().or_raise(py)?.schema().clone(),
            Found::Long(answer) => answer.schema().clone(),
        };
        Ok(Self { opened, query, schema, dictionary, scan: None, found: OnceLock::from(found), failed })
    }

    fn options(&self) -> Options {
        let strings = if self.dictionary { StringForm::Dictionary } else { StringForm::View };
        Options { strings, threads: self.opened.files.threads(), ..Options::default() }
    }

    /// The columns as Arrow has them.
    fn arrow(&self) -> ArrowSchema {
        with_metadata(&self.schema, &self.options())
    }

    /// All rows.
    fn found(&self, py: Python<'_>) -> PyResult<&(Plan, Arc<Found>)> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = find(py, &self.opened, &self.query)?;
        Ok(self.found.get_or_init(|| found))
    }

    /// Calls `each` with all rows in memory.
    fn with_rows<T>(&self, py: Python<'_>, each: impl FnOnce(&Plan, &QueryResult) -> PyResult<T>) -> PyResult<T> {
        let (plan, found) = self.found(py)?;
        match found.as_ref() {
            Found::Held(answer) => each(plan, answer),
            Found::Long(answer) => {
                let threads = self.opened.files.threads();
                each(plan, &detached(py, || answer.load(threads))?.or_raise(py)?)
            }
        }
    }
}

fn find(py: Python<'_>, opened: &Arc<Opened>, query: &Query) -> PyResult<(Plan, Arc<Found>)> {
    detached(py, || ask(opened, query))?.or_raise(py)
}

fn ask(opened: &Opened, query: &Query) -> brc_core::Result<(Plan, Arc<Found>)> {
    let (table, files) = (opened.table.as_ref(), &opened.files);
    let (plan, answered) = query.ask_within(table, files.threads(), &files.memory(), &Progress::default())?;
    let found = match answered {
        Answered::Held(answer) => Found::Held(answer),
        Answered::Long(answer) => Found::Long(answer),
    };
    Ok((plan, Arc::new(found)))
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

    /// How many rows there are.
    #[getter]
    fn num_rows(&self, py: Python<'_>) -> PyResult<usize> {
        match self.found(py)?.1.as_ref() {
            Found::Held(answer) => Ok(answer.len()),
            Found::Long(answer) => match answer.rows() {
                Some(rows) => Ok(usize::try_from(rows).unwrap_or(usize::MAX)),
                None => self.with_rows(py, |_, answer| Ok(answer.len())),
            },
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.num_rows(py)
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let show = |plan: &Plan, answer: &QueryResult| embedding::shown(plan, answer).or_raise(py);
        let text = match self.found.get() {
            Some((plan, found)) => match found.as_ref() {
                Found::Held(answer) if answer.len() as u64 <= SHOWN => show(plan, answer)?,
                _ => self.shortened(py)?,
            },
            None => self.shortened(py)?,
        };
        Ok(text.trim_end().to_owned())
    }

    /// All rows as tuples of Python's own types. A time that these cannot hold to the nanosecond, or at all, is a string.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.with_rows(py, |_, answer| values::rows(py, answer))
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
        let stream = match (&self.scan, self.found.get()) {
            (Some(scan), None) => scan.stream(py, schema, self.failed.clone())?,
            _ => {
                let found = Arc::clone(&self.found(py)?.1);
                let opened = Arc::clone(&self.opened);
                let scan = move |feed: &brc_arrow::Feed| {
                    found.scan(feed).map_err(|error| located(error, opened.table.as_ref()))
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
    /// The first rows, and that there are more.
    fn shortened(&self, py: Python<'_>) -> PyResult<String> {
        let most = self.query.limit.map_or(SHOWN + 1, |limit| limit.min(SHOWN + 1));
        let (plan, found) = find(py, &self.opened, &Query { limit: Some(most), ..self.query.clone() })?;
        let loaded;
        let answer = match found.as_ref() {
            Found::Held(answer) => answer,
            Found::Long(answer) => {
                loaded = answer.load(1).or_raise(py)?;
                &loaded
            }
        };
        let text = embedding::shown(&plan, answer).or_raise(py)?;
        if (answer.len() as u64) <= SHOWN {
            return Ok(text);
        }
        // The names and a line come first; what is left out of a wide answer is told last.
        let last = 2 + SHOWN as usize;
        let line = |(number, line): (usize, &'_ str)| if number == last { " …".to_owned() } else { line.to_owned() };
        Ok(text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n"))
    }
}
