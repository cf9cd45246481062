//! Collects the rows of scans as cells, which tests compare whatever the layout of the batches.

use crate::{Cell, Typed};
use brc_core::table::ColumnSummary;
use brc_core::{
    Batch, Progress, Result, ScanOptions, Scanned, Sink, Split, Statistics, Summary, Table, Value, Worker, scan,
};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::mem::replace;

/// A sink that keeps all rows as cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// The cells of each column.
    pub columns: Vec<Vec<Cell>>,
    /// The number of rows, which may have no columns.
    pub rows: usize,
    /// The number of rows among them that were delivered as weighted rows.
    pub weighted_rows: u64,
    /// The number of rows of each set of summarised rows, and the summaries of its columns.
    pub summaries: Vec<(u64, Vec<CellSummary>)>,
    /// The number of rows of each batch.
    pub batches: Vec<usize>,
}

/// A column of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellSummary {
    /// The value of all rows.
    Value(Cell),
    /// The statistics of the rows.
    Numbers(Statistics),
}

impl Collector {
    /// A sink for batches of `columns` columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        let columns = vec![Vec::new(); columns];
        Self { columns, rows: 0, weighted_rows: 0, summaries: Vec::new(), batches: Vec::new() }
    }

    /// Adds what another sink received later.
    pub fn append(&mut self, mut other: Self) {
        self.columns.iter_mut().zip(&mut other.columns).for_each(|(column, cells)| column.append(cells));
        self.rows += other.rows;
        self.weighted_rows += other.weighted_rows;
        self.summaries.append(&mut other.summaries);
        self.batches.append(&mut other.batches);
    }

    /// The number of rows that were replaced by summaries.
    #[must_use]
    pub fn summarised_rows(&self) -> u64 {
        self.summaries.iter().map(|(rows, _)| rows).sum()
    }

    /// Adds each row as often as `weight` says.
    fn add(&mut self, batch: &Batch<'_>, weight: impl Fn(usize) -> usize) {
        assert_eq!(batch.columns.len(), self.columns.len(), "another number of columns");
        for (cells, column) in self.columns.iter_mut().zip(batch.columns) {
            for row in 0..batch.rows {
                cells.extend(repeat_n(Cell::from(Value::of_row(column, row)), weight(row)));
            }
        }
        self.rows += (0..batch.rows).map(weight).sum::<usize>();
        self.batches.push(batch.rows);
    }

    /// The cells row by row.
    #[must_use]
    pub fn into_rows(self) -> Vec<Vec<Cell>> {
        let mut columns: Vec<_> = self.columns.into_iter().map(Vec::into_iter).collect();
        (0..self.rows).map(|_| columns.iter_mut().filter_map(Iterator::next).collect()).collect()
    }
}

impl Sink for Collector {
    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.add(batch, |_| 1);
        Ok(())
    }

    fn weighted(&mut self, batch: &Batch<'_>, weights: &[u32]) -> Result<()> {
        assert!(batch.rows == weights.len() && !weights.contains(&0), "{weights:?}");
        self.add(batch, |row| weights[row] as usize);
        self.weighted_rows += weights.iter().map(|&weight| u64::from(weight)).sum::<u64>();
        Ok(())
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        assert_eq!(summary.columns.len(), self.columns.len(), "another number of columns");
        for (set, &rows) in summary.rows.iter().enumerate() {
            let column = |column: &ColumnSummary<'_>| match column {
                ColumnSummary::Codes { codes, dictionary } => CellSummary::Value(dictionary.get(codes[set]).into()),
                ColumnSummary::Numbers(numbers) => {
                    assert_eq!(numbers.sets(), Some(summary.rows.len()));
                    CellSummary::Numbers(numbers.get(set, rows))
                }
            };
            self.summaries.push((rows.into(), summary.columns.iter().map(column).collect()));
        }
        Ok(())
    }
}

/// Scans a table and returns the rows of each split, in the table's order, and the scan's report on it.
///
/// # Errors
/// Those of the table.
///
/// # Panics
/// If a split has a different number of rows than it reports, or replaces rows although the request does not allow it.
pub fn collect(table: &dyn Table, options: &ScanOptions, threads: usize) -> Result<Vec<(Collector, Scanned)>> {
    let splits = Mutex::default();
    let worker = || SplitWorker { splits: &splits, options, rows: Collector::new(options.projection.len()) };
    scan(table, options, threads, &Progress::default(), worker)?;
    let splits: Vec<(Collector, Scanned)> = splits.into_inner().into_values().collect();
    // Value counts of one split may replace the rows of others.
    let replaced: u64 = splits.iter().map(|(rows, _)| rows.weighted_rows + rows.summarised_rows()).sum();
    assert_eq!(replaced, splits.iter().map(|(_, scanned)| scanned.summarised_rows).sum::<u64>(), "replaced rows");
    Ok(splits)
}

/// All rows that a scan delivers, in the table's order.
///
/// # Errors
/// Those of the table.
pub fn collect_rows(table: &dyn Table, options: &ScanOptions, threads: usize) -> Result<Vec<Vec<Cell>>> {
    let splits = collect(table, options, threads)?;
    Ok(splits.into_iter().flat_map(|(rows, _)| rows.into_rows()).collect())
}

/// All cells of some columns.
///
/// # Errors
/// Those of the table.
///
/// # Panics
/// If a value is invalid for its column's type.
pub fn collect_columns(table: &dyn Table, projection: &[usize], threads: usize) -> Result<Vec<Vec<Cell>>> {
    let options = ScanOptions { projection: projection.to_vec(), ..ScanOptions::everything(table.schema()) };
    let mut columns = vec![Vec::new(); projection.len()];
    for (rows, _) in collect(table, &options, threads)? {
        columns.iter_mut().zip(rows.columns).for_each(|(column, cells)| column.extend(cells));
    }
    for (cells, &column) in columns.iter().zip(projection) {
        let logical_type = table.schema().fields()[column].logical_type;
        for value in cells.iter().filter_map(Cell::value) {
            assert!(value.check(logical_type).is_ok(), "{value:?} of {logical_type}");
        }
    }
    Ok(columns)
}

/// Reads a whole table.
///
/// # Errors
/// Those of the table.
pub fn read(table: &dyn Table, threads: usize) -> Result<Typed> {
    let projection: Vec<usize> = (0..table.schema().fields().len()).collect();
    Ok(Typed { schema: table.schema().clone(), columns: collect_columns(table, &projection, threads)? })
}

struct SplitWorker<'a> {
    splits: &'a Mutex<BTreeMap<u64, (Collector, Scanned)>>,
    options: &'a ScanOptions,
    rows: Collector,
}

impl SplitWorker<'_> {
    fn take(&mut self) -> Collector {
        let columns = self.rows.columns.len();
        replace(&mut self.rows, Collector::new(columns))
    }
}

impl Worker for SplitWorker<'_> {
    fn sink(&mut self) -> &mut dyn Sink {
        &mut self.rows
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        self.take();
        Ok(())
    }

    fn split_done(&mut self, split: &Split, scanned: Scanned) -> Result<()> {
        let rows = self.take();
        assert!(rows.weighted_rows == 0 || self.options.counts, "weighted rows were not allowed");
        assert!(rows.summaries.is_empty() || self.options.statistics, "summaries were not allowed");
        assert_eq!(rows.rows as u64, scanned.rows + rows.weighted_rows, "{scanned:?}");
        self.splits.lock().insert(split.index, (rows, scanned));
        Ok(())
    }
}
