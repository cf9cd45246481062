//! Has brc group the rows of its own tables: an aggregate over a [`FileTable`] becomes a table that is the answer.

use crate::answer::{Output, Question, item_name};
use crate::cluster::{combined, with_exact_sums};
use crate::grouped::Grouped;
use crate::leaf::Leaf;
use crate::session::{is_aggregating, is_in_cluster};
use crate::sql;
use async_trait::async_trait;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, TableReference};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::error::Result;
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
        let options = config.options();
        if !is_aggregating(&options) {
            return Ok(Transformed::no(plan));
        }
        let better = match &plan {
            LogicalPlan::Aggregate(aggregate) => answered(aggregate, is_in_cluster(&options))?,
            LogicalPlan::Sort(sort) => first_groups(sort)?,
            _ => None,
        };
        Ok(better.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

/// The plan that has brc answer, if it can.
fn answered(aggregate: &Aggregate, in_cluster: bool) -> Result<Option<LogicalPlan>> {
    let Some(grouped) = Grouped::of(aggregate) else { return Ok(None) };
    if in_cluster {
        return match combined(aggregate, grouped)? {
            None => with_exact_sums(aggregate),
            combined => Ok(combined),
        };
    }
    let answer = AnswerTable::of(aggregate, grouped);
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
    fn of(aggregate: &Aggregate, grouped: Grouped) -> Self {
        let fields = aggregate.schema.fields().iter().enumerate();
        let fields =
            fields.map(|(index, own)| Field::new(format!("c{index}"), own.data_type().clone(), own.is_nullable()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let keys = grouped.keys.iter().map(|&key| Output::Column(key));
        let outputs = keys.chain(grouped.measures.iter().map(|measure| measure.output())).collect();
        let statistics = grouped.statistics(&aggregate.group_expr, &schema);
        let Grouped { file, parts, fields, .. } = grouped;
        Self { question: Question { file, splits: None, parts, fields, outputs, schema, statistics } }
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
