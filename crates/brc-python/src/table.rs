//! Open tables.

use crate::answer::Answer;
use crate::errors::{OrRaise, UsageError};
use crate::scan::{self, Scan, Shape};
use crate::signals::detached;
use crate::source::Source;
use crate::{capsule, words};
use brc_cli::embedding::{self, Files};
use brc_core::{Progress, Schema, current_schema, read_rows};
use brc_encodings::remote::is_in_store;
use brc_query::{Expression, OrderBy, Query};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyString, PyTuple};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// An open table with cached facts.
pub(crate) struct Opened {
    pub(crate) table: Arc<dyn brc_core::Table>,
    pub(crate) files: Files,
    /// Set once all rows were read for their types.
    has_all_types: OnceLock<()>,
    rows: OnceLock<u64>,
}

impl Opened {
    /// The columns with their final types.
    ///
    /// # Errors
    /// If rows must be read to infer types, and cannot be.
    pub(crate) fn schema(&self, py: Python<'_>) -> PyResult<Arc<Schema>> {
        if self.table.inferred().is_some() && self.has_all_types.get().is_none() {
            let (table, threads) = (self.table.as_ref(), self.files.threads());
            detached(py, || read_rows(table, threads, &Progress::default()))?.or_raise(py)?;
            self.has_all_types.get_or_init(|| ());
        }
        Ok(current_schema(self.table.as_ref()))
    }

    fn num_rows(&self, py: Python<'_>) -> PyResult<u64> {
        if let Some(rows) = self.table.rows().or(self.rows.get().copied()) {
            return Ok(rows);
        }
        let query = Query::parse("select count(*)").map_err(brc_core::Error::from).or_raise(py)?;
        let (table, threads) = (self.table.as_ref(), self.files.threads());
        let answer = detached(py, || query.ask(table, threads, &Progress::default()))?.or_raise(py)?.1;
        let only = answer.blocks().next().transpose().or_raise(py)?;
        let count = only.as_ref().and_then(|block| block.rows().next()?.value(0));
        let Some(brc_core::Value::Integer(count)) = count else { return Ok(0) };
        Ok(*self.rows.get_or_init(|| u64::try_from(count).unwrap_or(0)))
    }
}

/// A table: open files whose rows are not in memory.
///
/// It can be read as an Arrow stream any number of times, for example by pyarrow, Polars, pandas or DuckDB.
///
/// >>> import brc
/// >>> table = brc.open(b"city,price\nRome,2.50\nOslo,4.00\n")
/// >>> table.schema, len(table)
/// ({'city': 'string', 'price': 'decimal(18,2)'}, 2)
#[pyclass(frozen, module = "brc")]
pub(crate) struct Table {
    pub(crate) opened: Arc<Opened>,
    /// The paths and options it was opened with, so that any process can reopen it; `None` for bytes.
    origin: Option<(Vec<PathBuf>, Option<Py<PyDict>>)>,
}

