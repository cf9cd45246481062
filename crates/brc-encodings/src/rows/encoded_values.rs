//! The encoded values of some rows of a column, for values that are not looked up but encoded one by one.

use super::buffer::RowBuffer;
use brc_core::Bitmap;

/// Encoded values, contiguous.
#[derive(Default)]
pub(super) struct EncodedValues {
    bytes: RowBuffer,
    /// The end of each value. If there are fewer ends than rows, the encoding cannot hold the next row's value.
    ends: Vec<usize>,
}

impl EncodedValues {
    /// Replaces the values by those of `rows` rows: `null` for nulls, otherwise what `write` appends, up to the first
    /// error of `write`.
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

    /// The value of a row; `None` if the encoding cannot hold it.
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        let start = if row == 0 { 0 } else { *self.ends.get(row - 1)? };
        self.bytes.as_slice().get(start..*self.ends.get(row)?)
    }

    /// Writes the value of a row to the start of `room`. Returns its length; `None` if the encoding cannot hold it, or
    /// there is too little space.
    #[inline]
    pub(super) fn write(&self, row: usize, room: &mut [u8]) -> Option<usize> {
        let cell = self.get(row)?;
        room.get_mut(..cell.len())?.copy_from_slice(cell);
        Some(cell.len())
    }
}
