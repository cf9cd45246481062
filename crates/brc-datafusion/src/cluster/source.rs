//! A table as a scan of files, of which each is a part of its splits.

use crate::answer::{Output, Parts, Question};
use crate::cluster::SentTable;
use crate::cluster::told::told;
use crate::error::external;
use crate::leaf::{Reading, Source, Taker, read};
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

/// What is asked of each part of a table. Plain data, which travels.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Asked {
    /// These columns of the rows that meet conditions, and no more rows than are needed.
    Rows { projection: Vec<usize>, conditions: Vec<String>, limit: Option<usize> },
    /// Groups.
    Groups { parts: Parts, outputs: Vec<Output> },
}

impl Display for Asked {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { conditions, limit, .. } => {
                if !conditions.is_empty() {
                    write!(f, ", where=[{}]", conditions.join(" and "))?;
                }
                limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
            }
            Self::Groups { parts, .. } => write!(f, ", aggregate=[{parts}]"),
        }
    }
}

/// How splits are dealt to parts. What a condition leaves of a table often lies side by side: so the parts take turns.
///
/// All splits lie in a row, those of the first part first. A part is a range of that row, and so is any piece of a part: engines may
/// cut files into such, or leave them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dealt {
    /// How many splits there are; `None` of a stream.
    splits: Option<usize>,
    parts: usize,
}

impl Dealt {
    /// As many parts as that at most.
    pub(crate) fn new(splits: Option<usize>, most: usize) -> Self {
        Self { splits, parts: splits.map_or(1, |splits| most.min(splits).max(1)) }
    }

    /// The splits of each part.
    pub(crate) fn parts(self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        (0..self.parts).map(move |part| (part..self.splits.unwrap_or(0)).step_by(self.parts.max(1)))
    }

    /// How many splits the parts before one have.
    fn before(self, part: usize) -> usize {
        let (splits, parts) = (self.splits.unwrap_or(0), self.parts.max(1));
        part * (splits / parts) + part.min(splits % parts)
    }

    /// Where the splits of a part lie in the row; `None` of a stream, which is one part.
    fn range(self, part: usize) -> Option<FileRange> {
        let [start, end] = [self.before(part), self.before(part + 1)].map(|place| place as i64);
        self.splits.map(|_| FileRange { start, end })
    }

    /// The splits that lie there.
    fn splits_at(self, range: Option<&FileRange>) -> Vec<usize> {
        let row = self.parts().flatten();
        let Some(FileRange { start, end }) = range else { return row.collect() };
        let [start, end] = [*start, *end].map(|place| usize::try_from(place).unwrap_or(0));
        row.take(end).skip(start).collect()
    }
}

/// A scan of a table in as many parts as the session wants, or as there are splits.
pub(crate) fn scan_in_parts(
    file: &FileTable,
    asked: Asked,
    schema: SchemaRef,
    statistics: Statistics,
    session: &dyn Session,
) -> Result<Arc<dyn ExecutionPlan>> {
    let sent = SentTable::of(file).map_err(external)?;
    let dealt = Dealt::new(file.splits().map(|splits| splits.len()), session.config().target_partitions());
    let part = |range| {
        let file = PartitionedFile::new(sent.path().to_string_lossy(), dealt.splits.unwrap_or(1).max(1) as u64);
        FileGroup::new(vec![PartitionedFile { range, ..file }])
    };
    let groups = (0..dealt.parts).map(|number| part(dealt.range(number))).collect();
    let source = ClusterSource::new(Arc::new(sent), asked, dealt, schema);
    let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
        .with_file_groups(groups)
        .with_statistics(statistics.to_inexact());
    Ok(DataSourceExec::from_data_source(config.build()))
}

/// A table that engines on several machines cut into tasks.
#[derive(Clone)]
pub(crate) struct ClusterSource {
    pub(crate) sent: Arc<SentTable>,
    pub(crate) asked: Asked,
    pub(crate) dealt: Dealt,
    schema: TableSchema,
    batch_rows: usize,
    metrics: ExecutionPlanMetricsSet,
}

/// What sessions have if nobody says something else.
const BATCH_ROWS: usize = 8192;

