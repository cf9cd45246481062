//! Slices the rows of an answer into batches that borrow its columns.

use crate::values::cells::Cells;
use brc_core::{Batch, Result, ScanOptions, Sink};
use std::ops::Range;
use std::path::Path;

/// How many rows a batch has at most.
const BATCH_ROWS: usize = 4096;

/// The columns that are wanted of an answer, each with memory for the offsets of its strings.
pub(crate) struct Slicer(Vec<(usize, Vec<i32>)>);

impl Slicer {
    pub(crate) fn new(options: &ScanOptions) -> Self {
        Self(options.projection.iter().map(|&column| (column, Vec::new())).collect())
    }

    /// Delivers some rows of these columns in batches.
    pub(crate) fn deliver(&mut self, cells: &[Cells], rows: Range<usize>, sink: &mut dyn Sink) -> Result<()> {
        for first in rows.clone().step_by(BATCH_ROWS) {
            let some = first..rows.end.min(first + BATCH_ROWS);
            let columns = self.0.iter_mut();
            let columns = columns.map(|(column, offsets)| cells[*column].column(some.clone(), offsets));
            let columns = columns.collect::<std::result::Result<Vec<_>, _>>();
            let columns = columns.map_err(|fault| fault.error(Path::new("the answer")))?;
            sink.batch(&Batch { rows: some.len(), columns: &columns })?;
        }
        Ok(())
    }
}
