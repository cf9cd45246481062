//! A file, or several files, as a table of DataFusion.

use crate::cluster::{Origin, PartitionQuery, SplitAssignment, scan_partitioned};
use crate::error::{external, of_arrow};
use crate::leaf::Leaf;
use crate::scan::Scan;
use crate::session::is_in_cluster;
use crate::sql;
use crate::statistics::table_statistics;
use async_trait::async_trait;
use brc_arrow::Options;
use brc_core::{Error, Progress, Schema, Split, Table, UnsupportedColumn, identifier, read_rows};
use brc_encodings::FileIdentity;
use brc_query::{Plan, Query};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Statistics};
use datafusion::error::Result;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::sync::{Arc, OnceLock};

/// A table of brc in DataFusion.
#[derive(Clone)]
pub struct FileTable {
    table: Arc<dyn Table>,
    /// The columns, with types inferred from all rows.
    columns: Schema,
    arrow: SchemaRef,
    options: Options,
    threads: usize,
    progress: Arc<Progress>,
    statistics: Arc<OnceLock<Statistics>>,
    /// The origin of its files, if it was opened by paths.
    origin: Option<Arc<Origin>>,
    /// The identities of the files, determined on first use.
    files: Arc<OnceLock<Vec<FileIdentity>>>,
}

/// The resources for reading tables.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// The number of threads.
    pub threads: usize,
    /// The memory limit for opening a table in bytes, if any.
    pub memory: Option<u64>,
    /// The progress of scans of all tables.
    pub progress: Arc<Progress>,
    /// Whether tables are read in a cluster, which needs the identities of their files.
    pub in_cluster: bool,
}

impl Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileTable").field("path", &self.table.path()).finish_non_exhaustive()
    }
}

impl FileTable {
    /// Wraps a table that is read by the given number of threads. If types are inferred, all rows are read first.
    ///
    /// # Errors
    /// Errors of reading the table.
    pub fn new(table: Arc<dyn Table>, threads: usize) -> brc_core::Result<Self> {
        Self::with_progress(table, threads, Arc::default())
    }

    /// Like [`FileTable::new`]; `progress` counts this and all later scans.
    ///
    /// # Errors
    /// As for [`FileTable::new`].
    pub fn with_progress(table: Arc<dyn Table>, threads: usize, progress: Arc<Progress>) -> brc_core::Result<Self> {
        if table.inferred().is_some() {
            read_rows(&*table, threads, &progress)?;
        }
        let columns = table.inferred().as_deref().unwrap_or(table.schema()).clone();
        let options = Options::default();
        let arrow = Arc::new(brc_arrow::arrow_schema(columns.fields(), &options));
        Ok(Self {
            table,
            columns,
            arrow,
            options,
            threads,
            progress,
            statistics: Arc::default(),
            origin: None,
            files: Arc::default(),
        })
    }

    /// Opens files, globs or directories as one table, with options of `brc query` for files. The table can be read in
    /// a cluster.
    ///
    /// # Errors
    /// If they cannot be read or do not form a table; as for [`FileTable::new`].
    pub fn open(paths: &[&str], options: &[OsString], resources: &Resources) -> brc_core::Result<Self> {
        let origin = Origin::new(paths, options)?;
        // Identities are taken first, so that later changes are noticed.
        let files = resources.in_cluster.then(|| origin.identities()).transpose()?;
        Ok(origin.open(resources)?.with_origin(origin, files))
    }

    /// Sets the origin of the table, and the identities of its files if they are known.
    pub(crate) fn with_origin(self, origin: Origin, files: Option<Vec<FileIdentity>>) -> Self {
        let files = files.map_or_else(OnceLock::new, OnceLock::from);
        Self { origin: Some(Arc::new(origin)), files: Arc::new(files), ..self }
    }

    /// Reads strings as `Binary`, including those that are not UTF-8.
    #[must_use]
    pub fn with_strings_as_binary(self) -> Self {
        let options = Options { strings_as_binary: true, ..self.options };
        let arrow = Arc::new(brc_arrow::arrow_schema(self.columns.fields(), &options));
        Self { arrow, options, statistics: Arc::default(), ..self }
    }

