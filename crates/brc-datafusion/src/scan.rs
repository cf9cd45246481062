//! Scans a table in partitions, each with some of its splits.

use crate::error::external;
use crate::leaf::{BatchConsumer, ReadContext, Source};
use crate::statistics::SplitStatistics;
use brc_arrow::located;
use brc_core::{Error, Field, Progress, ScanOptions, Split, Table};
use brc_query::Plan;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::utils::{conjunction, reassign_expr_columns};
use datafusion::physical_expr_common::physical_expr::{snapshot_generation, snapshot_physical_expr};
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use datafusion::physical_plan::execution_plan::EmissionType;
use parking_lot::Mutex;
use std::fmt::{self, Display};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A scan of columns of a table.
#[derive(Clone)]
pub(crate) struct Scan {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) progress: Arc<Progress>,
    /// The Arrow schema of all columns of the table.
    pub(crate) arrow: SchemaRef,
    /// The scanned columns.
    pub(crate) fields: Vec<Field>,
    pub(crate) projection: Vec<usize>,
    pub(crate) schema: SchemaRef,
    /// The splits of each partition; `None` for all splits of a stream, whose number is unknown.
    pub(crate) parts: Vec<Option<Vec<Split>>>,
    /// The plan that selects rows by conditions, if there are any.
    pub(crate) plan: Option<Arc<Plan>>,
    /// The text of these conditions.
    pub(crate) condition: String,
    /// Statistics of the scanned rows.
    pub(crate) statistics: Statistics,
    /// Conditions that prune splits.
    pub(crate) filters: Vec<Arc<dyn PhysicalExpr>>,
    /// The maximum number of rows per partition.
    pub(crate) limit: Option<usize>,
}

impl Display for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
        write!(f, "{}, columns=[{}]", self.table.path().display(), names.join(", "))?;
        if !self.condition.is_empty() {
            write!(f, ", where=[{}]", self.condition)?;
        }
        if !self.filters.is_empty() {
            let filters: Vec<_> = self.filters.iter().map(ToString::to_string).collect();
            write!(f, ", skips=[{}]", filters.join(" AND "))?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl Source for Scan {
    const NAME: &'static str = "BrcScan";
    const EMISSION: EmissionType = EmissionType::Incremental;

    fn partitions(&self) -> usize {
        self.parts.len()
    }

    fn read(&self, part: usize, context: &ReadContext, each: BatchConsumer<'_>) -> Result<()> {
        let splits = self.parts[part].clone();
        let pruner = Pruner::new(self);
        let skips = |split: &Split| pruner.as_ref().is_some_and(|pruner| pruner.skips(split));
        let left = AtomicUsize::new(self.limit.unwrap_or(usize::MAX));
        let each = |batch: RecordBatch| {
            let before = left.load(Relaxed);
            let wanted = before.min(batch.num_rows());
            left.store(before - wanted, Relaxed);
            if wanted > 0 {
                each(Ok(batch.slice(0, wanted)))?;
            }
            if before == wanted { Err(Error::Stopped) } else { Ok(()) }
        };
        let scan = |table: &dyn Table, projection: Vec<usize>| {
            let request = ScanOptions { projection, splits, ..ScanOptions::everything(table.schema()) };
            let columns = (self.fields.as_slice(), &self.schema);
            brc_arrow::scan_batches(table, columns, context.batch_rows, &request, &skips, &each, &self.progress)
        };
        let scanned = match &self.plan {
            // The plan selects these columns; if there are none, it selects one that is not read.
            Some(plan) => {
                plan.selected(&*self.table).and_then(|rows| scan(&rows, (0..self.projection.len()).collect()))
            }
            None => scan(&*self.table, self.projection.clone()),
        };
        scanned.map_err(|error| external(located(error, &*self.table)))
    }

    fn statistics(&self) -> Option<Statistics> {
        self.limit.is_none().then(|| self.statistics.clone())
    }

    fn filters(&self) -> &[Arc<dyn PhysicalExpr>] {
        &self.filters
    }

    fn with_filters(&self, mut filters: Vec<Arc<dyn PhysicalExpr>>) -> Option<Self> {
        filters.splice(0..0, self.filters.iter().cloned());
        Some(Self { filters, ..self.clone() })
    }
}

/// Finds splits without a row that satisfies the filters of a scan.
struct Pruner<'a> {
    scan: &'a Scan,
    filter: Arc<dyn PhysicalExpr>,
    /// The last seen generation of the filter, with its pruning predicate.
    snapshot: Mutex<Option<(u64, Option<Arc<PruningPredicate>>)>>,
}

impl<'a> Pruner<'a> {
    /// `None` if there is no filter.
    fn new(scan: &'a Scan) -> Option<Self> {
        if scan.filters.is_empty() {
            return None;
        }
        Some(Self { scan, filter: conjunction(scan.filters.iter().cloned()), snapshot: Mutex::default() })
    }

    fn skips(&self, split: &Split) -> bool {
        let generation = snapshot_generation(&self.filter);
        let mut snapshot = self.snapshot.lock();
        if snapshot.as_ref().is_none_or(|(known, _)| *known != generation) {
            *snapshot = Some((generation, self.predicate()));
        }
        let Some((_, Some(predicate))) = &*snapshot else { return false };
        let statistics = SplitStatistics { table: &*self.scan.table, arrow: &self.scan.arrow, split: split.index };
        predicate.prune(&statistics).is_ok_and(|kept| kept == [false])
    }

    /// The pruning predicate of the current filter; `None` if statistics cannot decide any of it.
    fn predicate(&self) -> Option<Arc<PruningPredicate>> {
        let filter = snapshot_physical_expr(Arc::clone(&self.filter)).ok()?;
        // The filter refers to columns by their positions in the output.
        let filter = reassign_expr_columns(filter, &self.scan.arrow).ok()?;
        PruningPredicateBuilder::new().with_file_schema(Arc::clone(&self.scan.arrow)).build(filter)
    }
}
