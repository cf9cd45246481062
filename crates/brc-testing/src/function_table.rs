//! A table of which a function delivers the rows, for what no table in memory does: splits without end, bad rows, strings in
//! one form after the other.

use brc_core::{Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;

/// A table of which nobody knows how many rows it has.
pub struct FunctionTable<F> {
    name: &'static str,
    schema: Schema,
    splits: u64,
    deliver: F,
}

impl<F: Fn(&Split, &mut dyn Sink) -> Result<u64> + Send + Sync> FunctionTable<F> {
    /// A table of so many splits, each of which `deliver` gives to the sink; it returns how many rows those were.
    pub fn new(name: &'static str, schema: Schema, splits: u64, deliver: F) -> Self {
        Self { name, schema, splits, deliver }
    }
}

impl<F: Fn(&Split, &mut dyn Sink) -> Result<u64> + Send + Sync> Table for FunctionTable<F> {
    fn path(&self) -> &Path {
        Path::new(self.name)
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        (index < self.splits).then_some(Split { index, start: index, end: index + 1 })
    }

    fn scanner(&self, _: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(FunctionScanner(&self.deliver)))
    }
}

struct FunctionScanner<'a, F>(&'a F);

impl<F: Fn(&Split, &mut dyn Sink) -> Result<u64> + Send + Sync> Scanner for FunctionScanner<'_, F> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let rows = (self.0)(split, sink)?;
        Ok(Some(Scanned { rows, ..Scanned::default() }))
    }
}
