//! A table in memory as whoever scans tables wants it.

use crate::{Delivery, Typed};
use brc_core::{Dictionary, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;

/// A table in memory that can be scanned.
#[derive(Debug, Clone)]
pub struct MemoryTable<'a> {
    table: &'a Typed,
    delivery: Delivery,
}

impl<'a> MemoryTable<'a> {
    /// That table, delivered in that way.
    #[must_use]
    pub fn new(table: &'a Typed, delivery: Delivery) -> Self {
        Self { table, delivery }
    }
}

impl Table for MemoryTable<'_> {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.table.rows() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index as usize * self.delivery.split_rows;
        let end = self.table.rows().min(start + self.delivery.split_rows);
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let dictionaries = vec![Dictionary::new(); self.table.columns.len()];
        Ok(Box::new(MemoryScanner { table: self, projection: options.projection.clone(), dictionaries }))
    }
}

struct MemoryScanner<'a> {
    table: &'a MemoryTable<'a>,
    projection: Vec<usize>,
    dictionaries: Vec<Dictionary>,
}

impl Scanner for MemoryScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let MemoryTable { table, delivery } = self.table;
        let rows = split.start as usize..split.end as usize;
        delivery.give(table, rows.clone(), &self.projection, &mut self.dictionaries, sink)?;
        Ok(Some(Scanned { rows: rows.len() as u64, ..Scanned::default() }))
    }
}
