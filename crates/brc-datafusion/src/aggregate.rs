//! The optimizer rule that lets brc group the rows of its own tables: it replaces an aggregate over a [`FileTable`] by
//! a scan of a table with the result.

use crate::answer::{FileQuery, Output, item_name};
use crate::cluster::combined;
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

/// Replaces aggregates over one table of brc by results of brc, as far as these surely equal DataFusion's.
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
        let rewritten = match &plan {
            LogicalPlan::Aggregate(aggregate) => computed_by_brc(aggregate, is_in_cluster(&options))?,
            LogicalPlan::Sort(sort) => first_groups(sort)?,
            _ => None,
        };
        Ok(rewritten.map_or_else(|| Transformed::no(plan), Transformed::yes))
    }
}

/// The plan in which brc computes the aggregate, if it can.
fn computed_by_brc(aggregate: &Aggregate, in_cluster: bool) -> Result<Option<LogicalPlan>> {
    let Some(grouped) = Grouped::of(aggregate) else { return Ok(None) };
    if in_cluster {
        return combined(aggregate, grouped);
    }
    let answer = ResultTable::of(aggregate, grouped);
    let name = TableReference::bare("brc");
    let names: Vec<_> = answer.query.schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns = names.iter().zip(aggregate.schema.iter()).map(|(name_of_answer, (qualifier, field))| {
        let column = Expr::Column(Column::new(Some(name.clone()), name_of_answer));
        column.alias_qualified(qualifier.cloned(), field.name())
    });
    let scan = LogicalPlanBuilder::scan(name.clone(), provider_as_source(Arc::new(answer)), None)?;
    scan.project(columns.collect::<Vec<_>>())?.build().map(Some)
}

/// Pushes a sort with a limit into the aggregate that it sorts, so that brc returns no more groups than needed.
fn first_groups(sort: &Sort) -> Result<Option<LogicalPlan>> {
    let Some(most) = sort.fetch else { return Ok(None) };
    let Some((answer, computed)) = sorted_result(&sort.input) else { return Ok(None) };
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
    (first.query.clauses.order, first.query.clauses.limit) = (order, Some(most));
    let source = provider_as_source(Arc::new(first));
    let replaced = sort.input.as_ref().clone().transform_down(|plan| match plan {
        LogicalPlan::TableScan(scan) => {
            Ok(Transformed::yes(LogicalPlan::TableScan(TableScan { source: Arc::clone(&source), ..scan })))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(Some(LogicalPlan::Sort(Sort { input: Arc::new(replaced.data), ..sort.clone() })))
}

/// Finds the aggregate result below projections and aliases, if it has no limit yet. Also returns the result's column
/// for each column of the plan; `None` if they have the same names.
fn sorted_result(plan: &LogicalPlan) -> Option<(ResultTable, Option<HashMap<Column, Column>>)> {
    match plan {
        LogicalPlan::TableScan(TableScan { source, fetch: None, .. }) => {
            let provider = source_as_provider(source).ok()?;
            let answer = provider.downcast_ref::<ResultTable>()?;
            (answer.query.clauses.limit.is_none() && !answer.query.clauses.keys.is_empty())
                .then(|| (answer.clone(), None))
        }
        LogicalPlan::SubqueryAlias(_) | LogicalPlan::Projection(_) => {
            let input = plan.inputs()[0];
            let (answer, inner) = sorted_result(input)?;
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

/// The result of a query over a file, as a table.
#[derive(Clone)]
struct ResultTable {
    query: FileQuery,
}

impl Debug for ResultTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultTable").field("query", &self.query.clauses).finish_non_exhaustive()
    }
}

impl ResultTable {
    fn of(aggregate: &Aggregate, grouped: Grouped) -> Self {
        let fields = aggregate.schema.fields().iter().enumerate();
        let fields =
            fields.map(|(index, own)| Field::new(format!("c{index}"), own.data_type().clone(), own.is_nullable()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let keys = grouped.keys.iter().map(|&key| Output::Column(key));
        let outputs = keys.chain(grouped.measures.iter().map(|measure| measure.output())).collect();
        let statistics = grouped.statistics(&aggregate.group_expr, &schema);
        let Grouped { file, clauses, fields, .. } = grouped;
        Self { query: FileQuery { file, splits: None, clauses, fields, outputs, schema, statistics } }
    }
}

impl ResultTable {
    /// The name of a column in brc's result, if it is passed on unchanged and both engines sort and compare its values
    /// alike.
    fn item_of(&self, column: &Column) -> Option<String> {
        let index = self.query.schema.index_of(&column.name).ok()?;
        match self.query.outputs[index] {
            Output::Column(item) if !self.query.fields[item].logical_type.is_float() => Some(item_name(item)),
            Output::Column(_) | Output::Average { .. } => None,
        }
    }

    /// Translates a condition on groups to the SQL of brc.
    fn having(&self, condition: &Expr) -> Option<String> {
        if self.query.clauses.keys.is_empty() {
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
        let names = self.query.fields.iter().enumerate();
        let fields = names.map(|(item, field)| brc_core::Field { name: item_name(item), ..field.clone() });
        sql::condition(&condition, &brc_core::Schema::new(fields.collect()).ok()?).filter(|_| is_known)
    }
}

#[async_trait]
impl TableProvider for ResultTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.query.schema)
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
        let mut query = self.query.clone();
        query.clauses.having.extend(filters.iter().filter_map(|filter| self.having(filter)));
        query.clauses.limit = query.clauses.limit.or(limit.filter(|_| !query.clauses.keys.is_empty()));
        if let Some(projection) = projection {
            query.outputs = projection.iter().map(|&column| self.query.outputs[column]).collect();
            query.schema = Arc::new(query.schema.project(projection)?);
            query.statistics = query.statistics.project(Some(projection));
        }
        let schema = Arc::clone(&query.schema);
        Ok(Arc::new(Leaf::new(query, schema)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match self.having(filter) {
            Some(_) => TableProviderFilterPushDown::Exact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }
}
