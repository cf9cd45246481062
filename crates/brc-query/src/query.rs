//! What a user asks, by names, and how it is bound to a table.

use crate::aggregate::{Aggregate, Function, OrderBy};
use crate::columns::{self, Unknown};
use crate::expression::Expression;
use crate::plan::{Output, Plan, SortKey, is_number};
use brc_core::{Error, PhysicalType, Result, Schema};

/// A question. [`Query::default`] asks for what fits the table best, with statistics allowed.
#[derive(Debug, Clone)]
pub struct Query {
    /// The names of the columns to group by. `None` is the only string column; without any, all rows are one group. An
    /// empty list also makes all rows one group.
    pub by: Option<Vec<String>>,
    /// What is computed for each group. `None` is min, mean and max of each decimal column that is no key, or the number
    /// of rows if there is no such column.
    pub aggregates: Option<Vec<Aggregate>>,
    /// Which rows count.
    pub filter: Option<Expression>,
    /// By which output columns the answer is sorted, as far as they differ; then by keys in byte order, rising.
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

    fn keys(&self, schema: &Schema) -> Result<Vec<usize>> {
        let Some(names) = &self.by else { return default_keys(schema) };
        let mut keys = Vec::with_capacity(names.len());
        for name in names {
            let key = columns::find(schema, name)?;
            let logical_type = schema.fields()[key].logical_type;
            if logical_type.physical() != PhysicalType::Bytes
                && !(is_number(logical_type) && logical_type.fits_64_bits())
            {
                return Err(Error::Usage(format!("column '{name}': grouping by {logical_type} is not supported")));
            }
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
            let output = Output { function: aggregate.function, column };
            if !output.fits(schema) {
                return Err(Error::Usage(format!("{aggregate} needs a column of numbers")));
            }
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
    let is_decimal = |column: &usize| is_number(schema.fields()[*column].logical_type);
    let values = (0..schema.fields().len()).filter(|column| !keys.contains(column)).filter(is_decimal);
    let three = [Function::Min, Function::Mean, Function::Max];
    let outputs: Vec<Output> =
        values.flat_map(|column| three.map(|function| Output { function, column: Some(column) })).collect();
    if outputs.is_empty() { vec![Output { function: Function::Count, column: None }] } else { outputs }
}
