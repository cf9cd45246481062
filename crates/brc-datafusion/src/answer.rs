//! Runs a query of brc over one table, and converts its result to the types that DataFusion expects.

use crate::error::{external, of_arrow};
use crate::leaf::{BatchConsumer, ReadContext, Source};
use crate::table::FileTable;
use brc_arrow::located;
use brc_core::{Error, Field, Progress, ScanOptions, Schema, Split, Table};
use brc_kernels::memory::in_use;
use brc_query::{Memory, Plan, Query};
use datafusion::arrow::array::{ArrayRef, AsArray, Decimal128Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::kernels::numeric::div;
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Int64Type, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::physical_plan::execution_plan::EmissionType;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::sync::Arc;

/// A column for DataFusion, computed from columns of brc's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Output {
    /// The same values.
    Column(usize),
    /// A sum divided by a count.
    Average { sum: usize, count: usize },
}

/// The clauses of a query in the SQL of brc.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct QueryClauses {
    /// The selected expressions; each is named by its number ([`item_name`]).
    pub(crate) items: Vec<String>,
    /// Conditions on rows.
    pub(crate) conditions: Vec<String>,
    /// The grouping keys.
    pub(crate) keys: Vec<String>,
    /// Conditions on groups.
    pub(crate) having: Vec<String>,
    /// The sort keys of groups.
    pub(crate) order: Vec<String>,
    /// The maximum number of groups.
    pub(crate) limit: Option<usize>,
}

impl QueryClauses {
    /// Plans the query for a table with these columns.
    fn plan(&self, columns: &Schema) -> brc_core::Result<Plan> {
        Query::parse(&self.to_string()).map_err(|error| Error::Expression(error.to_string()))?.plan(columns)
    }

    /// The columns of brc's result; `None` if brc cannot plan the query.
    pub(crate) fn fields(&self, columns: &Schema) -> Option<Vec<Field>> {
        let mut fields = self.plan(columns).ok()?.answer_schema().ok()?.fields().to_vec();
        // Messages use these names.
        fields.iter_mut().zip(&self.items).for_each(|(field, item)| field.name.clone_from(item));
        Some(fields)
    }
}

/// The name of a selected expression in the result.
pub(crate) fn item_name(item: usize) -> String {
    format!("i{item}")
}

impl Display for QueryClauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = self.items.iter().enumerate().map(|(number, item)| format!("{item} as {}", item_name(number)));
        write!(f, "select {}", items.collect::<Vec<_>>().join(", "))?;
        for (word, parts, between) in [
            ("where", &self.conditions, " and "),
            ("group by", &self.keys, ", "),
            ("having", &self.having, " and "),
            ("order by", &self.order, ", "),
        ] {
            if !parts.is_empty() {
                write!(f, " {word} {}", parts.join(between))?;
            }
        }
        self.limit.map_or(Ok(()), |limit| write!(f, " limit {limit}"))
    }
}

/// A query over a file, run by brc.
#[derive(Clone)]
pub(crate) struct FileQuery {
    pub(crate) file: FileTable,
    /// The splits to scan; all if `None`.
    pub(crate) splits: Option<Vec<Split>>,
    pub(crate) clauses: QueryClauses,
    /// The columns of brc's result.
    pub(crate) fields: Vec<Field>,
    /// The columns for DataFusion.
    pub(crate) outputs: Vec<Output>,
    /// The schema of these columns.
    pub(crate) schema: SchemaRef,
    /// Estimated statistics of all groups.
    pub(crate) statistics: Statistics,
}

impl Display for FileQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file.table().path().display(), self.clauses)
    }
}

impl Source for FileQuery {
    const NAME: &'static str = "BrcAnswer";
    const EMISSION: EmissionType = EmissionType::Final;

    fn partitions(&self) -> usize {
        1
    }

    fn statistics(&self) -> Option<Statistics> {
        let mut known = self.statistics.clone();
        if !self.clauses.having.is_empty() {
            known.num_rows = known.num_rows.with_estimated_selectivity(HAVING_SELECTIVITY);
        }
        if let (Some(limit), Some(rows)) = (self.clauses.limit, known.num_rows.get_value().copied()) {
            known.num_rows = Precision::Inexact(rows.min(limit));
        }
        Some(known)
    }