    /// The columns of the file that are not supported: lists and structs.
    #[must_use]
    pub fn unsupported_columns(&self) -> &[UnsupportedColumn] {
        self.columns.unsupported_columns()
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<dyn Table> {
        &self.table
    }

    /// The columns.
    pub(crate) fn columns(&self) -> &Schema {
        &self.columns
    }

    /// The progress of scans.
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// The options for converting values to Arrow.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// The origin of its files, if it was opened by paths.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// The identities of the files; `known_now` determines them on first use.
    pub(crate) fn files_or(
        &self,
        known_now: impl FnOnce() -> brc_core::Result<Vec<FileIdentity>>,
    ) -> brc_core::Result<&[FileIdentity]> {
        if let Some(files) = self.files.get() {
            return Ok(files);
        }
        let now = known_now()?;
        Ok(self.files.get_or_init(|| now))
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The splits; `None` for a stream, whose end is unknown.
    pub(crate) fn splits(&self) -> Option<Vec<Split>> {
        /// A table with this many splits is taken for a stream.
        const STREAM_SPLITS: u64 = 1 << 20;
        let is_stream = self.table.split(STREAM_SPLITS - 1).is_some();
        (!is_stream).then(|| (0..).map_while(|index| self.table.split(index)).collect())
    }

    /// Assigns the splits to as many partitions as there are threads. A stream is a single partition.
    fn parts(&self) -> Vec<Option<Vec<Split>>> {
        let Some(splits) = self.splits() else { return vec![None] };
        let assignment = SplitAssignment::new(Some(splits.len()), self.threads);
        assignment.partitions().map(|part| Some(part.map(|split| splits[split]).collect())).collect()
    }

    /// The statistics of all rows.
    pub(crate) fn stored_statistics(&self) -> &Statistics {
        self.statistics.get_or_init(|| table_statistics(&*self.table, &self.columns, &self.arrow))
    }

    /// Estimated statistics of the rows that satisfy all conditions.
    fn filtered_statistics(&self, filters: &[Expr], session: &dyn Session) -> Result<Statistics> {
        let Some(filter) = conjunction(filters.iter().cloned()) else { return Ok(self.stored_statistics().clone()) };
        let columns = (0..self.columns.fields().len()).collect();
        let all = Scan { statistics: self.stored_statistics().clone(), ..self.scan_of(columns, &[], vec![None])? };
        let all = Leaf::new(all, Arc::clone(&self.arrow));
        let filter = session.create_physical_expr(filter, &DFSchema::try_from(Arc::clone(&self.arrow))?)?;
        let filtered = FilterExec::try_new(filter, Arc::new(all))?;
        let known = StatisticsContext::new().compute(&filtered, &StatisticsArgs::new())?;
        Ok(Arc::unwrap_or_clone(known).to_inexact())
    }

    /// Plans a query for columns of the rows that satisfy conditions.
    fn row_plan(&self, projection: &[usize], conditions: &[String]) -> brc_core::Result<Plan> {
        let fields = self.columns.fields();
        // Without any column, only rows are counted.
        let columns = if projection.is_empty() { &[0] } else { projection };
        let columns: Vec<_> = columns.iter().map(|&column| identifier::quote(&fields[column].name)).collect();
        let text = format!("select {} where {}", columns.join(", "), conditions.join(" and "));
        let query = Query::parse(&text).map_err(|error| Error::Expression(error.to_string()))?;
        query.plan(&self.columns)
    }

    /// A scan of columns of the rows that satisfy conditions.
    pub(crate) fn scan_of(
        &self,
        projection: Vec<usize>,
        conditions: &[String],
        parts: Vec<Option<Vec<Split>>>,
    ) -> Result<Scan> {
        let is_filtered = !conditions.is_empty();
        let plan = is_filtered.then(|| self.row_plan(&projection, conditions)).transpose().map_err(external)?;
        let schema: SchemaRef = Arc::new(self.arrow.project(&projection).map_err(of_arrow)?);
        Ok(Scan {
            table: Arc::clone(&self.table),
            progress: Arc::clone(&self.progress),
            arrow: Arc::clone(&self.arrow),
            fields: projection.iter().map(|&column| self.columns.fields()[column].clone()).collect(),
            statistics: Statistics::new_unknown(&schema),
            schema,
            parts,
            plan: plan.map(Arc::new),
            condition: conditions.join(" and "),
            filters: Vec::new(),
            limit: None,
            projection,
        })
    }
}

#[async_trait]
impl TableProvider for FileTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.arrow)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        session: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all = 0..self.columns.fields().len();
        let projection = projection.cloned().unwrap_or_else(|| all.collect());
        let columns = DFSchema::try_from(Arc::clone(&self.arrow))?;
        let (mut exact, mut conditions, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for filter in filters {
            match sql::condition(filter, &self.columns) {
                Some(condition) => {
                    exact.push(filter.clone());
                    conditions.push(condition);
                }
                None => others.push(session.create_physical_expr(filter.clone(), &columns)?),
            }
        }
        let statistics = self.filtered_statistics(&exact, session)?.project(Some(&projection));
        if is_in_cluster(session.config_options()) {
            let schema = Arc::new(self.arrow.project(&projection).map_err(of_arrow)?);
            return scan_partitioned(
                self,
                PartitionQuery::Rows { projection, conditions, limit },
                schema,
                statistics,
                session,
            );
        }
        let scan = self.scan_of(projection, &conditions, self.parts())?;
        let scan = Scan { statistics, filters: others, limit, ..scan };
        let schema = Arc::clone(&scan.schema);
        Ok(Arc::new(Leaf::new(scan, schema)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match sql::condition(filter, &self.columns) {
            Some(_) => TableProviderFilterPushDown::Exact,
            // The filter prunes splits by statistics; DataFusion still evaluates it for each row.
            None if !filter.is_volatile() => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.stored_statistics().clone())
    }
}
