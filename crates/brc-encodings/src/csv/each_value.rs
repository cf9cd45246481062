//! Visits the values of a text one by one, in their original spelling.

use brc_core::{Column, RowFault, Value};
use brc_text::typed::{BadRow, Output};
use std::convert::Infallible;

/// Calls the function with each value that is not null, and the position of its column in the projection. The columns
/// are read as strings; malformed rows are skipped.
pub(super) struct EachValue<F> {
    visit: F,
    /// The number of rows that are still visited.
    rows: usize,
}

impl<F: FnMut(usize, &[u8])> EachValue<F> {
    pub(super) fn of_all(visit: F) -> Self {
        Self::of_first(usize::MAX, visit)
    }

    /// Of so many rows at most.
    pub(super) fn of_first(rows: usize, visit: F) -> Self {
        Self { visit, rows }
    }
}

impl<F: FnMut(usize, &[u8])> Output for EachValue<F> {
    type Error = Infallible;

    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), Infallible> {
        let rows = rows.min(self.rows);
        self.rows -= rows;
        for (index, column) in columns.iter().enumerate() {
            for row in 0..rows {
                if let Some(Value::Bytes(value)) = Value::of_row(column, row) {
                    (self.visit)(index, value);
                }
            }
        }
        Ok(())
    }

    fn keeps(&self, _: &RowFault) -> bool {
        true
    }

    fn keep(&mut self, _: &BadRow<'_>) {}

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}