    fn read(&self, _: usize, context: &ReadContext, each: BatchConsumer<'_>) -> Result<()> {
        let file = &self.file;
        let plan = self.clauses.plan(file.columns()).map_err(external)?;
        // One of several partitions that run in parallel.
        let (plan, threads) = match &self.splits {
            Some(splits) => (plan.over(splits.clone()), 1),
            None => (plan, file.threads()),
        };
        let (memory, _reserved) = budget(&context.memory)?;
        let answer = plan.run_within(&**file.table(), threads, &memory, file.progress()).map_err(external)?;
        self.send_batches(&answer, context.batch_rows, each)
    }
}

/// The share of groups that satisfy a condition, as DataFusion estimates for unknown conditions.
const HAVING_SELECTIVITY: f64 = 0.2;

/// Reserves memory for a query: half of the unreserved memory of the pool.
fn budget(pool: &Arc<dyn MemoryPool>) -> Result<(Memory, MemoryReservation)> {
    /// With less memory brc would mostly write temporary files.
    const MIN_BYTES: usize = 16 << 20;
    let reservation = MemoryConsumer::new(FileQuery::NAME).register(pool);
    let MemoryLimit::Finite(limit) = pool.memory_limit() else { return Ok((Memory::unlimited(), reservation)) };
    let own = (limit.saturating_sub(pool.reserved()) / 2).max(MIN_BYTES.min(limit));
    reservation.try_grow(own)?;
    // Memory that the program already uses is not counted.
    Ok((Memory { limit: in_use().saturating_add(own as u64), ..Memory::unlimited() }, reservation))
}

impl FileQuery {
    fn send_batches(&self, answer: &dyn Table, batch_rows: usize, each: BatchConsumer<'_>) -> Result<()> {
        let arrow = Arc::new(brc_arrow::arrow_schema(&self.fields, self.file.options()));
        let request = ScanOptions::everything(answer.schema());
        let each = |batch: RecordBatch| {
            let converted = converted(&batch, &self.outputs, &self.schema);
            each(converted.map_err(of_arrow))
        };
        let columns = (self.fields.as_slice(), &arrow);
        brc_arrow::scan_batches(answer, columns, batch_rows, &request, &|_| false, &each, &Progress::default())
            .map_err(|error| external(located(error, &**self.file.table())))
    }
}

pub(crate) type ArrowResult<T> = std::result::Result<T, ArrowError>;

/// Converts a batch of brc's result to the columns that DataFusion expects.
fn converted(batch: &RecordBatch, outputs: &[Output], schema: &SchemaRef) -> ArrowResult<RecordBatch> {
    let column = |(output, field): (&Output, &Arc<datafusion::arrow::datatypes::Field>)| match *output {
        Output::Column(column) => cast(batch.column(column), field.data_type()),
        Output::Average { sum, count } => average(batch.column(sum), batch.column(count), field.data_type()),
    };
    let columns = outputs.iter().zip(schema.fields()).map(column).collect::<ArrowResult<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// Casts values; an error if one is out of range.
pub(crate) fn cast(values: &ArrayRef, to: &DataType) -> ArrowResult<ArrayRef> {
    cast_with_options(values, to, &CastOptions { safe: false, ..CastOptions::default() })
}

/// Divides sums by counts like DataFusion: decimals are truncated to four more digits.
pub(crate) fn average(sums: &ArrayRef, counts: &ArrayRef, to: &DataType) -> ArrowResult<ArrayRef> {
    let DataType::Decimal128(precision, scale) = *to else {
        return div(&cast(sums, &DataType::Float64)?, &cast(counts, &DataType::Float64)?);
    };
    let (sums, counts) = (cast(sums, &DataType::Decimal128(38, scale))?, cast(counts, &DataType::Int64)?);
    let (sums, counts) = (sums.as_primitive::<Decimal128Type>(), counts.as_primitive::<Int64Type>());
    let means: Decimal128Array = sums.iter().zip(counts).map(|(sum, count)| sum?.checked_div(count?.into())).collect();
    let means = means.with_precision_and_scale(precision, scale)?;
    means.validate_decimal_precision(precision)?;
    Ok(Arc::new(means))
}
