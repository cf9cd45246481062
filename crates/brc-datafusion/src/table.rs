//! A file, or several that are one table, as DataFusion sees it.

use crate::cluster::{Asked, Dealt, Origin, scan_in_parts};
use crate::error::{external, of_arrow};
use crate::known;
use crate::leaf::{Leaf, Reading, Source, Taker};
use crate::scan::Scan;
use crate::session::is_in_cluster;
use crate::sql;
use async_trait::async_trait;
use brc_arrow::Options;
use brc_core::{Error, LeftOut, Progress, Schema, Split, Table, read_rows};
use brc_encodings::FileIdentity;
use brc_query::{Plan, Query};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DFSchema, Statistics, internal_err};
use datafusion::error::Result;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::ffi::OsString;
use std::fmt::{self, Debug, Display};
use std::sync::{Arc, OnceLock};

/// A table of brc.
#[derive(Clone)]
pub struct FileTable {
    table: Arc<dyn Table>,
    /// The columns with their types, all rows considered.
    columns: Schema,
    arrow: SchemaRef,
    options: Options,
    threads: usize,
    progress: Arc<Progress>,
    statistics: Arc<OnceLock<Statistics>>,
    /// Where its files are, if it was opened by their paths.
    origin: Option<Arc<Origin>>,
    /// Which files they were when somebody asked first.
    files: Arc<OnceLock<Vec<FileIdentity>>>,
}

/// What tables are read with.
#[derive(Debug, Clone, Default)]
pub struct Resources {
    /// How many threads read them.
    pub threads: usize,
    /// How many bytes of memory opening one may take, if there is a limit.
    pub memory: Option<u64>,
    /// How far scans of all of them are.
    pub progress: Arc<Progress>,
    /// Whether they are read in a cluster: then it is kept which files they are.
    pub in_cluster: bool,
}

impl Debug for FileTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileTable").field("path", &self.table.path()).finish_non_exhaustive()
    }
}

impl FileTable {
    /// The table, read by so many threads. Where types are inferred, all rows are read once.
    ///
    /// # Errors
    /// What goes wrong with that.
    pub fn new(table: Arc<dyn Table>, threads: usize) -> brc_core::Result<Self> {
        Self::with_progress(table, threads, Arc::default())
    }

    /// The same; `progress` tells how far this and all later scans are.
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

    /// One table of these files, paths, globs or directories, with options as `brc query` has them for files. It can be read in
    /// a cluster.
    ///
    /// # Errors
    /// If they cannot be read or are no table; as for [`FileTable::new`].
    pub fn open(paths: &[&str], options: &[OsString], resources: &Resources) -> brc_core::Result<Self> {
        let origin = Origin::new(paths, options)?;
        // If they change meanwhile, they are others in the end.
        let files = resources.in_cluster.then(|| origin.identities()).transpose()?;
        Ok(origin.open(resources)?.with_origin(origin, files))
    }

    /// The same table, which was opened by these paths; they stood for these files.
    pub(crate) fn with_origin(self, origin: Origin, files: Option<Vec<FileIdentity>>) -> Self {
        let files = files.map_or_else(OnceLock::new, OnceLock::from);
        Self { origin: Some(Arc::new(origin)), files: Arc::new(files), ..self }
    }

    /// The same table, whose strings are `Binary`: those that are not UTF-8 are read, too.
    #[must_use]
    pub fn with_strings_as_binary(self) -> Self {
        let options = Options { strings_as_binary: true, ..self.options };
        let arrow = Arc::new(brc_arrow::arrow_schema(self.columns.fields(), &options));
        Self { arrow, options, statistics: Arc::default(), ..self }
    }

