//! What a user asks, by names, and how it is bound to a table.

use crate::aggregate::{Aggregate, OrderBy};
use crate::aggregates::Function;
use crate::columns::{self, Unknown};
use crate::expression::Expression;
use crate::plan::{Output, Plan, SortKey};
use crate::result::QueryResult;
use brc_core::{Error, PhysicalType, Progress, Result, Schema, Table};
use std::sync::atomic::Ordering::Relaxed;

/// A question. [`Query::default`] asks for what fits the table best, with statistics allowed.
#[derive(Debug, Clone)]
pub struct Query {
    /// The names of the columns to group by. `None` is the only string column; without any, all rows are one group. An
    /// empty list also makes all rows one group.
    pub by: Option<Vec<String>>,
    /// What is computed for each group. `None` is min, mean and max of each column of numbers that is no key, or the number
    /// of rows if there is no such column.
    pub aggregates: Option<Vec<Aggregate>>,
    /// Which rows count.
    pub filter: Option<Expression>,
    /// By which output columns the answer is sorted, as far as they differ; then by keys, rising. Nulls come last.
    pub order_by: Vec<OrderBy>,
    /// How many of the sorted rows are wanted.
    pub limit: Option<u64>,
    /// Whether statistics in the file may stand for reading its data.
    pub statistics: bool,
    /// Whether to measure how long aggregation takes; it costs a little itself.
    pub timings: bool,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            by: None,
            aggregates: None,
            filter: None,
            order_by: Vec::new(),
            limit: None,
            statistics: true,
            timings: false,
        }
    }
}

impl Query {
    /// Binds the question to the columns of a table.
    ///
    /// # Errors
    /// [`Error::Usage`] if a column is not there or is of the wrong type, something is asked for twice, or it is not clear
    /// by which column to group.
    pub fn plan(&self, schema: &Schema) -> Result<Plan> {
        let keys = self.keys(schema)?;
        let outputs = self.outputs(schema, &keys)?;
        let predicate = self.filter.as_ref().map(|filter| filter.resolve(schema)).transpose()?;
        let mut plan = Plan {
            schema: schema.clone(),
            keys,
            outputs,
            filter: self.filter.as_ref().map(ToString::to_string),
            predicate,
            order_by: Vec::new(),
            limit: self.limit,
            statistics: self.statistics,
            timings: self.timings,
        };
        plan.order_by = self.sort_keys(&plan)?;
        Ok(plan)
    }

    /// Asks a table. Where its types are inferred while it is scanned, and turn out wider than they were when the scan began,
    /// it is scanned again. Returns the plan that fitted.
    ///
    /// # Errors
    /// What is wrong with the question, as for [`Query::plan`], or goes wrong while the table is scanned.
    pub fn ask(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Plan, QueryResult)> {
        loop {
            let inferred = table.inferred();
            let plan = self.plan(inferred.as_deref().unwrap_or(table.schema()))?;
            match plan.run(table, threads, progress) {
                Err(Error::Widened) if table.inferred() != inferred => {
                    progress.rows.store(0, Relaxed);
                    progress.bytes.store(0, Relaxed);
                }
                outcome => return Ok((plan, outcome?)),
            }
        }
    }

    fn keys(&self, schema: &Schema) -> Result<Vec<usize>> {
        let Some(names) = &self.by else { return default_keys(schema) };
        let mut keys = Vec::with_capacity(names.len());
        for name in names {
            let key = columns::find(schema, name)?;
            if keys.contains(&key) {
                return Err(Error::Usage(format!("column '{name}' is named twice as a key")));
            }
            keys.push(key);
        }
        Ok(keys)
    }

    fn outputs(&self, schema: &Schema, keys: &[usize]) -> Result<Vec<Output>> {
        let Some(aggregates) = &self.aggregates else { return Ok(default_outputs(schema, keys)) };
        let mut outputs = Vec::with_capacity(aggregates.len());
        for aggregate in aggregates {
            let column = aggregate.column.as_ref().map(|name| columns::find(schema, name)).transpose()?;
            let output = Output { function: aggregate.function, column, fraction: aggregate.fraction.clone() };
            output.bound(schema)?;
            if outputs.contains(&output) {
                return Err(Error::Usage(format!("{aggregate} is asked for twice")));
            }
            outputs.push(output);
        }
        Ok(outputs)
    }

    fn sort_keys(&self, plan: &Plan) -> Result<Vec<SortKey>> {
        let columns = plan.columns();
        let names = columns.iter().map(|column| column.name.as_str());
        let find = |order: &OrderBy| {
            let column = names.clone().position(|name| name == order.column);
            let column = column.ok_or_else(|| Unknown::new("output column", &order.column, names.clone()))?;
            Ok(SortKey { column, descending: order.descending })
        };
        self.order_by.iter().map(find).collect()
    }
}

fn default_keys(schema: &Schema) -> Result<Vec<usize>> {
    let fields = schema.fields();
    let strings: Vec<usize> =
        (0..fields.len()).filter(|&column| fields[column].logical_type.physical() == PhysicalType::Bytes).collect();
    if strings.len() > 1 {
        let names: Vec<&str> = strings.iter().map(|&column| fields[column].name.as_str()).collect();
        return Err(Error::Usage(format!("several columns to group by, name one or more of: {}", names.join(", "))));
    }
    Ok(strings)
}

fn default_outputs(schema: &Schema, keys: &[usize]) -> Vec<Output> {
    let output =
        |name: &str, column| Function::by_name(name, false).map(|function| Output { function, column, fraction: None });
    let is_number = |column: &usize| schema.fields()[*column].logical_type.is_numeric();
    let values = (0..schema.fields().len()).filter(|column| !keys.contains(column)).filter(is_number);
    let outputs: Vec<Output> = values
        .flat_map(|column| ["min", "mean", "max"].into_iter().filter_map(move |name| output(name, Some(column))))
        .collect();
    if outputs.is_empty() { output("count", None).into_iter().collect() } else { outputs }
}
