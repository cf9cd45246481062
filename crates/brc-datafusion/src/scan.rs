//! Reads rows of a table in parts, each of some of its splits.

use crate::error::of_arrow;
use brc_arrow::Reader;
use brc_core::{Field, ScanOptions, Split, Table};
use datafusion::arrow::datatypes::SchemaRef;
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
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Record batches of a part that are made before they are taken.
const AHEAD: usize = 2;

/// Some columns of a table; a partition is a part of its splits.
#[derive(Clone)]
pub(crate) struct ScanExec {
    table: Arc<dyn Table>,
    fields: Vec<Field>,
    request: ScanOptions,
    options: brc_arrow::Options,
    parts: Vec<Vec<Split>>,
    /// Row groups are left out by it.
    condition: String,
    /// Of the whole table.
    statistics: Statistics,
    /// No more rows of a part are needed.
    limit: Option<usize>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl ScanExec {
    /// All rows of the columns of a request, which have that schema.
    pub(crate) fn new(
        table: Arc<dyn Table>,
        fields: Vec<Field>,
        request: ScanOptions,
        options: brc_arrow::Options,
        schema: SchemaRef,
        parts: Vec<Vec<Split>>,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(parts.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            table,
            fields,
            request,
            options,
            parts,
            condition: String::new(),
            statistics: Statistics::new_unknown(&schema),
            limit: None,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// With what is shown of its condition, what is known of the table, and how many rows are needed.
    pub(crate) fn with(self, condition: String, statistics: Statistics, limit: Option<usize>) -> Self {
        Self { condition, statistics, limit, ..self }
    }
}

impl Debug for ScanExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScanExec").field("path", &self.table.path()).finish_non_exhaustive()
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields.iter().map(|field| field.name.as_str()).collect();
        write!(f, "BrcScan: {}, columns=[{}]", self.table.path().display(), names.join(", "))?;
        if !self.condition.is_empty() {
            write!(f, ", skips=[{}]", self.condition)?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &'static str {
        "BrcScan"
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

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(splits) = self.parts.get(partition) else {
            return internal_err!("there is no part {partition} of {}", self.parts.len());
        };
        let request = ScanOptions { splits: Some(splits.clone()), ..self.request.clone() };
        let (table, fields) = (Arc::clone(&self.table), self.fields.clone());
        let (schema, options) = (self.schema(), self.options.clone());
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let mut left = self.limit.unwrap_or(usize::MAX);
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&schema), AHEAD);
        let batches = stream.tx();
        stream.spawn_blocking(move || {
            let scan = move |feed: &brc_arrow::Feed| feed.scan(&*table, &fields, &request);
            for batch in Reader::new(schema.as_ref().clone(), options, scan).map_err(of_arrow)? {
                let batch = batch.map_err(of_arrow);
                let rows = batch.as_ref().map_or(0, |batch| batch.num_rows());
                metrics.record_output(rows);
                // Whoever takes them may have enough.
                if batches.blocking_send(batch).is_err() || rows >= left {
                    break;
                }
                left -= rows;
            }
            Ok(())
        });
        Ok(stream.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let is_known = args.partition().is_none() && self.condition.is_empty() && self.limit.is_none();
        Ok(Arc::new(if is_known { self.statistics.clone() } else { Statistics::new_unknown(&self.schema()) }))
    }
}
