//! Has brc group the rows of its own tables: an aggregate over a [`FileTable`] becomes a table that is the answer.

use crate::answer::{Output, Question};
use crate::leaf::Leaf;
use crate::session::is_aggregating;
use crate::sql;
use crate::table::FileTable;
use async_trait::async_trait;
use brc_core::LogicalType;
use brc_query::Query;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, TableReference};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::Result;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, TableScan, TableType};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// Replaces aggregates of one table of brc by brc's answer, as far as it surely is DataFusion's.
#[derive(Debug, Default)]
pub struct AggregateInFile;

impl OptimizerRule for AggregateInFile {
    fn name(&self) -> &'static str {
        "aggregate_in_file"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !is_aggregating(&config.options()) {
            return Ok(Transformed::no(plan));
        }
        let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
        match answered(aggregate)? {
            Some(answer) => Ok(Transformed::yes(answer)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

/// What an aggregate looks at: rows of a table that meet conditions, and what its columns stand for.
struct Input {
    file: FileTable,
    conditions: Vec<String>,
    /// What columns stand for, if not for those of the table.
    computed: HashMap<Column, Expr>,
}

impl Input {
    /// `None` if it is something else.
    fn of(plan: &LogicalPlan) -> Option<Self> {
        match plan {
            LogicalPlan::TableScan(TableScan { source, filters, fetch: None, .. }) => {
                let provider = source_as_provider(source).ok()?;
                let file = provider.downcast_ref::<FileTable>()?.clone();
                let condition = |filter| sql::condition(filter, file.columns());
                let conditions = filters.iter().map(condition).collect::<Option<_>>()?;
                Some(Self { file, conditions, computed: HashMap::new() })
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let mut input = Self::of(&alias.input)?;
                if !input.computed.is_empty() {
                    return None;
                }
                let fields = alias.schema.columns().into_iter().zip(alias.input.schema().columns());
                input.computed = fields.map(|(own, inner)| (own, Expr::Column(inner))).collect();
                Some(input)
            }
            LogicalPlan::Filter(filter) => {
                let mut input = Self::of(&filter.input)?;
                let condition = sql::condition(&input.resolved(&filter.predicate)?, input.file.columns())?;
                // The scan may have been given the same one.
                if !input.conditions.contains(&condition) {
                    input.conditions.push(condition);
                }
                Some(input)
            }
            LogicalPlan::Projection(projection) => {
                let mut input = Self::of(&projection.input)?;
                let columns = projection.schema.columns().into_iter().zip(&projection.expr);
                let computed = columns.map(|(column, computed)| Some((column, input.resolved(computed)?)));
                input.computed = computed.collect::<Option<_>>()?;
                Some(input)
            }
            _ => None,
        }
    }

    /// The expression over the columns of the table.
    fn resolved(&self, expression: &Expr) -> Option<Expr> {
        let resolve = |part: Expr| {
            Ok(match &part {
                Expr::Column(column) => match self.computed.get(column) {
                    Some(computed) => Transformed::yes(computed.clone().unalias()),
                    None => Transformed::no(part),
                },
                _ => Transformed::no(part),
            })
        };
        expression.clone().transform_up(resolve).data().ok().map(Expr::unalias)
    }
}

/// The items of a question to brc, each once.
#[derive(Default)]
struct Items(Vec<String>);

impl Items {
    fn place(&mut self, item: String) -> usize {
        self.0.iter().position(|known| *known == item).unwrap_or_else(|| {
            self.0.push(item);
            self.0.len() - 1
        })
    }
}

/// The plan that has brc answer, if it can.
fn answered(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let Some(answer) = AnswerTable::of(aggregate) else { return Ok(None) };
    let name = TableReference::bare("brc");
    let names: Vec<_> = answer.question.schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns = names.iter().zip(aggregate.schema.iter()).map(|(name_of_answer, (qualifier, field))| {
        let column = Expr::Column(Column::new(Some(name.clone()), name_of_answer));
        column.alias_qualified(qualifier.cloned(), field.name())
    });
    let scan = LogicalPlanBuilder::scan(name.clone(), provider_as_source(Arc::new(answer)), None)?;
    scan.project(columns.collect::<Vec<_>>())?.build().map(Some)
}

/// The answer to a question about a file, as a table.
#[derive(Clone)]
struct AnswerTable {
    question: Question,
}

impl Debug for AnswerTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerTable").field("question", &self.question.text).finish_non_exhaustive()
    }
}

impl AnswerTable {
    fn of(aggregate: &Aggregate) -> Option<Self> {
        let input = Input::of(&aggregate.input)?;
        let columns = input.file.columns();
        let mut items = Items::default();
        let mut outputs = Vec::new();
        let mut keys = Vec::new();
        for key in &aggregate.group_expr {
            let Expr::Column(column) = input.resolved(key)? else { return None };
            let field = sql::field(columns, &column)?;
            if field.logical_type.is_float() {
                return None;
            }
            keys.push(sql::quoted(&field.name));
            outputs.push(Output::Column(items.place(sql::quoted(&field.name))));
        }
        for call in &aggregate.aggr_expr {
            outputs.push(output(&input.resolved(call)?, &input, &mut items)?);
        }
        if items.0.is_empty() {
            return None;
        }
        let fields = aggregate.schema.fields().iter().enumerate();
        let fields =
            fields.map(|(index, own)| Field::new(format!("c{index}"), own.data_type().clone(), own.is_nullable()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let text = text(&items.0, &input.conditions, &keys);
        let plan = Query::parse(&text).ok()?.plan(columns).ok()?;
        let fields = plan.answer_schema().ok()?.fields().to_vec();
        let are_exact = outputs.iter().zip(schema.fields()).all(|(output, field)| match *output {
            Output::Column(column) => is_exact(fields[column].logical_type, field.data_type()),
            Output::Average { sum, .. } => is_exact_average(fields[sum].logical_type, field.data_type()),
        });
        let (table, threads) = (Arc::clone(input.file.table()), input.file.threads());
        are_exact.then_some(Self { question: Question { table, threads, text, fields, outputs, schema } })
    }
}

/// The question for these items of rows that meet the conditions, of which each has a name.
fn text(items: &[String], conditions: &[String], keys: &[String]) -> String {
    let named = items.iter().enumerate().map(|(index, item)| format!("{item} as i{index}"));
    let mut text = format!("select {}", named.collect::<Vec<_>>().join(", "));
    if !conditions.is_empty() {
        text += &format!(" where {}", conditions.join(" and "));
    }
    if !keys.is_empty() {
        text += &format!(" group by {}", keys.join(", "));
    }
    text
}

/// What an aggregate is made of.
fn output(call: &Expr, input: &Input, items: &mut Items) -> Option<Output> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = call else { return None };
    if params.distinct || params.filter.is_some() || !params.order_by.is_empty() || params.null_treatment.is_some() {
        return None;
    }
    let [argument] = params.args.as_slice() else { return None };
    let columns = input.file.columns();
    let item = |name: &str, argument: String| format!("{name}({argument})");
    Some(match func.name() {
        "count" => Output::Column(items.place(match argument {
            Expr::Literal(literal, _) if !literal.is_null() => "count(*)".to_owned(),
            argument => item("count", sql::value(argument, columns)?),
        })),
        name @ ("min" | "max") => Output::Column(items.place(item(name, sql::comparable(argument, columns)?))),
        "sum" => Output::Column(items.place(item("sum", sql::value(argument, columns)?))),
        "avg" => {
            let argument = sql::value(argument, columns)?;
            let sum = items.place(item("sum", argument.clone()));
            Output::Average { sum, count: items.place(item("count", argument)) }
        }
        _ => return None,
    })
}

/// Whether values of brc's type are the same in that type, or out of its range.
fn is_exact(own: LogicalType, expected: &DataType) -> bool {
    let scale = match expected {
        DataType::Decimal128(_, scale) => *scale,
        _ if own.is_float() => return matches!(expected, DataType::Float64 | DataType::Float32),
        expected if expected.is_integer() => 0,
        _ => return true,
    };
    own.is_numeric() && i16::from(own.scale()) == i16::from(scale)
}

/// Whether a sum of that type is divided as DataFusion does it.
fn is_exact_average(sum: LogicalType, expected: &DataType) -> bool {
    match expected {
        DataType::Float64 => sum.is_numeric(),
        DataType::Decimal128(_, scale) => !sum.is_float() && i16::from(sum.scale()) <= i16::from(*scale),
        _ => false,
    }
}

#[async_trait]
impl TableProvider for AnswerTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.question.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut question = self.question.clone();
        if let Some(projection) = projection {
            question.outputs = projection.iter().map(|&column| self.question.outputs[column]).collect();
            question.schema = Arc::new(question.schema.project(projection)?);
        }
        let schema = Arc::clone(&question.schema);
        Ok(Arc::new(Leaf::new(question, schema)))
    }
}
