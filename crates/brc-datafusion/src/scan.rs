//! Reads rows of a table in parts, each of some of its splits.

use crate::error::external;
use crate::known::SplitStatistics;
use crate::leaf::{Reading, Source, Taker};
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
use std::fmt::{self, Display};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Some columns of a table.
#[derive(Clone)]
pub(crate) struct Scan {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) progress: Arc<Progress>,
    /// All columns of the table as those of Arrow.
    pub(crate) arrow: SchemaRef,
    /// The columns that are read.
    pub(crate) fields: Vec<Field>,
    pub(crate) projection: Vec<usize>,
    pub(crate) schema: SchemaRef,
    /// The splits of each part; `None` for all of them, of which nobody knows how many there are.
    pub(crate) parts: Vec<Option<Vec<Split>>>,
    /// Selects the rows that meet the conditions, if there are any.
    pub(crate) plan: Option<Arc<Plan>>,
    /// Those conditions.
    pub(crate) condition: String,
    /// Of the rows that are read.
    pub(crate) statistics: Statistics,
    /// Splits without a row that meets these are left out.
    pub(crate) filters: Vec<Arc<dyn PhysicalExpr>>,
    /// No more rows of a part are needed.
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

    fn parts(&self) -> usize {
        self.parts.len()
    }

    fn read(&self, part: usize, reading: &Reading, each: Taker<'_>) -> Result<()> {
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
            brc_arrow::scan_batches(table, columns, reading.batch_rows, &request, &skips, &each, &self.progress)
        };
        let scanned = match &self.plan {
            // What the plan selects are these columns, or one of which nothing is read where there are none.
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

/// Finds splits of which no row meets the filters of a scan.
struct Pruner<'a> {
    scan: &'a Scan,
    filter: Arc<dyn PhysicalExpr>,
    /// The filter as it was when it was last looked at.
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
        let mut snapshot = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        if snapshot.as_ref().is_none_or(|(known, _)| *known != generation) {
            *snapshot = Some((generation, self.predicate()));
        }
        let Some((_, Some(predicate))) = &*snapshot else { return false };
        let statistics = SplitStatistics { table: &*self.scan.table, arrow: &self.scan.arrow, split: split.index };
        predicate.prune(&statistics).is_ok_and(|kept| kept == [false])
    }

    /// What of the filter statistics can tell something about.
    fn predicate(&self) -> Option<Arc<PruningPredicate>> {
        let filter = snapshot_physical_expr(Arc::clone(&self.filter)).ok()?;
        // Columns have the positions that they have in the rows that are given.
        let filter = reassign_expr_columns(filter, &self.scan.arrow).ok()?;
        PruningPredicateBuilder::new().with_file_schema(Arc::clone(&self.scan.arrow)).build(filter)
    }
}
