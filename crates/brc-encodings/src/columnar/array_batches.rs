//! Delivers the library's arrays to a sink, column by column.

use super::arrow_columns::ArrowColumn;
use super::{Fault, WINDOW};
use arrow_array::ArrayRef;
use brc_core::{Batch, LogicalType, ScanError, Sink};
use std::time::{Duration, Instant};

/// The projected columns; one set of arrays after another is delivered.
pub(crate) struct ArrayBatches {
    columns: Vec<ArrowColumn>,
}

impl ArrayBatches {
    /// Columns of these types. If `is_own`, `brc` wrote the arrays, and their values are within the bounds of their
    /// types.
    pub(crate) fn new(types: impl Iterator<Item = LogicalType>, is_own: bool) -> Self {
        Self { columns: types.map(|logical_type| ArrowColumn::new(logical_type, is_own)).collect() }
    }

    /// Converts the next rows.
    ///
    /// # Errors
    /// The position of the column that cannot be read, and why.
    pub(crate) fn take<'a>(&mut self, arrays: impl Iterator<Item = &'a ArrayRef>) -> Result<(), (usize, Fault)> {
        let columns = self.columns.iter_mut().zip(arrays).enumerate();
        columns.into_iter().try_for_each(|(index, (column, array))| column.take(array).map_err(|fault| (index, fault)))
    }

    /// Delivers the converted rows; returns the time spent in the sink.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn deliver(&self, rows: usize, sink: &mut dyn Sink) -> Result<Duration, ScanError> {
        let begun = Instant::now();
        for start in (0..rows).step_by(WINDOW) {
            let window = start..rows.min(start + WINDOW);
            let columns: Vec<_> = self.columns.iter().map(|column| column.column(window.clone())).collect();
            sink.batch(&Batch { rows: window.len(), columns: &columns })?;
        }
        Ok(begun.elapsed())
    }
}
