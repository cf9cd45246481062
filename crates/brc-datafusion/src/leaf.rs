//! What stands at the bottom of a plan: something that gives record batches, in one part or in several.

use crate::error::of_arrow;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use std::fmt::{self, Debug, Display};
use std::sync::Arc;

/// Record batches of a part that are made before they are taken.
const AHEAD: usize = 2;

/// Record batches, made one after the other.
pub(crate) type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

/// What a leaf gives; it is displayed in plans.
pub(crate) trait Source: Display + Send + Sync + 'static {
    /// The leaf's name in plans.
    const NAME: &'static str;

    /// When rows come.
    const EMISSION: EmissionType;

    /// How many parts may be read at the same time.
    fn parts(&self) -> usize;

    /// The record batches of one of them, of so many rows.
    ///
    /// # Errors
    /// The system's, if it allows no thread.
    fn read(&self, part: usize, batch_rows: usize) -> Result<Batches, ArrowError>;

    /// What is known of all parts together.
    fn statistics(&self) -> Option<Statistics> {
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
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
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
        let (source, batch_rows) = (Arc::clone(&self.source), context.session_config().batch_size());
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let mut stream = RecordBatchReceiverStream::builder(self.schema(), AHEAD);
        let taken = stream.tx();
        stream.spawn_blocking(move || {
            for batch in source.read(partition, batch_rows).map_err(of_arrow)? {
                metrics.record_output(batch.as_ref().map_or(0, RecordBatch::num_rows));
                // Whoever takes them may have enough.
                if taken.blocking_send(batch.map_err(of_arrow)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let known = if args.partition().is_none() { self.source.statistics() } else { None };
        Ok(Arc::new(known.unwrap_or_else(|| Statistics::new_unknown(&self.schema()))))
    }
}
