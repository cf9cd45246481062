//! A table as a file scan, in which each file is a subset of the splits.

use crate::answer::{FileQuery, Output, QueryClauses};
use crate::cluster::FileReference;
use crate::cluster::remote_error::encode_error;
use crate::error::external;
use crate::leaf::{BatchConsumer, ReadContext, Source, read};
use crate::scan::Scan;
use crate::table::FileTable;
use brc_core::{Error, Split};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::{FileRange, PartitionedFile};
use datafusion::datasource::physical_plan::{
    FileGroup, FileOpenFuture, FileOpener, FileScanConfig, FileScanConfigBuilder, FileSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool, UnboundedMemoryPool};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::object_store::ObjectStore;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan};
use futures::{FutureExt, StreamExt};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, OnceLock};

/// The query that runs on each partition of a table, as plain data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum PartitionQuery {
    /// Columns of the rows that satisfy conditions, up to a limit.
    Rows { projection: Vec<usize>, conditions: Vec<String>, limit: Option<usize> },
    /// Partial groups.
    Groups { clauses: QueryClauses, outputs: Vec<Output> },
}

impl Display for PartitionQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { conditions, limit, .. } => {
                if !conditions.is_empty() {
                    write!(f, ", where=[{}]", conditions.join(" and "))?;
                }
                limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
            }
            Self::Groups { clauses, .. } => write!(f, ", aggregate=[{clauses}]"),
        }
    }
}

/// The assignment of splits to partitions, round-robin, because the rows that satisfy a condition are often adjacent.
///
/// The splits are arranged in a sequence, first those of partition 0, then those of partition 1, and so on. A partition
/// is a range of that sequence, and so is any part of a partition: engines may divide the files of a scan or leave them
/// whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SplitAssignment {
    /// The number of splits; `None` for a stream.
    splits: Option<usize>,
    partitions: usize,
}

impl SplitAssignment {
    /// Assigns splits to at most `max_partitions` partitions.
    pub(crate) fn new(splits: Option<usize>, max_partitions: usize) -> Self {
        Self { splits, partitions: splits.map_or(1, |splits| max_partitions.min(splits).max(1)) }
    }

    /// The splits of each partition.
    pub(crate) fn partitions(self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        (0..self.partitions).map(move |partition| (partition..self.splits.unwrap_or(0)).step_by(self.partitions.max(1)))
    }

    /// The number of splits in the partitions before `partition`.
    fn before(self, partition: usize) -> usize {
        let (splits, partitions) = (self.splits.unwrap_or(0), self.partitions.max(1));
        partition * (splits / partitions) + partition.min(splits % partitions)
    }

    /// The range of a partition in the sequence; `None` for a stream, which is a single partition.
    fn range(self, partition: usize) -> Option<FileRange> {
        let [start, end] = [self.before(partition), self.before(partition + 1)].map(|index| index as i64);
        self.splits.map(|_| FileRange { start, end })
    }

    /// The splits in a range of the sequence.
    fn splits_at(self, range: Option<&FileRange>) -> Vec<usize> {
        let row = self.partitions().flatten();
        let Some(FileRange { start, end }) = range else { return row.collect() };
        let [start, end] = [*start, *end].map(|index| usize::try_from(index).unwrap_or(0));
        row.take(end).skip(start).collect()
    }
}

/// Scans a table with as many partitions as the session has, or as there are splits.
pub(crate) fn scan_partitioned(
    file: &FileTable,
    query: PartitionQuery,
    schema: SchemaRef,
    statistics: Statistics,
    session: &dyn Session,
) -> Result<Arc<dyn ExecutionPlan>> {
    let reference = FileReference::of(file).map_err(external)?;
    let assignment =
        SplitAssignment::new(file.splits().map(|splits| splits.len()), session.config().target_partitions());
    let part = |range| {
        let file =
            PartitionedFile::new(reference.path().to_string_lossy(), assignment.splits.unwrap_or(1).max(1) as u64);
        FileGroup::new(vec![PartitionedFile { range, ..file }])
    };
    let groups = (0..assignment.partitions).map(|number| part(assignment.range(number))).collect();
    let source = ClusterSource::new(Arc::new(reference), query, assignment, schema);
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics.to_inexact());
    Ok(DataSourceExec::from_data_source(config.build()))
}

/// A table as a file source, which engines divide into tasks.
#[derive(Clone)]
pub(crate) struct ClusterSource {
    pub(crate) reference: Arc<FileReference>,
    pub(crate) query: PartitionQuery,
    pub(crate) assignment: SplitAssignment,
    schema: TableSchema,
    batch_rows: usize,
    metrics: ExecutionPlanMetricsSet,
}

/// The default of sessions.
const BATCH_ROWS: usize = 8192;

impl ClusterSource {
    pub(crate) fn new(
        reference: Arc<FileReference>,
        query: PartitionQuery,
        assignment: SplitAssignment,
        schema: SchemaRef,
    ) -> Self {
        let (schema, metrics) = (TableSchema::from(schema), ExecutionPlanMetricsSet::new());
        Self { reference, query, assignment, schema, batch_rows: BATCH_ROWS, metrics }
    }
}

impl FileSource for ClusterSource {
    fn create_file_opener(&self, _: Arc<dyn ObjectStore>, _: &FileScanConfig, _: usize) -> Result<Arc<dyn FileOpener>> {
        Ok(Arc::new(self.clone()))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.schema
    }

    fn with_batch_size(&self, batch_rows: usize) -> Arc<dyn FileSource> {
        Arc::new(Self { batch_rows, ..self.clone() })
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "brc"
    }

