//! A table in memory that can be scanned.

use crate::delivery::Dictionaries;
use crate::{Delivery, Typed};
use brc_core::{Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::borrow::Borrow;
use std::path::Path;

/// A table in memory that can be scanned: a [`Typed`], owned or borrowed.
#[derive(Debug, Clone)]
pub struct MemoryTable<T> {
    table: T,
    delivery: Delivery,
}

impl<T: Borrow<Typed>> MemoryTable<T> {
    /// The given table, delivered as described.
    #[must_use]
    pub fn new(table: T, delivery: Delivery) -> Self {
        Self { table, delivery }
    }
}

impl<T: Borrow<Typed> + Send + Sync> Table for MemoryTable<T> {
    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn schema(&self) -> &Schema {
        &self.table.borrow().schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.table.borrow().rows() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index as usize * self.delivery.split_rows;
        let end = self.table.borrow().rows().min(start + self.delivery.split_rows);
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let table = self.table.borrow();
        Ok(Box::new(MemoryScanner {
            table,
            delivery: self.delivery,
            projection: options.projection.clone(),
            dictionaries: Dictionaries::new(table),
        }))
    }
}

struct MemoryScanner<'a> {
    table: &'a Typed,
    delivery: Delivery,
    projection: Vec<usize>,
    dictionaries: Dictionaries,
}

impl Scanner for MemoryScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let rows = split.start as usize..split.end as usize;
        self.delivery.deliver(self.table, rows.clone(), &self.projection, &mut self.dictionaries, sink)?;
        Ok(Some(Scanned { rows: rows.len() as u64, ..Scanned::default() }))
    }
}
