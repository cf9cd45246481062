//! Lazy scans of tables.

use crate::batches::Batches;
use crate::errors::OrRaise;
use crate::stream::{Failed, Stream};
use crate::table::Opened;
use crate::{capsule, frames};
use arrow_schema::Schema as ArrowSchema;
use brc_arrow::{Options, Reader, StringForm, arrow_schema, located, requested_schema};
use brc_core::{Field, ScanOptions, Schema, Table, current_schema};
use brc_query::{Expression, Query, SelectItem};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::Arc;

/// A scan of some columns and rows of a table.
#[pyclass(frozen, module = "brc")]
#[derive(Clone)]
pub(crate) struct Scan {
    opened: Arc<Opened>,
    query: Query,
    /// The indices of the columns in the table, if there is no condition.
    projection: Option<Vec<usize>>,
    schema: Schema,
    limit: Option<u64>,
    options: Options,
    failed: Failed,
}

/// The options of a scan.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shape {
    /// The number of first rows to read.
    pub(crate) limit: Option<u64>,
    /// The maximum number of rows per record batch.
    pub(crate) batch_size: Option<usize>,
    /// Whether strings are dictionary-encoded.
    pub(crate) dictionary: bool,
}

/// Up to this limit, rows of a table without a condition are read by a single thread, because more would read ahead.
const MAX_ROWS_FOR_ONE_THREAD: u64 = 1 << 16;

impl Scan {
    /// A scan of columns of the rows that satisfy a condition.
    ///
    /// # Errors
    /// As for [`Scan::new`].
    pub(crate) fn of_columns(
        py: Python<'_>,
        opened: Arc<Opened>,
        columns: Option<&[String]>,
        filter: Option<Expression>,
        shape: Shape,
    ) -> PyResult<Self> {
        let item = |name: &String| SelectItem::Expression { expression: Expression::column(name), alias: None };
        let select = columns.map_or(vec![SelectItem::ALL], |names| names.iter().map(item).collect());
        let is_filtered = filter.is_some();
        let scan = Self::new(py, opened, Query { select: Some(select), filter, ..Query::everything() }, shape)?;
        if is_filtered {
            return Ok(scan);
        }
        // Without a condition nothing has to be computed.
        let types = current_schema(scan.opened.table.as_ref());
        let position = |name: &String| types.fields().iter().position(|field| field.name == *name);
        let projection = match columns {
            Some(names) => names.iter().map(position).collect(),
            None => Some((0..types.fields().len()).collect()),
        };
        Ok(Self { projection, ..scan })
    }

    /// A scan of the rows of a row-by-row query, up to the limit.
    ///
    /// # Errors
    /// Errors of the query, or of reading the table if its types must be inferred first.
    pub(crate) fn new(
        py: Python<'_>,
        opened: Arc<Opened>,
        query: Query,
        Shape { limit, batch_size, dictionary }: Shape,
    ) -> PyResult<Self> {
        let types = opened.schema(py)?;
        let schema = {
            let plan = query.plan(&types).or_raise(py)?;
            plan.selected(opened.table.as_ref()).or_raise(py)?.schema().clone()
        };
        let defaults = Options { threads: opened.files.threads(), ..Options::default() };
        let is_short = query.filter.is_none() && limit.is_some_and(|limit| limit <= MAX_ROWS_FOR_ONE_THREAD);
        let options = Options {
            batch_rows: batch_size.unwrap_or(defaults.batch_rows).max(1),
            strings: if dictionary { StringForm::Dictionary } else { StringForm::View },
            threads: if is_short { 1 } else { defaults.threads },
            ..defaults
        };
        let failed = Failed::default();
        Ok(Self { opened, query, projection: None, schema, limit, options, failed })
    }

    /// The Arrow schema.
    pub(crate) fn arrow(&self) -> ArrowSchema {
        with_metadata(&self.schema, &self.options)
    }

    pub(crate) fn own_schema(&self) -> &Schema {
        &self.schema
    }

    /// Starts reading. `schema` has the columns of the scan, possibly with requested types.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(crate) fn stream(&self, py: Python<'_>, schema: ArrowSchema, failed: Failed) -> PyResult<Stream> {
        if self.limit == Some(0) {
            return Ok(Stream::empty(schema.into()));
        }
        let (opened, query, fields) = (Arc::clone(&self.opened), self.query.clone(), self.schema.fields().to_vec());
        let projection = self.projection.clone();
        let read = move |table: &dyn Table, feed: &brc_arrow::Feed| {
            if let Some(projection) = projection {
                let request = ScanOptions { projection, ..ScanOptions::everything(table.schema()) };
                return feed.scan(table, &fields, &request);
            }
            let plan = query.plan(&current_schema(table))?;
            let rows = plan.selected(table)?;
            feed.scan(&rows, &fields, &ScanOptions::everything(rows.schema()))
        };
        let scan = move |feed: &brc_arrow::Feed| {
            let table = opened.table.as_ref();
            read(table, feed).map_err(|error| located(error, table))
        };
        let reader = Reader::new(schema, self.options.clone(), scan).or_raise(py)?;
        Ok(Stream::new(reader, self.limit, failed))
    }
}

#[pymethods]
impl Scan {
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

    fn __repr__(&self) -> String {
        format!("<brc.Scan of {}: {}>", self.opened.table.path().display(), self.schema)
    }

    /// The rows as an Arrow stream; each call starts a new scan.
    #[pyo3(signature = (requested_schema=None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = requested(self.arrow(), requested_schema)?;
        capsule::of_stream(py, Box::new(self.stream(py, schema, self.failed.clone())?))
    }

    /// The rows as record batches.
    fn __iter__(&self, py: Python<'_>) -> PyResult<Batches> {
        let failed = Failed::default();
        Ok(Batches::new(self.stream(py, self.arrow(), failed.clone())?, failed))
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

/// The names and types of columns as a dict.
pub(crate) fn described<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for Field { name, logical_type, nullable } in schema.fields() {
        let not_null = if *nullable { "" } else { " not null" };
        columns.set_item(name, format!("{logical_type}{not_null}"))?;
    }
    Ok(columns)
}

/// The schema of record batches, including the metadata of the table.
pub(crate) fn with_metadata(schema: &Schema, options: &Options) -> ArrowSchema {
    arrow_schema(schema.fields(), options).with_metadata(schema.metadata().iter().cloned().collect())
}

/// The schema with the requested types, as far as they can be converted without loss.
pub(crate) fn requested(own: ArrowSchema, requested: Option<&Bound<'_, PyAny>>) -> PyResult<ArrowSchema> {
    match requested.filter(|requested| !requested.is_none()) {
        Some(requested) => Ok(requested_schema(&own, &capsule::schema_of(requested)?)),
        None => Ok(own),
    }
}
