//! Has brc group the rows of its own tables: an aggregate over a [`FileTable`] becomes a table that is the answer.

use crate::answer::{Output, Parts, Question, item_name};
use crate::leaf::Leaf;
use crate::session::is_aggregating;
use crate::sql;
use crate::table::FileTable;
use async_trait::async_trait;
use brc_core::LogicalType;
use brc_query::Query;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Statistics, TableReference};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::Result;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Sort, TableProviderFilterPushDown, TableScan, TableType,
};
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
        let better = match &plan {
            LogicalPlan::Aggregate(aggregate) => answered(aggregate)?,
            LogicalPlan::Sort(sort) => first_groups(sort)?,
            _ => None,
        };
        Ok(better.map_or_else(|| Transformed::no(plan), Transformed::yes))
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

/// The same plan with an answer of no more groups than are wanted, if it sorts such an answer.
fn first_groups(sort: &Sort) -> Result<Option<LogicalPlan>> {
    let Some(most) = sort.fetch else { return Ok(None) };
    let Some((answer, computed)) = sorted_answer(&sort.input) else { return Ok(None) };
    let order = sort.expr.iter().map(|key| {
        let Expr::Column(column) = &key.expr else { return None };
        let column = computed.as_ref().map_or(Some(column), |computed| computed.get(column))?;
        let (ascending, nulls_first) = (key.asc, key.nulls_first);
        let direction = if ascending { "asc" } else { "desc" };
        let nulls = if nulls_first { "first" } else { "last" };
        Some(format!("{} {direction} nulls {nulls}", answer.item_of(column)?))
    });
    let Some(order) = order.collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut first = answer.clone();
    (first.question.parts.order, first.question.parts.limit) = (order, Some(most));
    let source = provider_as_source(Arc::new(first));
    let replaced = sort.input.as_ref().clone().transform_down(|plan| match plan {
        LogicalPlan::TableScan(scan) => {
            Ok(Transformed::yes(LogicalPlan::TableScan(TableScan { source: Arc::clone(&source), ..scan })))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(Some(LogicalPlan::Sort(Sort { input: Arc::new(replaced.data), ..sort.clone() })))
}

/// The answer that a plan shows, of which no groups were left out yet, and which of its columns those of the plan are, if not
/// those of the same names.
fn sorted_answer(plan: &LogicalPlan) -> Option<(AnswerTable, Option<HashMap<Column, Column>>)> {
    match plan {
        LogicalPlan::TableScan(TableScan { source, fetch: None, .. }) => {
            let provider = source_as_provider(source).ok()?;
            let answer = provider.downcast_ref::<AnswerTable>()?;
            (answer.question.parts.limit.is_none() && !answer.question.parts.keys.is_empty())
                .then(|| (answer.clone(), None))
        }
        LogicalPlan::SubqueryAlias(_) | LogicalPlan::Projection(_) => {
            let input = plan.inputs()[0];
            let (answer, inner) = sorted_answer(input)?;
            let own: Vec<Expr> = match plan {
                LogicalPlan::Projection(projection) => projection.expr.iter().cloned().map(Expr::unalias).collect(),
                _ => input.schema().columns().into_iter().map(Expr::Column).collect(),
            };
            let columns = plan.schema().columns().into_iter().zip(own).filter_map(|(column, own)| {
                let Expr::Column(of_input) = own else { return None };
                Some((column, inner.as_ref().map_or(Some(&of_input), |inner| inner.get(&of_input))?.clone()))
            });
            Some((answer, Some(columns.collect())))
        }
        _ => None,
    }
}

/// The answer to a question about a file, as a table.
#[derive(Clone)]
struct AnswerTable {
    question: Question,
}

impl Debug for AnswerTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerTable").field("question", &self.question.parts).finish_non_exhaustive()
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
            let key = sql::comparable(&input.resolved(key)?, columns)?;
            outputs.push(Output::Column(items.place(key.clone())));
            keys.push(key);
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
        let parts = Parts { items: items.0, conditions: input.conditions, keys, ..Parts::default() };
        let plan = Query::parse(&parts.to_string()).ok()?.plan(columns).ok()?;
        let mut fields = plan.answer_schema().ok()?.fields().to_vec();
        // Messages name them so.
        fields.iter_mut().zip(&parts.items).for_each(|(field, item)| field.name.clone_from(item));
        let are_exact = outputs.iter().zip(schema.fields()).all(|(output, field)| match *output {
            Output::Column(column) => is_exact(fields[column].logical_type, field.data_type()),
            Output::Average { sum, .. } => is_exact_average(fields[sum].logical_type, field.data_type()),
        });
        if !are_exact {
            return None;
        }
        let statistics = statistics(&input.file, &aggregate.group_expr, &schema);
        let (table, progress) = (Arc::clone(input.file.table()), Arc::clone(input.file.progress()));
        let (options, threads) = (input.file.options().clone(), input.file.threads());
        let question = Question { table, options, threads, progress, parts, fields, outputs, schema, statistics };
        Some(Self { question })
    }
}

/// What is probable of the groups of a table.
fn statistics(file: &FileTable, keys: &[Expr], schema: &SchemaRef) -> Statistics {
    let (known, mut found) = (file.known(), Statistics::new_unknown(schema));
    let (mut groups, mut all) = (1.0, known.num_rows.get_value().map_or(f64::INFINITY, |&rows| rows as f64));
    for (key, of_key) in keys.iter().zip(&mut found.column_statistics) {
        let column = if let Expr::Column(column) = key { file.columns().index_of(&column.name) } else { None };
        let of_column = column.map(|column| known.column_statistics[column].clone().to_inexact());
        let distinct = of_column.as_ref().and_then(|known| match known.distinct_count.get_value() {
            Some(&distinct) => Some(distinct as f64),
            None => Some(known.max_value.get_value()?.distance(known.min_value.get_value()?)? as f64 + 1.0),
        });
        groups *= distinct.unwrap_or(all);
        of_column.into_iter().for_each(|known| *of_key = known);
    }
    all = all.min(groups);
    found.num_rows = match keys.is_empty() {
        true => Precision::Exact(1),
        false if all.is_finite() => Precision::Inexact(all as usize),
        false => Precision::Absent,
    };
    found
}

/// What an aggregate is made of.
fn output(call: &Expr, input: &Input, items: &mut Items) -> Option<Output> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = call.clone().unalias() else { return None };
    if !params.order_by.is_empty() || params.null_treatment.is_some() {
        return None;
    }
    let [argument] = params.args.as_slice() else { return None };
    let columns = input.file.columns();
    let filter = match &params.filter {
        Some(filter) => format!(" filter (where {})", sql::condition(filter, columns)?),
        None => String::new(),
    };
    let item = |name: &str, argument: &str| format!("{name}({argument}){filter}");
    Some(match (func.name(), params.distinct) {
        ("count", true) => {
            let distinct = format!("distinct {}", sql::comparable(argument, columns)?);
            Output::Column(items.place(item("count", &distinct)))
        }
        ("count", false) => Output::Column(items.place(match argument {
            Expr::Literal(literal, _) if !literal.is_null() => item("count", "*"),
            argument => item("count", &sql::value(argument, columns)?),
        })),
        // Of equal values it is the same one.
        (name @ ("min" | "max"), _) => Output::Column(items.place(item(name, &sql::comparable(argument, columns)?))),
        ("sum", false) => Output::Column(items.place(item("sum", &sql::value(argument, columns)?))),
        ("avg", false) => {
            let argument = sql::averaged(argument, columns)?;
            let sum = items.place(item("sum", &argument));
            Output::Average { sum, count: items.place(item("count", &argument)) }
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

impl AnswerTable {
    /// The name in brc's answer of a column, if it is there as it is and both sort and compare its values alike.
    fn item_of(&self, column: &Column) -> Option<String> {
        let index = self.question.schema.index_of(&column.name).ok()?;
        match self.question.outputs[index] {
            Output::Column(item) if !self.question.fields[item].logical_type.is_float() => Some(item_name(item)),
            Output::Column(_) | Output::Average { .. } => None,
        }
    }

    /// A condition on groups in the words of brc.
    fn having(&self, condition: &Expr) -> Option<String> {
        if self.question.parts.keys.is_empty() {
            return None;
        }
        let mut is_known = true;
        let named = |part: Expr| {
            let Expr::Column(column) = &part else { return Ok(Transformed::no(part)) };
            let item = self.item_of(column);
            is_known &= item.is_some();
            Ok(item.map_or(Transformed::no(part), |item| Transformed::yes(Expr::Column(Column::from_name(item)))))
        };
        let condition = condition.clone().transform_up(named).data().ok()?;
        let names = self.question.fields.iter().enumerate();
        let fields = names.map(|(item, field)| brc_core::Field { name: item_name(item), ..field.clone() });
        sql::condition(&condition, &brc_core::Schema::new(fields.collect()).ok()?).filter(|_| is_known)
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
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut question = self.question.clone();
        question.parts.having.extend(filters.iter().filter_map(|filter| self.having(filter)));
        question.parts.limit = question.parts.limit.or(limit.filter(|_| !question.parts.keys.is_empty()));
        if let Some(projection) = projection {
            question.outputs = projection.iter().map(|&column| self.question.outputs[column]).collect();
            question.schema = Arc::new(question.schema.project(projection)?);
            question.statistics = question.statistics.project(Some(projection));
        }
        let schema = Arc::clone(&question.schema);
        Ok(Arc::new(Leaf::new(question, schema)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match self.having(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }
}
