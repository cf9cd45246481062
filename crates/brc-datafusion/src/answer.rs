//! Has brc answer a question about one table, and gives the answer the types that DataFusion expects.

use crate::leaf::{Batches, Source};
use brc_arrow::Reader;
use brc_core::{Error, Field, Progress, ScanOptions, Table};
use brc_query::Query;
use datafusion::arrow::array::{ArrayRef, AsArray, Decimal128Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::kernels::numeric::div;
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Int64Type, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::physical_plan::execution_plan::EmissionType;
use std::fmt::{self, Display};
use std::sync::Arc;

/// A column of the answer that DataFusion sees, from columns of the answer that brc gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// The same values.
    Column(usize),
    /// A sum divided by a count.
    Average { sum: usize, count: usize },
}

/// A question to brc.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) threads: usize,
    pub(crate) text: String,
    /// The columns of brc's answer.
    pub(crate) fields: Vec<Field>,
    /// The columns wanted.
    pub(crate) outputs: Vec<Output>,
    /// Their types.
    pub(crate) schema: SchemaRef,
}

impl Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.table.path().display(), self.text)
    }
}

impl Source for Question {
    const NAME: &'static str = "BrcAnswer";
    const EMISSION: EmissionType = EmissionType::Final;

    fn parts(&self) -> usize {
        1
    }

    fn read(&self, _: usize, batch_rows: usize) -> Result<Batches, ArrowError> {
        let options = brc_arrow::Options { threads: 1, batch_rows, ..brc_arrow::Options::default() };
        let (question, arrow) = (self.clone(), brc_arrow::arrow_schema(&self.fields, &options));
        let (outputs, schema) = (self.outputs.clone(), Arc::clone(&self.schema));
        let answer = Reader::new(arrow, options, move |feed| question.answer(feed))?;
        Ok(Box::new(answer.map(move |batch| converted(&batch?, &outputs, &schema))))
    }
}

impl Question {
    fn answer(&self, feed: &brc_arrow::Feed) -> brc_core::Result<()> {
        let query = Query::parse(&self.text).map_err(|error| Error::Expression(error.to_string()))?;
        let (_, answer) = query.ask(&*self.table, self.threads, &Progress::default())?;
        let table = answer.table()?;
        feed.scan(&table, &self.fields, &ScanOptions::everything(table.schema()))
    }
}

/// The columns that DataFusion expects.
fn converted(batch: &RecordBatch, outputs: &[Output], schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let column = |(output, field): (&Output, &Arc<datafusion::arrow::datatypes::Field>)| match *output {
        Output::Column(column) => cast(batch.column(column), field.data_type()),
        Output::Average { sum, count } => average(batch.column(sum), batch.column(count), field.data_type()),
    };
    let columns = outputs.iter().zip(schema.fields()).map(column).collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// The same values in another type; an error where one is out of its range.
fn cast(values: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    cast_with_options(values, to, &CastOptions { safe: false, ..CastOptions::default() })
}

/// As DataFusion divides: decimals are cut to four more digits.
fn average(sums: &ArrayRef, counts: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
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
