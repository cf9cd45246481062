//! Collects the rows of scans as cells, which tests compare whatever the layout of the batches.

use crate::{Cell, Typed};
use brc_core::{Batch, Progress, Result, ScanOptions, Scanned, Sink, Split, Summary, Table, Value, Worker, scan};
use std::collections::BTreeMap;
use std::mem::replace;
use std::sync::Mutex;

/// A sink that keeps all rows as cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    /// The cells of each column.
    pub columns: Vec<Vec<Cell>>,
    /// The number of rows, which may have no columns.
    pub rows: usize,
}

impl Collector {
    /// A sink for batches of `columns` columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self { columns: vec![Vec::new(); columns], rows: 0 }
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
        assert_eq!(batch.columns.len(), self.columns.len(), "another number of columns");
        for (cells, column) in self.columns.iter_mut().zip(batch.columns) {
            cells.extend((0..batch.rows).map(|row| Cell::from(Value::of_row(column, row))));
        }
        self.rows += batch.rows;
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        panic!("summaries were not allowed")
    }
}

/// Scans a table and returns the rows of each split, in the table's order, and the scan's report on it.
///
/// # Errors
/// Those of the table.
///
/// # Panics
/// If a split has a different number of rows than it reports.
pub fn collect(table: &dyn Table, options: &ScanOptions, threads: usize) -> Result<Vec<(Collector, Scanned)>> {
    let splits = Mutex::default();
    let worker = || SplitWorker { splits: &splits, rows: Collector::new(options.projection.len()) };
    scan(table, options, threads, &Progress::default(), worker)?;
    Ok(splits.into_inner().unwrap().into_values().collect())
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
        assert_eq!(self.rows.rows as u64, scanned.rows, "{scanned:?}");
        let rows = self.take();
        self.splits.lock().unwrap().insert(split.index, (rows, scanned));
        Ok(())
    }
}
