//! Visits the values of a text one by one, in their original spelling.

use brc_core::{Column, Value};
use brc_text::typed::{BadRow, Output};
use std::convert::Infallible;

/// Calls the function with each value that is not null, and the position of its column in the projection. The columns
/// are read as strings; malformed rows are skipped.
pub(super) struct EachValue<F>(pub(super) F);

impl<F: FnMut(usize, &[u8])> Output for EachValue<F> {
    type Error = Infallible;

    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), Infallible> {
        for (index, column) in columns.iter().enumerate() {
            for row in 0..rows {
                if let Some(Value::Bytes(value)) = Value::of_row(column, row) {
                    (self.0)(index, value);
                }
            }
        }
        Ok(())
    }

    fn keeps_bad_rows(&self) -> bool {
        true
    }

    fn keep(&mut self, _: &BadRow<'_>) {}

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}
