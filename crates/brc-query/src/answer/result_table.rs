//! An answer as a table, so that it can be written in any encoding and queried again.

use crate::answer::result::QueryResult;
use crate::answer::slicer::Slicer;
use crate::plan::schema;
use brc_core::{Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;

/// How many rows a split has, unless set: as many as make a good row group.
const SPLIT_ROWS: usize = 1 << 20;

/// An answer as a table.
pub struct ResultTable<'a> {
    answer: &'a QueryResult,
    schema: Schema,
    split_rows: usize,
}

impl ResultTable<'_> {
    /// The same table in splits of this many rows.
    ///
    /// # Panics
    /// If that is 0.
    #[must_use]
    pub fn with_splits_of(self, rows: usize) -> Self {
        assert!(rows > 0, "a split has rows");
        Self { split_rows: rows, ..self }
    }
}

impl QueryResult {
    /// The answer as a table of the same rows.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if a column's name is not one that columns of tables have.
    pub fn table(&self) -> Result<ResultTable<'_>> {
        Ok(ResultTable { answer: self, schema: schema(self.columns())?, split_rows: SPLIT_ROWS })
    }
}

impl Table for ResultTable<'_> {
    fn path(&self) -> &Path {
        Path::new("the answer")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.answer.len() as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let start = index.checked_mul(self.split_rows as u64)?;
        let end = (start + self.split_rows as u64).min(self.answer.len() as u64);
        (start < end).then_some(Split { index, start, end })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        Ok(Box::new(ResultScanner { answer: self.answer, slicer: Slicer::new(options) }))
    }
}

struct ResultScanner<'a> {
    answer: &'a QueryResult,
    slicer: Slicer,
}

impl Scanner for ResultScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let (start, end) = (split.start as usize, split.end as usize);
        let mut first = start;
        while first < end {
            let (block, place, left) = self.answer.block(first);
            let rows = left.min(end - first);
            self.slicer.deliver(block, place..place + rows, sink)?;
            first += rows;
        }
        Ok(Some(Scanned { rows: split.end - split.start, ..Scanned::default() }))
    }
}
