//! The values of some rows of a column as they look in a row: those that are not looked up, but encoded one by one.

use super::buffer::RowBuffer;
use brc_core::Bitmap;

/// Encoded values one behind the other.
#[derive(Default)]
pub(super) struct Cells {
    bytes: RowBuffer,
    /// Where each value ends. A row from which on there are none has a value that the encoding cannot hold.
    ends: Vec<usize>,
}

impl Cells {
    /// Replaces the values by those of `rows` rows: `null` where a row has none, otherwise what `write` appends, up to the
    /// first for which it returns an error.
    pub(super) fn fill<E>(
        &mut self,
        rows: usize,
        validity: Option<Bitmap<'_>>,
        null: &[u8],
        mut write: impl FnMut(usize, &mut RowBuffer) -> Result<(), E>,
    ) {
        self.bytes.truncate(0);
        self.ends.clear();
        for row in 0..rows {
            if validity.is_some_and(|validity| !validity.get(row)) {
                self.bytes.push(null);
            } else if write(row, &mut self.bytes).is_err() {
                return;
            }
            self.ends.push(self.bytes.len());
        }
    }

    /// The value of a row, unless the encoding cannot hold it.
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        let start = if row == 0 { 0 } else { *self.ends.get(row - 1)? };
        self.bytes.as_slice().get(start..*self.ends.get(row)?)
    }

    /// Writes the value of a row at the start of `room`. Returns how many bytes it has; `None` if the encoding cannot hold
    /// it, or there is too little room.
    #[inline]
    pub(super) fn write(&self, row: usize, room: &mut [u8]) -> Option<usize> {
        let cell = self.get(row)?;
        room.get_mut(..cell.len())?.copy_from_slice(cell);
        Some(cell.len())
    }
}
