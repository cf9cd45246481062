//! A question bound to the columns of a table: plain data, which may travel to where the table is.

use crate::aggregate::{Aggregate, Function};
use crate::answer::{Answer, OutputColumn, ScanTotals};
use crate::group::GroupTable;
use crate::partial::Partial;
use brc_core::{
    Error, LogicalType, Order, PhysicalType, Predicate, Progress, Result, ScanOptions, Scanned, Schema, Sink, Split,
    Table, Worker, scan,
};
use serde::{Deserialize, Serialize};

/// What [`crate::Query::plan`] makes of a question. Columns are positions in the schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) schema: Schema,
    pub(crate) keys: Vec<usize>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) filter: Option<String>,
    pub(crate) predicate: Option<Predicate>,
    pub(crate) order_by: Vec<SortKey>,
    pub(crate) limit: Option<u64>,
    pub(crate) statistics: bool,
    pub(crate) timings: bool,
}

/// An aggregate to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The function.
    pub function: Function,
    /// The column; none for the number of rows.
    pub column: Option<usize>,
}

impl Output {
    /// Whether the column is one that the function can be computed of.
    pub(crate) fn fits(self, schema: &Schema) -> bool {
        match self.column {
            Some(column) if self.function == Function::Count => column < schema.fields().len(),
            Some(column) => schema.fields().get(column).is_some_and(|field| is_number(field.logical_type)),
            None => self.function == Function::Count,
        }
    }

    fn scale(self, schema: &Schema) -> u8 {
        self.column.and_then(|column| schema.fields().get(column)).map_or(0, |field| field.logical_type.scale())
    }
}