    fn fmt_extra(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.query)
    }

    fn supports_repartitioning(&self) -> bool {
        false
    }

    fn repartitioned(
        &self,
        _: usize,
        _: usize,
        _: Option<LexOrdering>,
        _: &FileScanConfig,
    ) -> Result<Option<FileScanConfig>> {
        Ok(None)
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }
}

impl FileOpener for ClusterSource {
    fn open(&self, file: PartitionedFile) -> Result<FileOpenFuture> {
        let partition = Partition {
            reference: Arc::clone(&self.reference),
            query: self.query.clone(),
            assignment: self.assignment,
            range: file.range,
            schema: Arc::clone(self.schema.table_schema()),
        };
        let context = ReadContext { batch_rows: self.batch_rows, memory: memory() };
        let schema = Arc::clone(self.schema.table_schema());
        let batches =
            async move { Ok(read(Arc::new(partition), 0, context, schema).map(without_unused_strings).boxed()) };
        Ok(batches.boxed())
    }
}

/// One partition of a table, which is opened when it is read.
struct Partition {
    reference: Arc<FileReference>,
    query: PartitionQuery,
    assignment: SplitAssignment,
    range: Option<FileRange>,
    schema: SchemaRef,
}

impl Display for Partition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.reference.path().display(), self.query)
    }
}

impl Source for Partition {
    const NAME: &'static str = "BrcPart";
    const EMISSION: EmissionType = EmissionType::Incremental;

    fn partitions(&self) -> usize {
        1
    }

    fn read(&self, _: usize, context: &ReadContext, each: BatchConsumer<'_>) -> Result<()> {
        let file = self.reference.open().map_err(external)?;
        let splits = self.splits(&file).map_err(external)?;
        match &self.query {
            PartitionQuery::Rows { projection, conditions, limit } => {
                let scan = file.scan_of(projection.clone(), conditions, vec![splits])?;
                Scan { limit: *limit, ..scan }.read(0, context, each)
            }
            PartitionQuery::Groups { clauses, outputs } => {
                let (clauses, outputs, schema) = (clauses.clone(), outputs.clone(), Arc::clone(&self.schema));
                let no_fields = || external(Error::Usage(format!("cannot plan {clauses} for {}", file.columns())));
                let fields = clauses.fields(file.columns()).ok_or_else(no_fields)?;
                let statistics = Statistics::new_unknown(&schema);
                FileQuery { file, splits, clauses, fields, outputs, schema, statistics }.read(0, context, each)
            }
        }
    }
}

impl Partition {
    /// The splits of this partition; `None` for all of a stream.
    fn splits(&self, file: &FileTable) -> brc_core::Result<Option<Vec<Split>>> {
        let splits = file.splits();
        let (here, there) = (splits.as_ref().map(Vec::len), self.assignment.splits);
        if here != there {
            let reason = format!("it has {here:?} splits here, but {there:?} where the query was planned");
            return Err(Error::Unsupported { path: self.reference.path().to_owned(), reason });
        }
        let Some(splits) = splits else { return Ok(None) };
        let mut indices = self.assignment.splits_at(self.range.as_ref());
        // Scans read splits in ascending order.
        indices.sort_unstable();
        Ok(Some(indices.into_iter().filter_map(|index| splits.get(index).copied()).collect()))
    }
}

/// Removes unused strings from a batch: batches share the strings of a dictionary, all of which would otherwise be
/// sent.
fn without_unused_strings(batch: Result<RecordBatch>) -> Result<RecordBatch> {
    let batch = batch.map_err(encode_error)?;
    let compact = |column: &ArrayRef| match column.data_type() {
        DataType::Utf8View => Arc::new(column.as_string_view().gc()) as ArrayRef,
        _ => Arc::clone(column),
    };
    let columns = batch.columns().iter().map(compact).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

/// The memory limit of a query on one partition, in bytes.
static MEMORY: OnceLock<usize> = OnceLock::new();

/// Limits the memory of each query on a partition in this process, in bytes. Only the first call has an effect.
pub fn limit_memory(bytes: usize) {
    let _ = MEMORY.set(bytes);
}

/// The memory pool of a query on one partition.
fn memory() -> Arc<dyn MemoryPool> {
    match MEMORY.get() {
        Some(&bytes) => Arc::new(GreedyMemoryPool::new(bytes)),
        None => Arc::new(UnboundedMemoryPool::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_split_is_assigned_once_however_partitions_are_divided() {
        for splits in 0..20 {
            for max_partitions in 1..9 {
                let assignment = SplitAssignment::new(Some(splits), max_partitions);
                for length in 1..4 {
                    let ranges = (0..assignment.partitions).flat_map(|partition| {
                        let FileRange { start, end } = assignment.range(partition).unwrap();
                        let starts = (start..end).step_by(length);
                        starts.map(move |start| FileRange { start, end: end.min(start + length as i64) })
                    });
                    let mut found: Vec<usize> = ranges.flat_map(|range| assignment.splits_at(Some(&range))).collect();
                    found.sort_unstable();
                    assert_eq!(found, (0..splits).collect::<Vec<_>>(), "{assignment:?}, ranges of {length}");
                }
                let first = assignment.range(0).unwrap();
                assert!(assignment.splits_at(Some(&first)).iter().all(|split| split % assignment.partitions == 0));
            }
        }
        assert_eq!(SplitAssignment::new(None, 4), SplitAssignment { splits: None, partitions: 1 });
    }
}
