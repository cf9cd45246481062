//! Takes the values of a text one by one, for who looks at them as they are written.

use brc_core::{Column, Value};
use brc_text::typed::{BadRow, Output};
use std::convert::Infallible;

/// Gives each value that is not null, with the position of its column among those that are read. The columns are read as
/// strings; bad rows are left out.
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
