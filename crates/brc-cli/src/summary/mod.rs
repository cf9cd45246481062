//! Summarises each column of a table: the number of values, their range and their distribution.
//!
//! One query counts values and computes means of all columns. Then each column is grouped by its values. The groups, in
//! value order, give the range, the quartiles, the number of distinct values and the most frequent ones, within the
//! memory limit of a query.

mod json;
mod text;
mod values;

pub(crate) use json::json;
pub(crate) use text::text;

use brc_core::{Field, LogicalType, Progress, Result, ScanError, ScanOptions, Sink, Table, Value, current_schema};
use brc_query::{Expression, Memory, Query, SelectItem};
use values::Distribution;

/// The number of most frequent values that are shown.
const MOST_FREQUENT: usize = 5;

/// The summary of a table.
pub(crate) struct TableSummary {
    pub(crate) rows: u64,
    pub(crate) columns: Vec<ColumnSummary>,
}

/// The summary of a column. Values are in their text form.
pub(crate) struct ColumnSummary {
    name: String,
    logical_type: LogicalType,
    nulls: u64,
    mean: Option<f64>,
    deviation: Option<f64>,
    values: Distribution,
}

/// A table and the resources to summarise it.
pub(crate) struct Summarizer<'a> {
    pub(crate) table: &'a dyn Table,
    /// Selects the columns and rows to summarise.
    pub(crate) query: &'a Query,
    pub(crate) threads: usize,
    pub(crate) memory: &'a Memory,
    pub(crate) progress: &'a Progress,
}

impl Summarizer<'_> {
    /// Summarises the table.
    ///
    /// # Errors
    /// Those of the queries.
    pub(crate) fn run(&self) -> Result<TableSummary> {
        let (fields, answer) = self.moments()?;
        let mut values = answer.into_iter();
        let rows = count(values.next().flatten());
        let mut columns = Vec::with_capacity(fields.len());
        for field in fields {
            let present = count(values.next().flatten());
            let mut moment = || if field.logical_type.is_numeric() { values.next().flatten().map(float) } else { None };
            let (mean, deviation) = (moment(), moment());
            let values = self.values(&field.name, field.logical_type, present)?;
            let (name, logical_type) = (field.name, field.logical_type);
            columns.push(ColumnSummary { name, logical_type, nulls: rows - present, mean, deviation, values });
        }
        Ok(TableSummary { rows, columns })
    }

    /// The columns and their aggregates: the number of rows, then for each column the number of values and, for numeric
    /// columns, their mean and standard deviation.
    fn moments(&self) -> Result<(Vec<Field>, Vec<Option<Number>>)> {
        // Types may widen while the query runs, so it is built from the current schema.
        brc_core::with_types(self.table, self.threads, self.progress, |schema| {
            let shown = self.query.plan(schema)?.columns();
            let mut items = vec![Expression::call("count", &[])];
            for field in &shown {
                let functions: &[&str] = match field.logical_type.is_numeric() {
                    true => &["count", "avg", "stddev_samp"],
                    false => &["count"],
                };
                items.extend(functions.iter().map(|function| Expression::call(function, &[&field.name])));
            }
            let named = |(index, expression): (usize, Expression)| item(expression, &format!("{index}"));
            let select = items.into_iter().enumerate().map(named).collect();
            let query = self.query(select, Vec::new());
            let plan = query.plan(schema)?;
            let answer = plan.run_within(self.table, self.threads, self.memory, self.progress)?;
            let mut values = Vec::new();
            for block in answer.blocks() {
                values.extend(block?.rows().flatten().map(|value| value.and_then(Number::of)));
            }
            Ok((shown, values))
        })
    }

    /// The distribution of a column with `present` non-null values.
    fn values(&self, name: &str, logical_type: LogicalType, present: u64) -> Result<Distribution> {
        self.progress.restart();
        let column = Expression::column(name);
        let select = vec![item(column.clone(), "value"), item(Expression::call("count", &[]), "rows")];
        let query = self.query(select, vec![column]);
        let (_, answer) = query.ask_within(self.table, self.threads, self.memory, self.progress)?;
        let mut distribution = Distribution::new(logical_type, present);
        scan(&answer, &mut distribution)?;
        Ok(distribution)
    }

    fn query(&self, select: Vec<SelectItem>, by: Vec<Expression>) -> Query {
        Query { select: Some(select), by: Some(by), ..self.query.clone() }
    }
}

fn item(expression: Expression, alias: &str) -> SelectItem {
    SelectItem::Expression { expression, alias: Some(alias.to_owned()) }
}

/// Passes all rows of a result to a sink.
fn scan(answer: &dyn Table, sink: &mut dyn Sink) -> Result<()> {
    let mut scanner = answer.scanner(&ScanOptions::everything(&current_schema(answer)))?;
    for split in (0..).map_while(|index| answer.split(index)) {
        scanner.scan(&split, sink).map_err(ScanError::into_error)?;
    }
    Ok(())
}

/// The value of an aggregate.
#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn of(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(integer) => Some(Self::Integer(integer)),
            Value::Float(float) => Some(Self::Float(float)),
            Value::Bytes(_) => None,
        }
    }
}

fn count(number: Option<Number>) -> u64 {
    match number {
        Some(Number::Integer(count)) => u64::try_from(count).unwrap_or(0),
        Some(Number::Float(_)) | None => 0,
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Integer(integer) => integer as f64,
        Number::Float(float) => float,
    }
}
