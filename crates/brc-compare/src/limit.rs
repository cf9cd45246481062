//! A table that is limited to the first rows of another table.

use brc_core::{
    Batch, Column, Result, Run, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Summary, Table,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The first `rows` rows of a table. Only one worker may scan it at a time, because rows are counted in scan order.
pub(crate) struct FirstRows<'a> {
    table: &'a dyn Table,
    rows: u64,
    /// The number of rows that the current scan has not yet delivered.
    left: AtomicU64,
}

impl<'a> FirstRows<'a> {
    pub(crate) fn new(table: &'a dyn Table, rows: u64) -> Self {
        Self { table, rows, left: AtomicU64::new(rows) }
    }
}

impl Table for FirstRows<'_> {
    fn path(&self) -> &Path {
        self.table.path()
    }

    fn schema(&self) -> &Schema {
        self.table.schema()
    }

    fn inferred(&self) -> Option<Arc<Schema>> {
        self.table.inferred()
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn is_read_once(&self) -> bool {
        self.table.is_read_once()
    }

    fn header_lines(&self) -> u64 {
        self.table.header_lines()
    }

    fn split(&self, index: u64) -> Option<Split> {
        if self.left.load(Relaxed) == 0 { None } else { self.table.split(index) }
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let options = ScanOptions { conjuncts: Vec::new(), counts: false, ..options.clone() };
        self.left.store(self.rows, Relaxed);
        Ok(Box::new(FirstRowsScanner { scanner: self.table.scanner(&options)?, left: &self.left }))
    }
}

struct FirstRowsScanner<'a> {
    scanner: Box<dyn Scanner + 'a>,
    left: &'a AtomicU64,
}

impl Scanner for FirstRowsScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let before = self.left.load(Relaxed);
        let mut first = FirstRowsSink { sink, left: before };
        let scanned = self.scanner.scan(split, &mut first)?;
        let left = first.left;
        self.left.store(left, Relaxed);
        Ok(scanned.map(|scanned| Scanned { rows: before - left, ..scanned }))
    }
}

/// Passes on the first `left` rows.
struct FirstRowsSink<'a> {
    sink: &'a mut dyn Sink,
    left: u64,
}

impl Sink for FirstRowsSink<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        self.sink.schema(schema)
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        if batch.rows as u64 <= self.left {
            self.left -= batch.rows as u64;
            return self.sink.batch(batch);
        }
        let rows = std::mem::take(&mut self.left) as usize;
        if rows == 0 {
            return Ok(());
        }
        let runs: Vec<Vec<Run>> = batch.columns.iter().map(|column| column.runs_of_rows(0..rows)).collect();
        let columns: Vec<Column<'_>> =
            batch.columns.iter().zip(&runs).map(|(column, runs)| column.slice(0..rows, runs)).collect();
        self.sink.batch(&Batch { rows, columns: &columns })
    }

    fn summary(&mut self, summary: &Summary<'_>) -> Result<()> {
        self.sink.summary(summary)
    }
}
