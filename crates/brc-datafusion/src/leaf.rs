//! What stands at the bottom of a plan: something that gives record batches, in one part or in several.

use brc_core::Error;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use futures::{StreamExt, TryStreamExt};
use std::fmt::{self, Debug, Display};
use std::sync::Arc;

/// Record batches of a part that are made before they are taken.
const AHEAD: usize = 2;

/// Takes record batches, or what went wrong.
///
/// # Errors
/// [`brc_core::Error::Stopped`] if it takes no more.
pub(crate) type Taker<'a> = &'a (dyn Fn(Result<RecordBatch>) -> brc_core::Result<()> + Sync);

/// What there is for reading.
pub(crate) struct Reading {
    /// How many rows a record batch has at most.
    pub(crate) batch_rows: usize,
    /// Where memory comes from.
    pub(crate) memory: Arc<dyn MemoryPool>,
}

/// What a leaf gives; it is displayed in plans.
pub(crate) trait Source: Display + Send + Sync + Sized + 'static {
    /// The leaf's name in plans.
    const NAME: &'static str;

    /// When rows come.
    const EMISSION: EmissionType;

    /// How many parts may be read at the same time.
    fn parts(&self) -> usize;

    /// Hands over the record batches of one of them.
    ///
    /// # Errors
    /// What goes wrong with that.
    fn read(&self, part: usize, reading: &Reading, each: Taker<'_>) -> Result<()>;

    /// What is known of all parts together.
    fn statistics(&self) -> Option<Statistics> {
        None
    }

    /// Conditions on the rows that are given, which may be left out where they are not true; they may change while rows are
    /// read.
    fn filters(&self) -> &[Arc<dyn PhysicalExpr>] {
        &[]
    }

    /// The same with more such conditions, if they are of use.
    fn with_filters(&self, _filters: Vec<Arc<dyn PhysicalExpr>>) -> Option<Self> {
        None
    }
}

/// A source as a part of a plan.
pub(crate) struct Leaf<S> {
    source: Arc<S>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl<S: Source> Leaf<S> {
    /// A leaf whose record batches have that schema.
    pub(crate) fn new(source: S, schema: SchemaRef) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(source.parts()),
            S::EMISSION,
            Boundedness::Bounded,
        );
        let metrics = ExecutionPlanMetricsSet::new();
        Self { source: Arc::new(source), properties: Arc::new(properties), metrics }
    }
}

impl<S: Source> Debug for Leaf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", S::NAME, self.source)
    }
}

impl<S: Source> DisplayAs for Leaf<S> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", S::NAME, self.source)
    }
}

impl<S: Source> ExecutionPlan for Leaf<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut next = TreeNodeRecursion::Continue;
        for filter in self.source.filters() {
            next = next.visit_sibling(|| visit(filter))?;
        }
        Ok(next)
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        pushed: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters: Vec<_> = pushed.parent_filters.iter().map(|pushed| Arc::clone(&pushed.filter)).collect();
        // Rows are left out by them, but not all that do not meet them.
        let propagation = FilterPushdownPropagation::all_unsupported(pushed);
        if filters.is_empty() {
            return Ok(propagation);
        }
        Ok(match self.source.with_filters(filters) {
            Some(source) => propagation.with_updated_node(Arc::new(Self::new(source, self.schema()))),
            None => propagation,
        })
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition >= self.source.parts() {
            return internal_err!("there is no part {partition} of {}", self.source.parts());
        }
        let source = Arc::clone(&self.source);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let schema = self.schema();
        let reading =
            Reading { batch_rows: context.session_config().batch_size(), memory: Arc::clone(context.memory_pool()) };
        // Nothing is read before somebody asks: the other side of a join may find out by then what need not be.
        let read = async move { read(source, partition, reading, schema) };
        let batches = futures::stream::once(read).flatten();
        let batches = batches.inspect_ok(move |batch| metrics.record_output(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let known = if args.partition().is_none() { self.source.statistics() } else { None };
        Ok(Arc::new(known.unwrap_or_else(|| Statistics::new_unknown(&self.schema()))))
    }
}

/// The record batches of a part, which another thread reads from now on.
pub(crate) fn read<S: Source>(
    source: Arc<S>,
    part: usize,
    reading: Reading,
    schema: SchemaRef,
) -> SendableRecordBatchStream {
    let mut stream = RecordBatchReceiverStream::builder(schema, AHEAD);
    let taken = stream.tx();
    stream.spawn_blocking(move || {
        source.read(part, &reading, &|batch| {
            let is_last = batch.is_err();
            // Whoever takes them may have enough.
            match taken.blocking_send(batch) {
                Ok(()) if !is_last => Ok(()),
                _ => Err(Error::Stopped),
            }
        })
    });
    stream.build()
}