impl ClusterSource {
    pub(crate) fn new(sent: Arc<SentTable>, asked: Asked, dealt: Dealt, schema: SchemaRef) -> Self {
        let (schema, metrics) = (TableSchema::from(schema), ExecutionPlanMetricsSet::new());
        Self { sent, asked, dealt, schema, batch_rows: BATCH_ROWS, metrics }
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
        write!(f, "{}", self.asked)
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
        let part = Part {
            sent: Arc::clone(&self.sent),
            asked: self.asked.clone(),
            dealt: self.dealt,
            range: file.range,
            schema: Arc::clone(self.schema.table_schema()),
        };
        let reading = Reading { batch_rows: self.batch_rows, memory: memory() };
        let schema = Arc::clone(self.schema.table_schema());
        let batches = async move { Ok(read(Arc::new(part), 0, reading, schema).map(compacted).boxed()) };
        Ok(batches.boxed())
    }
}

/// One part of a table, which is opened when it is read.
struct Part {
    sent: Arc<SentTable>,
    asked: Asked,
    dealt: Dealt,
    range: Option<FileRange>,
    schema: SchemaRef,
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.sent.path().display(), self.asked)
    }
}

impl Source for Part {
    const NAME: &'static str = "BrcPart";
    const EMISSION: EmissionType = EmissionType::Incremental;

    fn parts(&self) -> usize {
        1
    }

    fn read(&self, _: usize, reading: &Reading, each: Taker<'_>) -> Result<()> {
        let file = self.sent.open().map_err(external)?;
        let splits = self.splits(&file).map_err(external)?;
        match &self.asked {
            Asked::Rows { projection, conditions, limit } => {
                let scan = file.scan_of(projection.clone(), conditions, vec![splits])?;
                Scan { limit: *limit, ..scan }.read(0, reading, each)
            }
            Asked::Groups { parts, outputs } => {
                let (parts, outputs, schema) = (parts.clone(), outputs.clone(), Arc::clone(&self.schema));
                let no_fields = || external(Error::Usage(format!("{parts} is no question to {}", file.columns())));
                let fields = parts.fields(file.columns()).ok_or_else(no_fields)?;
                let statistics = Statistics::new_unknown(&schema);
                Question { file, splits, parts, fields, outputs, schema, statistics }.read(0, reading, each)
            }
        }
    }
}

impl Part {
    /// The splits of this part; `None` for all of a stream.
    fn splits(&self, file: &FileTable) -> brc_core::Result<Option<Vec<Split>>> {
        let splits = file.splits();
        let (here, there) = (splits.as_ref().map(Vec::len), self.dealt.splits);
        if here != there {
            let reason = format!("it has {here:?} splits here, but {there:?} where the question was asked");
            return Err(Error::Unsupported { path: self.sent.path().to_owned(), reason });
        }
        let Some(splits) = splits else { return Ok(None) };
        let mut indices = self.dealt.splits_at(self.range.as_ref());
        // Scans go forwards.
        indices.sort_unstable();
        Ok(Some(indices.into_iter().filter_map(|index| splits.get(index).copied()).collect()))
    }
}

/// The same rows without what no string of them needs: record batches share the strings of a dictionary, and would be sent with
/// all of them.
fn compacted(batch: Result<RecordBatch>) -> Result<RecordBatch> {
    let batch = batch.map_err(told)?;
    let compact = |column: &ArrayRef| match column.data_type() {
        DataType::Utf8View => Arc::new(column.as_string_view().gc()) as ArrayRef,
        _ => Arc::clone(column),
    };
    let columns = batch.columns().iter().map(compact).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(batch.schema(), columns, &options)?)
}

/// The bytes of memory that the answer to a question about a part may take.
static MEMORY: OnceLock<usize> = OnceLock::new();

/// Limits the memory of each question that is asked of a part in this process, in bytes. Only the first call counts.
pub fn limit_memory(bytes: usize) {
    let _ = MEMORY.set(bytes);
}

/// Where the answer about one part takes memory from.
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
    fn each_split_is_dealt_once_however_parts_are_cut() {
        for splits in 0..20 {
            for most in 1..9 {
                let dealt = Dealt::new(Some(splits), most);
                for piece in 1..4 {
                    let ranges = (0..dealt.parts).flat_map(|part| {
                        let FileRange { start, end } = dealt.range(part).unwrap();
                        let starts = (start..end).step_by(piece);
                        starts.map(move |start| FileRange { start, end: end.min(start + piece as i64) })
                    });
                    let mut found: Vec<usize> = ranges.flat_map(|range| dealt.splits_at(Some(&range))).collect();
                    found.sort_unstable();
                    assert_eq!(found, (0..splits).collect::<Vec<_>>(), "{dealt:?}, pieces of {piece}");
                }
                let first = dealt.range(0).unwrap();
                assert!(dealt.splits_at(Some(&first)).iter().all(|split| split % dealt.parts == 0));
            }
        }
        assert_eq!(Dealt::new(None, 4), Dealt { splits: None, parts: 1 });
    }
}
