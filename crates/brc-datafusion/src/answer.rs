//! Has brc answer a question about one table, and gives the answer the types that DataFusion expects.

use crate::error::of_arrow;
use brc_arrow::Reader;
use brc_core::{Error, Field, Progress, ScanOptions, Table};
use brc_query::Query;
use datafusion::arrow::array::{ArrayRef, AsArray, Decimal128Array, RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::kernels::numeric::div;
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Int64Type, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Record batches that are made before they are taken.
const AHEAD: usize = 2;

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
}

/// Answers a question in one go.
#[derive(Clone)]
pub(crate) struct AnswerExec {
    question: Question,
    properties: Arc<PlanProperties>,
}

impl AnswerExec {
    /// The answer, whose wanted columns have that schema.
    pub(crate) fn new(question: Question, schema: SchemaRef) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { question, properties: Arc::new(properties) }
    }
}

impl Debug for AnswerExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerExec").field("question", &self.question.text).finish_non_exhaustive()
    }
}

impl DisplayAs for AnswerExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrcAnswer: {}, {}", self.question.table.path().display(), self.question.text)
    }
}

impl ExecutionPlan for AnswerExec {
    fn name(&self) -> &'static str {
        "BrcAnswer"
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
        if partition > 0 {
            return internal_err!("an answer has one part");
        }
        let options = brc_arrow::Options {
            threads: 1,
            batch_rows: context.session_config().batch_size(),
            ..brc_arrow::Options::default()
        };
        let (question, schema) = (self.question.clone(), self.schema());
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&schema), AHEAD);
        let batches = stream.tx();
        stream.spawn_blocking(move || {
            let arrow = brc_arrow::arrow_schema(&question.fields, &options);
            let outputs = question.outputs.clone();
            let answer = Reader::new(arrow, options, move |feed| question.answer(feed)).map_err(of_arrow)?;
            for batch in answer {
                let batch = batch.and_then(|batch| converted(&batch, &outputs, &schema)).map_err(of_arrow);
                if batches.blocking_send(batch).is_err() {
                    break;
                }
            }
            Ok(())
        });
        Ok(stream.build())
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