    /// Columns of the file that are none of the table's: lists and structs.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        self.columns.left_out()
    }

    /// The table.
    pub(crate) fn table(&self) -> &Arc<dyn Table> {
        &self.table
    }

    /// Its columns.
    pub(crate) fn columns(&self) -> &Schema {
        &self.columns
    }

    /// How far scans of it are.
    pub(crate) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// How its values become those of Arrow.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Where its files are, if it was opened by their paths.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// Which files they were when somebody asked first; these, if nobody did.
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

    /// How many threads read it.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The splits; `None` of a stream, which does not tell its end.
    pub(crate) fn splits(&self) -> Option<Vec<Split>> {
        /// Whoever has as many is taken for a stream.
        const ENDLESS: u64 = 1 << 20;
        let is_endless = self.table.split(ENDLESS - 1).is_some();
        (!is_endless).then(|| (0..).map_while(|index| self.table.split(index)).collect())
    }

    /// The splits, dealt to as many parts as there are threads. A stream is one part.
    fn parts(&self) -> Vec<Option<Vec<Split>>> {
        let Some(splits) = self.splits() else { return vec![None] };
        let dealt = Dealt::new(Some(splits.len()), self.threads);
        dealt.parts().map(|part| Some(part.map(|split| splits[split]).collect())).collect()
    }

    /// What is known of all rows.
    pub(crate) fn known(&self) -> &Statistics {
        self.statistics.get_or_init(|| known::statistics(&*self.table, &self.columns, &self.arrow))
    }

    /// What is probable of the rows that meet all of these conditions.
    fn known_where(&self, filters: &[Expr], session: &dyn Session) -> Result<Statistics> {
        let Some(filter) = conjunction(filters.iter().cloned()) else { return Ok(self.known().clone()) };
        let all = Leaf::new(Unread(self.known().clone()), Arc::clone(&self.arrow));
        let filter = session.create_physical_expr(filter, &DFSchema::try_from(Arc::clone(&self.arrow))?)?;
        let filtered = FilterExec::try_new(filter, Arc::new(all))?;
        let known = StatisticsContext::new().compute(&filtered, &StatisticsArgs::new())?;
        Ok(Arc::unwrap_or_clone(known).to_inexact())
    }

    /// Selects these columns of the rows that meet conditions.
    fn selecting(&self, projection: &[usize], conditions: &[String]) -> brc_core::Result<Plan> {
        let fields = self.columns.fields();
        // Where no column is wanted, rows are counted.
        let columns = if projection.is_empty() { &[0] } else { projection };
        let columns: Vec<_> = columns.iter().map(|&column| sql::quoted(&fields[column].name)).collect();
        let text = format!("select {} where {}", columns.join(", "), conditions.join(" and "));
        let query = Query::parse(&text).map_err(|error| Error::Expression(error.to_string()))?;
        query.plan(&self.columns)
    }

    /// Reads these columns of the rows that meet conditions.
    pub(crate) fn scan_of(
        &self,
        projection: Vec<usize>,
        conditions: &[String],
        parts: Vec<Option<Vec<Split>>>,
    ) -> Result<Scan> {
        let is_filtered = !conditions.is_empty();
        let plan = is_filtered.then(|| self.selecting(&projection, conditions)).transpose().map_err(external)?;
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

/// Stands for rows of which something is known, and which nobody reads.
struct Unread(Statistics);

impl Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unread")
    }
}

impl Source for Unread {
    const NAME: &'static str = "Unread";
    const EMISSION: EmissionType = EmissionType::Incremental;

    fn parts(&self) -> usize {
        1
    }

    fn read(&self, _: usize, _: &Reading, _: Taker<'_>) -> Result<()> {
        internal_err!("nobody reads these rows")
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.0.clone())
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
        let statistics = self.known_where(&exact, session)?.project(Some(&projection));
        if is_in_cluster(session.config_options()) {
            let schema = Arc::new(self.arrow.project(&projection).map_err(of_arrow)?);
            return scan_in_parts(self, Asked::Rows { projection, conditions, limit }, schema, statistics, session);
        }
        let scan = self.scan_of(projection, &conditions, self.parts())?;
        let scan = Scan { statistics, filters: others, limit, ..scan };
        let schema = Arc::clone(&scan.schema);
        Ok(Arc::new(Leaf::new(scan, schema)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match sql::condition(filter, &self.columns) {
            Some(_) => TableProviderFilterPushDown::Exact,
            // Splits are left out by it, as far as statistics tell; DataFusion still looks at each row.
            None if !filter.is_volatile() => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.known().clone())
    }
}
