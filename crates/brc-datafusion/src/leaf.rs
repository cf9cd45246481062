//! Leaves of physical plans: sources of record batches with one or more partitions.

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

/// The number of record batches buffered per partition.
const BUFFERED_BATCHES: usize = 2;

/// Receives record batches, or an error.
///
/// # Errors
/// [`brc_core::Error::Stopped`] if it accepts no more.
pub(crate) type BatchConsumer<'a> = &'a (dyn Fn(Result<RecordBatch>) -> brc_core::Result<()> + Sync);

/// The settings and resources for reading.
pub(crate) struct ReadContext {
    /// The maximum number of rows per record batch.
    pub(crate) batch_rows: usize,
    /// The memory pool.
    pub(crate) memory: Arc<dyn MemoryPool>,
}

/// The source of a leaf; plans display it.
pub(crate) trait Source: Display + Send + Sync + Sized + 'static {
    /// The name of the leaf in plans.
    const NAME: &'static str;

    /// When rows are emitted.
    const EMISSION: EmissionType;

    /// The number of partitions, which may be read in parallel.
    fn partitions(&self) -> usize;

    /// Reads the record batches of a partition.
    ///
    /// # Errors
    /// Errors of reading.
    fn read(&self, part: usize, read_context: &ReadContext, each: BatchConsumer<'_>) -> Result<()>;

    /// The statistics of all partitions together.
    fn statistics(&self) -> Option<Statistics> {
        None
    }

    /// Conditions by which rows may be dropped if they are not true. They may change while rows are read.
    fn filters(&self) -> &[Arc<dyn PhysicalExpr>] {
        &[]
    }

    /// Adds such conditions; `None` if the source cannot use them.
    fn with_filters(&self, _filters: Vec<Arc<dyn PhysicalExpr>>) -> Option<Self> {
        None
    }
}

/// A source as a node of a physical plan.
pub(crate) struct Leaf<S> {
    source: Arc<S>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl<S: Source> Leaf<S> {
    /// Creates a leaf whose record batches have the given schema.
    pub(crate) fn new(source: S, schema: SchemaRef) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(source.partitions()),
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
        // The filters only prune; rows that do not satisfy them may remain.
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
        if partition >= self.source.partitions() {
            return internal_err!("there is no partition {partition} of {}", self.source.partitions());
        }
        let source = Arc::clone(&self.source);
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let schema = self.schema();
        let read_context = ReadContext {
            batch_rows: context.session_config().batch_size(),
            memory: Arc::clone(context.memory_pool()),
        };
        // Reading starts with the first request: the other side of a join may have derived filters by then.
        let read = async move { read(source, partition, read_context, schema) };
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

/// Reads the record batches of a partition on another thread.
pub(crate) fn read<S: Source>(
    source: Arc<S>,
    part: usize,
    read_context: ReadContext,
    schema: SchemaRef,
) -> SendableRecordBatchStream {
    let mut stream = RecordBatchReceiverStream::builder(schema, BUFFERED_BATCHES);
    let taken = stream.tx();
    stream.spawn_blocking(move || {
        source.read(part, &read_context, &|batch| {
            let is_last = batch.is_err();
            // The receiver may have stopped reading.
            match taken.blocking_send(batch) {
                Ok(()) if !is_last => Ok(()),
                _ => Err(Error::Stopped),
            }
        })
    });
    stream.build()
}
