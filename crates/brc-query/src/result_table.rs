//! The rows of an answer as a table: what is asked can be written in any encoding, and asked again.

use crate::result::QueryResult;
use crate::vector::Fault;
use brc_core::{Batch, Error, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;

/// How many rows a split has, unless told: as many as make a good row group.
const SPLIT_ROWS: usize = 1 << 20;

/// How many rows a batch has at most.
const BATCH_ROWS: usize = 4096;

/// An answer as a table.
pub struct ResultTable<'a> {
    answer: &'a QueryResult,
    schema: Schema,
    split_rows: usize,
}

impl ResultTable<'_> {
    /// The same table in splits of so many rows.
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
    /// [`Error::Usage`] if a column's name is not one that columns of tables have.
    pub fn table(&self) -> Result<ResultTable<'_>> {
        Ok(ResultTable { answer: self, schema: schema(self.columns())?, split_rows: SPLIT_ROWS })
    }
}

/// The schema of an answer.
pub(crate) fn schema(columns: &[crate::OutputColumn]) -> Result<Schema> {
    let field = |column: &crate::OutputColumn| brc_core::Field {
        name: column.name.clone(),
        logical_type: column.logical_type,
        nullable: column.nullable,
    };
    Schema::new(columns.iter().map(field).collect()).map_err(|error| Error::Usage(error.to_string()))
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
        let columns = options.projection.iter().map(|&column| (column, Vec::new())).collect();
        Ok(Box::new(ResultScanner { answer: self.answer, columns }))
    }
}

struct ResultScanner<'a> {
    answer: &'a QueryResult,
    /// The columns, each with memory for the offsets of its strings.
    columns: Vec<(usize, Vec<i32>)>,
}

impl Scanner for ResultScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let (start, end) = (split.start as usize, split.end as usize);
        let mut first = start;
        while first < end {
            let (block, place, left) = self.answer.block(first);
            let rows = BATCH_ROWS.min(end - first).min(left);
            let columns = self.columns.iter_mut();
            let columns = columns.map(|(column, offsets)| block[*column].column(place..place + rows, offsets));
            let columns = columns.collect::<Result<Vec<_>, _>>();
            let columns = columns.map_err(|fault: Fault| fault.error(Path::new("the answer")))?;
            sink.batch(&Batch { rows, columns: &columns })?;
            first += rows;
        }
        Ok(Some(Scanned { rows: split.end - split.start, ..Scanned::default() }))
    }
}
