//! What comes out of a question, sorted.
//!
//! Values are computed when they are looked at, from the state that the groups already have: an answer of millions of
//! rows needs little more memory than an order of its groups.

use crate::aggregate::Function;
use crate::partial::{Key, Partial};
use crate::plan::Plan;
use brc_core::{LogicalType, Scanned};
use std::cmp::Ordering;
use std::time::Duration;

/// The sorted rows of an answer.
#[derive(Debug, Clone)]
pub struct Answer {
    columns: Vec<OutputColumn>,
    sources: Vec<Source>,
    groups: Partial,
    order: Vec<u32>,
    totals: ScanTotals,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name: the key's, or the aggregate as it is written.
    pub name: String,
    /// Its type.
    pub logical_type: LogicalType,
}

/// A value of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// A string; usually UTF-8.
    Text(&'a [u8]),
    /// The decimal `value / 10^scale`.
    Number {
        /// The number in units of its scale.
        value: i128,
        /// Digits after the decimal point.
        scale: u8,
    },
    /// The minimum, the mean, the maximum or the sum of no values.
    Null,
}

/// What was done to find an answer. Times are those of all threads together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanTotals {
    /// Splits scanned.
    pub splits: u64,
    /// Rows read.
    pub rows: u64,
    /// Rows answered from statistics.
    pub summarised_rows: u64,
    /// Rows skipped, because they could not match the filter.
    pub skipped_rows: u64,
    /// Rows left out because they are malformed.
    pub rejected_rows: u64,
    /// Bytes read from the file.
    pub bytes: u64,
    /// Time spent reading.
    pub read_time: Duration,
    /// Time spent on decompression.
    pub decompress_time: Duration,
    /// Time spent on checksums and decoding (or parsing).
    pub decode_time: Duration,
    /// Time spent on filtering and aggregation; measured only if [`crate::Query::timings`] asked for it.
    pub aggregate_time: Duration,
}

impl ScanTotals {
    /// Adds what another scan did.
    pub fn add(&mut self, other: &Self) {
        self.splits += other.splits;
        self.rows += other.rows;
        self.summarised_rows += other.summarised_rows;
        self.skipped_rows += other.skipped_rows;
        self.rejected_rows += other.rejected_rows;
        self.bytes += other.bytes;
        self.read_time += other.read_time;
        self.decompress_time += other.decompress_time;
        self.decode_time += other.decode_time;
        self.aggregate_time += other.aggregate_time;
    }
}

impl From<&Scanned> for ScanTotals {
    fn from(scanned: &Scanned) -> Self {
        Self {
            splits: 1,
            rows: scanned.rows,
            summarised_rows: scanned.summarised_rows,
            skipped_rows: scanned.skipped_rows,
            rejected_rows: scanned.rejects.len(),
            bytes: scanned.bytes,
            read_time: scanned.read_time,
            decompress_time: scanned.decompress_time,
            decode_time: scanned.decode_time,
            aggregate_time: Duration::ZERO,
        }
    }
}

/// Where the values of an output column come from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// The key of that position.
    Key { key: usize, scale: u8 },
    /// The rows of the group.
    Rows,
    /// A function of the statistics of the aggregated column of that position.
    Column { function: Function, column: usize, scale: u8 },
}

