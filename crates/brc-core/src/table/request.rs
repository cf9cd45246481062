//! What to scan: plain data that can be sent to another process.

use super::Table;
use crate::predicate::Predicate;
use crate::schema::Schema;
use serde::{Deserialize, Serialize};

/// A slice of a table that one worker scans. Plain data: it can be sent to another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    /// Its index among the table's splits, from 0.
    pub index: u64,
    /// Where it starts, in a unit that the encoding defines: a byte of a text file, a row group of a buren file.
    pub start: u64,
    /// Where it ends (exclusive), in the same unit.
    pub end: u64,
}

/// Whether a scan must deliver rows in the order of the original table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Any order within a split: the cheapest.
    Any,
    /// The original order within a split.
    Original,
}

/// What a scan should deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanOptions {
    /// The columns to read, as positions in the schema; batches have them in this order.
    pub projection: Vec<usize>,
    /// A filter that lets the scan skip rows for which it is not true. The scan may still deliver such rows: the sink
    /// applies the exact filter.
    pub predicate: Option<Predicate>,
    /// All conjuncts of the filter, in the order in which to test them. A scan that decodes column by column may call
    /// [`Sink::test`](super::Sink::test) for each before it decodes the columns of the next; other scans leave them to
    /// the sink.
    pub conjuncts: Vec<Conjunct>,
    /// Allows the scan to replace rows that all match the predicate by statistics stored in the file, delivered through
    /// [`Sink::summary`](super::Sink::summary).
    pub statistics: bool,
    /// Allows the scan to emit (value, count) pairs from stored value counts instead of rows, delivered through
    /// [`Sink::weighted`](super::Sink::weighted). The rows of a split are then not those stored in it, and the
    /// predicate has skipped none of them.
    pub counts: bool,
    /// Allows the scan to pre-aggregate the rows it reads, delivered through
    /// [`Sink::summary`](super::Sink::summary).
    pub sums: bool,
    /// The order in which rows must be delivered.
    pub order: Order,
    /// The splits to scan, in ascending order; all splits of the table if `None`.
    pub splits: Option<Vec<Split>>,
}

/// One of the conditions of a filter; a row passes the filter only if all of them are true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conjunct {
    /// The columns it reads, as positions in the schema; all are in the projection. If empty, the condition may depend
    /// on the number of rows before, so it is tested on rows in delivery order.
    pub columns: Vec<usize>,
    /// The condition, if it only compares columns with constants: rows known to satisfy it need no test.
    pub predicate: Option<Predicate>,
}

impl ScanOptions {
    /// The `n`-th split to scan, from 0; `None` after the last.
    #[must_use]
    pub fn split(&self, table: &dyn Table, n: u64) -> Option<Split> {
        match &self.splits {
            Some(splits) => splits.get(usize::try_from(n).ok()?).copied(),
            None => table.split(n),
        }
    }

    /// The indices of the splits to scan after `split`, as far as the table knows them.
    pub fn later_splits<'s>(&'s self, table: &'s dyn Table, split: u64) -> impl Iterator<Item = u64> + 's {
        let first = match &self.splits {
            Some(splits) => splits.partition_point(|other| other.index <= split) as u64,
            None => split.saturating_add(1),
        };
        (first..).map_while(|n| self.split(table, n)).map(|split| split.index)
    }

    /// All rows of all columns of a schema in original order, as a conversion reads them.
    #[must_use]
    pub fn everything(schema: &Schema) -> Self {
        Self {
            projection: (0..schema.fields().len()).collect(),
            predicate: None,
            conjuncts: Vec::new(),
            statistics: false,
            counts: false,
            sums: false,
            order: Order::Original,
            splits: None,
        }
    }
}
