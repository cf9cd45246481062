//! The encoded rows of a part, for encodings that append row after row to one buffer.

use crate::compressed::{CUT_BYTES, LARGE_PART};
use brc_core::{Cut, Part};

/// Encoded rows, and the offsets between them at which the part may be cut.
#[derive(Default)]
pub(crate) struct PartBuffer {
    /// The encoded rows.
    pub(crate) bytes: Vec<u8>,
    cuts: Vec<Cut>,
    /// The rows not yet handed over, and the number of those that were.
    rows: u64,
    rows_given: u64,
}

impl PartBuffer {
    /// All rows of the part so far.
    pub(crate) fn rows_before(&self) -> u64 {
        self.rows_given + self.rows
    }

    /// Counts appended rows. The cuts depend only on the rows and on these calls.
    pub(crate) fn count(&mut self, rows: u64) {
        self.rows += rows;
        if self.bytes.len() - self.cuts.last().map_or(0, |cut| cut.at) >= CUT_BYTES {
            self.cuts.push(Cut { at: self.bytes.len(), rows: self.rows });
        }
    }

    /// See [`brc_core::PartEncoder::finish`].
    pub(crate) fn finish(&mut self) -> Part {
        self.rows_given = 0;
        Part {
            rows: std::mem::take(&mut self.rows),
            bytes: std::mem::take(&mut self.bytes),
            cuts: std::mem::take(&mut self.cuts),
            meta: Box::new(()),
            meta_bytes: 0,
        }
    }

    /// See [`brc_core::PartEncoder::overflow`].
    pub(crate) fn overflow(&mut self) -> Option<Part> {
        let end = self.cuts.pop_if(|last| last.at >= LARGE_PART)?;
        self.rows -= end.rows;
        self.rows_given += end.rows;
        let rest = self.bytes.split_off(end.at);
        let bytes = std::mem::replace(&mut self.bytes, rest);
        Some(Part { rows: end.rows, bytes, cuts: std::mem::take(&mut self.cuts), meta: Box::new(()), meta_bytes: 0 })
    }

    /// See [`brc_core::PartEncoder::recycle`].
    pub(crate) fn recycle(&mut self, bytes: Vec<u8>) {
        Part::recycle(bytes, &mut self.bytes);
    }
}