/// Opens a table: a path, a glob, a directory, a URL (`https://`, `s3://`, `gs://` …), a list of those, bytes, or a
/// file object.
///
/// Options are those of the program. For text, everything that is not given is detected, and types are inferred from
/// all rows.
///
/// >>> brc.open(b"a;b\n1;NA\n", delimiter=";", null=["NA"], types={"a": "string"}).head().rows()
/// [('1', None)]
#[pyfunction]
#[pyo3(signature = (source, **options))]
pub(crate) fn open(source: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Table> {
    let py = source.py();
    let (source, words) = (Source::of(source)?, words::of_options(options)?);
    let (table, files, origin) = match source {
        Source::Paths(paths) => {
            let files = Files::from_words(&words::with_paths(words, paths.iter().cloned())).or_raise(py)?;
            let table = detached(py, || files.open())?.or_raise(py)?;
            let options = options.map(PyDictMethods::copy).transpose()?;
            let working = std::env::current_dir()?;
            let absolute = |path: &PathBuf| if is_in_store(path) { path.clone() } else { working.join(path) };
            let paths = paths.iter().map(absolute).collect();
            (table, files, Some((paths, options.map(Bound::unbind))))
        }
        Source::File(name, file) => {
            let files = Files::from_words(&words::with_paths(words, [PathBuf::from("-")])).or_raise(py)?;
            let table = detached(py, || files.open_file(&name, file))?.or_raise(py)?;
            (table, files, None)
        }
    };
    let opened = Opened { table: Arc::from(table), files, has_all_types: OnceLock::new(), rows: OnceLock::new() };
    Ok(Table { opened: Arc::new(opened), origin })
}

#[pymethods]
impl Table {
    /// The column names, with types in the form that the option schema accepts.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        scan::described(py, self.opened.schema(py)?.as_ref())
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        Ok(self.opened.schema(py)?.fields().iter().map(|field| field.name.clone()).collect())
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self, py: Python<'_>) -> PyResult<u64> {
        self.opened.num_rows(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.opened.num_rows(py)?).unwrap_or(usize::MAX))
    }

    fn __bool__(&self) -> bool {
        true
    }

    /// Notes on how the table was opened, one sentence each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.opened.table.notes()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let table = self.opened.table.as_ref();
        let columns = current_schema(table).fields().len();
        let rows = table.rows().or(self.opened.rows.get().copied());
        let rows = rows.map(|rows| format!("{} × ", brc_core::decimal::counted(rows, "row"))).unwrap_or_default();
        let columns = brc_core::decimal::counted(columns as u64, "column");
        // An error must not prevent showing the table.
        let shown = detached(py, || embedding::preview(table, 5))?.unwrap_or_else(|error| error.to_string());
        Ok(format!("{}: {rows}{columns}\n{}", table.path().display(), shown.trim_end()))
    }

    /// A lazy scan of some columns of the rows that satisfy a SQL condition.
    ///
    /// Strings are views, or dictionary-encoded if dictionary is set.
    ///
    /// >>> import brc
    /// >>> table = brc.open(b"city,n\nRome,1\nOslo,2\nRome,3\n")
    /// >>> table.scan(columns=["n"], where="city = 'Rome'", limit=5).to_arrow()["n"].to_pylist()
    /// [1, 3]
    #[pyo3(signature = (columns=None, r#where=None, limit=None, batch_size=None, dictionary=false))]
    fn scan(
        &self,
        py: Python<'_>,
        columns: Option<&Bound<'_, PyAny>>,
        r#where: Option<&str>,
        limit: Option<i64>,
        batch_size: Option<i64>,
        dictionary: bool,
    ) -> PyResult<Scan> {
        let filter = r#where.map(Expression::parse).transpose().map_err(brc_core::Error::from).or_raise(py)?;
        let columns = columns.map(names).transpose()?;
        if columns.as_ref().is_some_and(Vec::is_empty) {
            return Err(UsageError::new_err("columns: at least one is needed"));
        }
        let limit = limit.map(|limit| at_least("limit", limit, 0)).transpose()?;
        let batch_size = batch_size.map(|size| at_least("batch_size", size, 1)).transpose()?;
        let batch_size = batch_size.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let shape = Shape { limit, batch_size, dictionary };
        Scan::of_columns(py, Arc::clone(&self.opened), columns.as_deref(), filter, shape)
    }

    /// Runs a query: in SQL, or given as keys, aggregates and a condition.
    ///
    /// >>> import brc
    /// >>> table = brc.open(b"city,n\nRome,1\nOslo,2\nRome,3\n")
    /// >>> table.query("select city, max(n) group by city order by 2").rows()
    /// [('Oslo', 2), ('Rome', 3)]
    /// >>> table.query(by="city", agg=["count(*)"], where="n > 1").rows()
    /// [('Oslo', 1), ('Rome', 1)]
    #[pyo3(signature = (sql=None, *, by=None, agg=None, r#where=None, having=None, order_by=None, limit=None, dictionary=false))]
    #[allow(clippy::too_many_arguments, reason = "the options of the command")]
    fn query(
        &self,
        py: Python<'_>,
        sql: Option<&str>,
        by: Option<&Bound<'_, PyAny>>,
        agg: Option<&Bound<'_, PyAny>>,
        r#where: Option<&str>,
        having: Option<&str>,
        order_by: Option<&Bound<'_, PyAny>>,
        limit: Option<i64>,
        dictionary: bool,
    ) -> PyResult<Answer> {
        let limit = limit.map(|limit| at_least("limit", limit, 0)).transpose()?;
        let query = match sql {
            Some(sql) => {
                let others = [by.is_some(), agg.is_some(), r#where.is_some(), having.is_some(), order_by.is_some()];
                if others.contains(&true) || limit.is_some() {
                    return Err(UsageError::new_err(
                        "a SQL query cannot be combined with by, agg and the other arguments",
                    ));
                }
                Query::parse(sql).map_err(brc_core::Error::from).or_raise(py)?
            }
            None => {
                let [by, agg, order_by] = [by, agg, order_by].map(|list| list.map(listed).transpose());
                let (by, agg, order_by) = (by?, agg?, order_by?);
                let parse = || -> brc_core::Result<Query> {
                    let list = |text: Option<String>| text.as_deref().map(Expression::parse_list).transpose();
                    let one = |text: Option<&str>| text.map(Expression::parse).transpose();
                    let by = match by.as_deref() {
                        Some(text) if text.trim().is_empty() => Some(Vec::new()),
                        _ => list(by)?,
                    };
                    let order_by = order_by.as_deref().map_or(Ok(Vec::new()), OrderBy::parse_list)?;
                    let (aggregates, filter, having) = (list(agg)?, one(r#where)?, one(having)?);
                    Ok(Query { by, aggregates, filter, having, order_by, limit, ..Query::default() })
                };
                parse().or_raise(py)?
            }
        };
        Answer::ask(py, &self.opened, query, dictionary)
    }

    /// The first rows.
    #[pyo3(signature = (rows=10))]
    fn head(&self, py: Python<'_>, rows: i64) -> PyResult<Answer> {
        let rows = at_least("rows", rows, 0)?;
        Answer::ask(py, &self.opened, Query { limit: Some(rows), ..Query::everything() }, false)
    }

    /// Checks all files for damage. Returns the numbers of files, rows and bytes.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.named()?;
        let files = &self.opened.files;
        let verified = detached(py, || files.verify(&Progress::default()))?.or_raise(py)?;
        let sums = PyDict::new(py);
        sums.set_item("files", verified.len())?;
        sums.set_item("rows", verified.iter().map(|(_, verified)| verified.rows).sum::<u64>())?;
        sums.set_item("bytes", verified.iter().map(|(_, verified)| verified.bytes).sum::<u64>())?;
        Ok(sums)
    }

    /// How the file is stored, as in `brc inspect --json`; a list for several files.
    fn inspect<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.named()?;
        let files = &self.opened.files;
        let described = detached(py, || files.describe())?.or_raise(py)?;
        let loads = py.import("json")?.getattr("loads")?;
        if let [(_, text)] = described.as_slice() {
            return loads.call1((text,));
        }
        let each = described.iter().map(|(path, text)| {
            let facts = loads.call1((text,))?;
            facts.set_item("file", path.display().to_string())?;
            Ok(facts)
        });
        Ok(each.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?.into_any())
    }

    /// All rows as an Arrow stream; each call starts a new scan.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.all(py)?.__arrow_c_stream__(py, requested_schema)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::of_schema(py, &self.all(py)?.arrow())
    }

    /// All rows as a pyarrow.Table.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.all(py)?)?.call_method0("to_arrow")
    }

    /// All rows as a polars.DataFrame.
    fn to_polars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.all(py)?)?.call_method0("to_polars")
    }

    /// All rows as a pandas.DataFrame.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Bound::new(py, self.all(py)?)?.call_method0("to_pandas")
    }

    /// Pickles the paths and options, which another process opens again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (paths, options) = self.named()?;
        let options = options.as_ref().map_or_else(|| PyDict::new(py), |options| options.bind(py).clone());
        let reopen = py.import("brc")?.getattr("_reopen")?;
        // As text, because a Python path would collapse the two slashes of a URL.
        let paths: Vec<OsString> = paths.iter().map(|path| path.clone().into_os_string()).collect();
        (reopen, (paths, options)).into_pyobject(py)
    }
}