/// An output column to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SortKey {
    /// Its position in [`Plan::columns`].
    pub column: usize,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Plan {
    /// The columns of the table that this is a plan for.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The columns to group by.
    #[must_use]
    pub fn keys(&self) -> &[usize] {
        &self.keys
    }

    /// What is computed for each group.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The filter as the user wrote it.
    #[must_use]
    pub fn filter(&self) -> Option<&str> {
        self.filter.as_deref()
    }

    /// The filter as it is applied.
    #[must_use]
    pub fn predicate(&self) -> Option<&Predicate> {
        self.predicate.as_ref()
    }

    /// By what the answer is sorted before the keys.
    #[must_use]
    pub fn order_by(&self) -> &[SortKey] {
        &self.order_by
    }

    /// How many rows are wanted.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// The columns of the answer: first the keys, then the aggregates.
    #[must_use]
    pub fn columns(&self) -> Vec<OutputColumn> {
        let fields = self.schema.fields();
        let keys = self
            .keys
            .iter()
            .map(|&key| OutputColumn { name: fields[key].name.clone(), logical_type: fields[key].logical_type });
        let aggregates = self.outputs.iter().map(|output| {
            let column = output.column.map(|column| fields[column].name.clone());
            OutputColumn {
                name: Aggregate { function: output.function, column }.to_string(),
                logical_type: output.function.logical_type(output.scale(&self.schema)),
            }
        });
        keys.chain(aggregates).collect()
    }

    /// Whether the answer fits the official line of the One Billion Row Challenge: one string key, and exactly min, mean
    /// and max of one column.
    #[must_use]
    pub fn is_one_brc(&self) -> bool {
        let one_string = matches!(self.keys[..], [key] if self.is_text(key));
        let functions = self.outputs.iter().map(|output| output.function);
        let one_column = self.outputs.windows(2).all(|pair| pair[0].column == pair[1].column);
        one_string && one_column && functions.eq([Function::Min, Function::Mean, Function::Max])
    }

    /// What is asked of the table's scan.
    #[must_use]
    pub fn scan_options(&self) -> ScanOptions {
        let all_strings = self.keys.iter().all(|&key| self.is_text(key));
        ScanOptions {
            projection: self.projection(),
            predicate: self.predicate.clone(),
            // The statistics of a decimal do not tell which groups there are.
            statistics: self.statistics && all_strings,
            sums: all_strings,
            order: Order::Any,
        }
    }

    /// Asks a table.
    ///
    /// # Errors
    /// If the table has other columns than the plan is for, or what goes wrong while scanning it.
    pub fn run(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Answer> {
        let (partial, totals) = self.partial(table, threads, progress)?;
        self.answer([partial], totals)
    }

    /// Scans a table: the first half of [`Plan::run`].
    ///
    /// # Errors
    /// As for [`Plan::run`].
    pub fn partial(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Partial, ScanTotals)> {
        self.check()?;
        if !self.schema.is_like(table.schema()) {
            let (expected, found) = (&self.schema, table.schema());
            return Err(Error::Usage(format!("the table's columns are {found}, but the plan is for {expected}")));
        }
        let new_worker = || QueryWorker { groups: GroupTable::new(self, table.path()), totals: ScanTotals::default() };
        let workers = scan(table, &self.scan_options(), threads, progress, new_worker)?;
        let mut totals = ScanTotals::default();
        let mut merged = self.no_groups();
        for mut worker in workers {
            worker.totals.aggregate_time = worker.groups.time();
            totals.add(&worker.totals);
            merged.merge(worker.groups.finish())?;
        }
        Ok((merged, totals))
    }

    /// Merges the partials of several scans and sorts: the second half of [`Plan::run`].
    ///
    /// # Errors
    /// [`Error::Usage`] if a partial is not of this plan.
    pub fn answer(&self, partials: impl IntoIterator<Item = Partial>, totals: ScanTotals) -> Result<Answer> {
        self.check()?;
        let mut merged = self.no_groups();
        for partial in partials {
            merged.merge(partial)?;
        }
        Ok(Answer::new(self, merged, totals))
    }

    /// The columns whose statistics are kept for each group, each once. A count needs none: every row has a value.
    pub(crate) fn aggregated(&self) -> Vec<usize> {
        let values = self.outputs.iter().filter(|output| output.function != Function::Count);
        distinct(values.filter_map(|output| output.column))
    }

    /// The columns that a scan has to deliver, each once: keys, then aggregated ones, then those filtered by.
    pub(crate) fn projection(&self) -> Vec<usize> {
        let mut filtered = Vec::new();
        if let Some(predicate) = &self.predicate {
            predicate.columns(&mut filtered);
        }
        distinct(self.keys.iter().copied().chain(self.aggregated()).chain(filtered))
    }

    pub(crate) fn no_groups(&self) -> Partial {
        let is_text = self.keys.iter().map(|&key| self.is_text(key));
        Partial::new(is_text, self.aggregated().len())
    }

    /// Whether a column, which the schema has, is of strings.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        self.schema.fields()[column].logical_type.physical() == PhysicalType::Bytes
    }

    /// A plan may come from elsewhere: sees to it that its columns are there and of the right types.
    fn check(&self) -> Result<()> {
        let fields = self.schema.fields();
        let keys = self.keys.iter().all(|&key| key < fields.len());
        let outputs = self.outputs.iter().all(|output| output.fits(&self.schema));
        let sorted = self.order_by.iter().all(|key| key.column < self.keys.len() + self.outputs.len());
        let predicate = self.predicate.as_ref().is_none_or(|predicate| predicate_fits(predicate, &self.schema));
        if keys && outputs && sorted && predicate {
            Ok(())
        } else {
            Err(Error::Usage("the plan names columns that its schema does not have".to_owned()))
        }
    }
}

fn predicate_fits(predicate: &Predicate, schema: &Schema) -> bool {
    let logical_type = |column: usize| schema.fields().get(column).map(|field| field.logical_type.physical());
    match predicate {
        Predicate::Constant(_) => true,
        Predicate::Range { column, .. } => logical_type(*column) == Some(PhysicalType::Integers),
        Predicate::Compare { column, .. } => logical_type(*column) == Some(PhysicalType::Bytes),
        Predicate::IsNull { column } => logical_type(*column).is_some(),
        Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(|part| predicate_fits(part, schema)),
        Predicate::Not(part) => predicate_fits(part, schema),
    }
}

/// Whether values of that type can be added up.
pub(crate) fn is_number(logical_type: LogicalType) -> bool {
    logical_type.is_numeric() && logical_type.physical() == PhysicalType::Integers
}

fn distinct(columns: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut seen = Vec::new();
    for column in columns {
        if !seen.contains(&column) {
            seen.push(column);
        }
    }
    seen
}

struct QueryWorker<'a> {
    groups: GroupTable<'a>,
    totals: ScanTotals,
}

impl Worker for QueryWorker<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        &mut self.groups
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.totals.add(&ScanTotals::from(&scanned));
        Ok(())
    }
}
