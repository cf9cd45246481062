//! Has brc answer a question about one table, and gives the answer the types that DataFusion expects.

use crate::error::{external, of_arrow};
use crate::leaf::{Reading, Source, Taker};
use crate::table::FileTable;
use brc_arrow::located;
use brc_core::{Error, Field, Progress, ScanOptions, Schema, Split, Table};
use brc_kernels::memory::in_use;
use brc_query::{Answered, Memory, Plan, Query};
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

/// A column of the answer that DataFusion sees, from columns of the answer that brc gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Output {
    /// The same values.
    Column(usize),
    /// A sum divided by a count.
    Average { sum: usize, count: usize },
}

/// What is asked of a table, in parts of a question to brc.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Parts {
    /// What is selected; each item has its number as its name ([`item_name`]).
    pub(crate) items: Vec<String>,
    /// Conditions on rows.
    pub(crate) conditions: Vec<String>,
    /// What is grouped by.
    pub(crate) keys: Vec<String>,
    /// Conditions on groups.
    pub(crate) having: Vec<String>,
    /// What groups are sorted by.
    pub(crate) order: Vec<String>,
    /// How many groups are wanted.
    pub(crate) limit: Option<usize>,
}

impl Parts {
    /// The plan for a table of these columns.
    fn plan(&self, columns: &Schema) -> brc_core::Result<Plan> {
        Query::parse(&self.to_string()).map_err(|error| Error::Expression(error.to_string()))?.plan(columns)
    }

    /// The columns of the answer; `None` if brc has none.
    pub(crate) fn fields(&self, columns: &Schema) -> Option<Vec<Field>> {
        let mut fields = self.plan(columns).ok()?.answer_schema().ok()?.fields().to_vec();
        // Messages name them so.
        fields.iter_mut().zip(&self.items).for_each(|(field, item)| field.name.clone_from(item));
        Some(fields)
    }
}

/// The name of an item in the answer.
pub(crate) fn item_name(item: usize) -> String {
    format!("i{item}")
}

impl Display for Parts {
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

/// A question to brc.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) file: FileTable,
    /// The splits that are asked, if not all.
    pub(crate) splits: Option<Vec<Split>>,
    pub(crate) parts: Parts,
    /// The columns of brc's answer.
    pub(crate) fields: Vec<Field>,
    /// The columns wanted.
    pub(crate) outputs: Vec<Output>,
    /// Their types.
    pub(crate) schema: SchemaRef,
    /// What is probable of them, if all groups are wanted.
    pub(crate) statistics: Statistics,
}

impl Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file.table().path().display(), self.parts)
    }
}

impl Source for Question {
    const NAME: &'static str = "BrcAnswer";
    const EMISSION: EmissionType = EmissionType::Final;

    fn parts(&self) -> usize {
        1
    }

    fn statistics(&self) -> Option<Statistics> {
        let mut known = self.statistics.clone();
        if !self.parts.having.is_empty() {
            known.num_rows = known.num_rows.with_estimated_selectivity(HAVING_SELECTIVITY);
        }
        if let (Some(limit), Some(rows)) = (self.parts.limit, known.num_rows.get_value().copied()) {
            known.num_rows = Precision::Inexact(rows.min(limit));
        }
        Some(known)
    }

    fn read(&self, _: usize, reading: &Reading, each: Taker<'_>) -> Result<()> {
        let file = &self.file;
        let plan = self.parts.plan(file.columns()).map_err(external)?;
        // A part is one of many that are read side by side.
        let (plan, threads) = match &self.splits {
            Some(splits) => (plan.over(splits.clone()), 1),
            None => (plan, file.threads()),
        };
        let (memory, _reserved) = budget(&reading.memory)?;
        let answer = plan.run_within(&**file.table(), threads, &memory, file.progress()).map_err(external)?;
        match answer {
            Answered::Held(answer) => self.hand_over(&answer.table().map_err(external)?, reading.batch_rows, each),
            Answered::Long(answer) => self.hand_over(&*answer, reading.batch_rows, each),
        }
    }
}

/// How many groups are left by a condition on them, as DataFusion guesses for conditions of which it knows nothing.
const HAVING_SELECTIVITY: f64 = 0.2;

/// The memory that an answer may take, which is kept free for it: half of what nobody has reserved.
fn budget(pool: &Arc<dyn MemoryPool>) -> Result<(Memory, MemoryReservation)> {
    /// With less brc would do little but write temporary files.
    const LEAST: usize = 16 << 20;
    let reservation = MemoryConsumer::new(Question::NAME).register(pool);
    let MemoryLimit::Finite(limit) = pool.memory_limit() else { return Ok((Memory::unlimited(), reservation)) };
    let own = (limit.saturating_sub(pool.reserved()) / 2).max(LEAST.min(limit));
    reservation.try_grow(own)?;
    // What the program has by now is not the answer's.
    Ok((Memory { limit: in_use().saturating_add(own as u64), ..Memory::unlimited() }, reservation))
}

impl Question {
    fn hand_over(&self, answer: &dyn Table, batch_rows: usize, each: Taker<'_>) -> Result<()> {
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

type Converted<T> = std::result::Result<T, ArrowError>;

/// The columns that DataFusion expects.
fn converted(batch: &RecordBatch, outputs: &[Output], schema: &SchemaRef) -> Converted<RecordBatch> {
    let column = |(output, field): (&Output, &Arc<datafusion::arrow::datatypes::Field>)| match *output {
        Output::Column(column) => cast(batch.column(column), field.data_type()),
        Output::Average { sum, count } => average(batch.column(sum), batch.column(count), field.data_type()),
    };
    let columns = outputs.iter().zip(schema.fields()).map(column).collect::<Converted<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// The same values in another type; an error where one is out of its range.
fn cast(values: &ArrayRef, to: &DataType) -> Converted<ArrayRef> {
    cast_with_options(values, to, &CastOptions { safe: false, ..CastOptions::default() })
}

/// As DataFusion divides: decimals are cut to four more digits.
fn average(sums: &ArrayRef, counts: &ArrayRef, to: &DataType) -> Converted<ArrayRef> {
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