impl Table {
    fn all(&self, py: Python<'_>) -> PyResult<Scan> {
        Scan::of_columns(py, Arc::clone(&self.opened), None, None, Shape::default())
    }

    /// The paths and options of named files.
    fn named(&self) -> PyResult<&(Vec<PathBuf>, Option<Py<PyDict>>)> {
        self.origin.as_ref().ok_or_else(|| PyTypeError::new_err("this needs a table of named files"))
    }

    /// The options and paths as command-line words, to open the files again.
    pub(crate) fn words(&self, py: Python<'_>) -> PyResult<Option<(Vec<OsString>, Vec<PathBuf>)>> {
        let Some((paths, options)) = &self.origin else { return Ok(None) };
        Ok(Some((words::of_options(options.as_ref().map(|options| options.bind(py)))?, paths.clone())))
    }
}

/// Column names from any iterable, except a string, which would yield its characters.
fn names(columns: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if columns.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("columns: a list of names, as in columns=[\"name\"]"));
    }
    columns.try_iter()?.map(|name| name?.extract()).collect()
}

/// Checks a number of rows.
fn at_least(name: &str, number: i64, least: u64) -> PyResult<u64> {
    match u64::try_from(number) {
        Ok(rows) if rows >= least => Ok(rows),
        _ => Err(UsageError::new_err(format!("{name}: {number} is less than {least}"))),
    }
}

/// Expressions given as one text or as a list of texts.
fn listed(list: &Bound<'_, PyAny>) -> PyResult<String> {
    match list.extract::<String>() {
        Ok(text) => Ok(text),
        Err(_) => Ok(list.extract::<Vec<String>>()?.join(",")),
    }
}