impl Answer {
    pub(crate) fn new(plan: &Plan, mut groups: Partial, totals: ScanTotals) -> Self {
        groups.ensure_the_only_group();
        let order = by_keys(&groups, plan.keys().len());
        let mut answer = Self { columns: plan.columns(), sources: sources(plan), groups, order, totals };
        // Sorting is stable: the most important order comes last, and keys decide where all are equal.
        for key in plan.order_by().iter().rev() {
            answer.sort(key.column, key.descending);
        }
        if let Some(limit) = plan.limit() {
            answer.order.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        answer
    }

    /// The columns: first the keys, then the aggregates.
    #[must_use]
    pub fn columns(&self) -> &[OutputColumn] {
        &self.columns
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.order.iter().map(|&group| Row { answer: self, group, column: 0 })
    }

    /// What was done to find the answer.
    #[must_use]
    pub fn totals(&self) -> &ScanTotals {
        &self.totals
    }

    fn value(&self, column: usize, group: u32) -> Value<'_> {
        match self.sources[column] {
            Source::Key { key, scale } => match self.groups.key(key, group) {
                Key::Text(text) => Value::Text(text),
                Key::Number(number) => Value::Number { value: number.into(), scale },
            },
            Source::Rows => Value::Number { value: self.groups.count(group).into(), scale: 0 },
            Source::Column { function, column, scale } => match function.value(self.groups.statistics(column, group)) {
                Some(value) => Value::Number { value, scale },
                None => Value::Null,
            },
        }
    }

    /// Sorts by a column; groups for which it is equal stay as they are.
    fn sort(&mut self, column: usize, descending: bool) {
        let mut order = std::mem::take(&mut self.order);
        let directed = |ordering: Ordering| if descending { ordering.reverse() } else { ordering };
        match self.sources[column] {
            Source::Key { key, .. } => {
                order.sort_by(|&one, &other| directed(self.groups.key(key, one).cmp(&self.groups.key(key, other))));
            }
            Source::Rows | Source::Column { .. } => {
                let number = |group| match self.value(column, group) {
                    Value::Number { value, .. } => Some(value),
                    _ => None,
                };
                let mut keyed: Vec<(Option<i128>, u32)> = order.iter().map(|&group| (number(group), group)).collect();
                keyed.sort_by(|(one, _), (other, _)| directed(one.cmp(other)));
                order.clear();
                order.extend(keyed.iter().map(|(_, group)| *group));
            }
        }
        self.order = order;
    }
}

/// One row of an answer: an iterator over its values, one for each column.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    answer: &'a Answer,
    group: u32,
    column: usize,
}

impl<'a> Row<'a> {
    /// The value of a column.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn value(&self, column: usize) -> Value<'a> {
        self.answer.value(column, self.group)
    }
}

impl<'a> Iterator for Row<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let column = self.column;
        self.column += 1;
        (column < self.answer.columns.len()).then(|| self.value(column))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.answer.columns.len().saturating_sub(self.column);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Row<'_> {}

fn sources(plan: &Plan) -> Vec<Source> {
    let aggregated = plan.aggregated();
    let source = |(position, column): (usize, OutputColumn)| {
        let scale = column.logical_type.scale();
        let Some(output) = position.checked_sub(plan.keys().len()).map(|output| plan.outputs()[output]) else {
            return Source::Key { key: position, scale };
        };
        match aggregated.iter().position(|column| Some(*column) == output.column) {
            Some(column) => Source::Column { function: output.function, column, scale },
            None => Source::Rows,
        }
    };
    plan.columns().into_iter().enumerate().map(source).collect()
}

/// All groups in the order of their keys.
fn by_keys(groups: &Partial, keys: usize) -> Vec<u32> {
    let compare = |one: u32, other: u32| {
        let mut orderings = (0..keys).map(|key| groups.key(key, one).cmp(&groups.key(key, other)));
        orderings.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
    };
    let prefix = |group| if keys == 0 { 0 } else { prefix(groups.key(0, group)) };
    let mut sorted: Vec<(u64, u32)> = (0..groups.groups() as u32).map(|group| (prefix(group), group)).collect();
    sorted.sort_unstable_by(|one, other| one.0.cmp(&other.0).then_with(|| compare(one.1, other.1)));
    sorted.into_iter().map(|(_, group)| group).collect()
}

/// A number that orders keys as they are ordered, as far as their first bytes tell.
fn prefix(key: Key<'_>) -> u64 {
    match key {
        Key::Text(text) => {
            let mut first = [0; 8];
            let length = text.len().min(8);
            first[..length].copy_from_slice(&text[..length]);
            u64::from_be_bytes(first)
        }
        Key::Number(number) => number as u64 ^ 1 << 63,
    }
}
