//! An answer as a table, so that it can be written in any encoding and queried again. Its batches borrow the columns of
//! the answer.

use super::Answer;
use super::rows::RowBlock;
use super::source::Source;
use brc_core::{Batch, Dictionary, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;

/// How many rows a batch has at most.
const BATCH_ROWS: usize = 4096;

impl Table for Answer {
    fn path(&self) -> &Path {
        Path::new("the answer")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        let is_known = self.source.groups().is_none();
        is_known.then(|| (0..self.source.parts()).map(|part| self.source.rows(part) as u64).sum())
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn dictionary(&self, column: usize) -> Option<&Dictionary> {
        if let Source::Parts(parts) = &self.source { parts.dictionary(column) } else { None }
    }

    fn split(&self, index: u64) -> Option<Split> {
        let first = usize::try_from(index).ok()?;
        let (start, end) = (*self.splits.get(first)?, *self.splits.get(first + 1)?);
        (start < end).then_some(Split { index, start: start as u64, end: end as u64 })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let columns = options.projection.iter().map(|&column| (column, Vec::new())).collect();
        Ok(Box::new(AnswerScanner { answer: self, columns }))
    }
}

struct AnswerScanner<'a> {
    answer: &'a Answer,
    /// The columns that are wanted, each with memory for the offsets of its strings.
    columns: Vec<(usize, Vec<i32>)>,
}

impl Scanner for AnswerScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let mut rows = 0;
        for part in split.start..split.end {
            self.answer.each_block(part as usize, |block| {
                rows += block.rows.len() as u64;
                deliver(&block, &mut self.columns, sink)
            })?;
        }
        Ok(Some(Scanned { rows, ..Scanned::default() }))
    }
}

/// Delivers rows in batches.
fn deliver(block: &RowBlock<'_>, columns: &mut [(usize, Vec<i32>)], sink: &mut dyn Sink) -> Result<()> {
    let RowBlock { cells, rows } = block;
    for first in rows.clone().step_by(BATCH_ROWS) {
        let some = first..rows.end.min(first + BATCH_ROWS);
        let columns = columns.iter_mut().map(|(column, offsets)| cells[*column].column(some.clone(), offsets));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
        let columns = columns.map_err(|fault| fault.error(Path::new("the answer")))?;
        sink.batch(&Batch { rows: some.len(), columns: &columns })?;
    }
    Ok(())
}
