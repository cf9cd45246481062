//! Encodes frames of consecutive rows.

use super::FrameEncoder;
use crate::rows::{RowBuffer, RowEncoder, RowWriter};
use brc_core::{Batch, Result};
use std::ops::Range;

/// Encodes such frames: rows are written directly to the output buffer.
pub(crate) struct FramedRows<W>(pub(crate) RowEncoder<W>);

impl<W: RowWriter> FrameEncoder for FramedRows<W> {
    fn push(
        &mut self,
        batch: &Batch<'_>,
        rows: Range<usize>,
        rows_before: u64,
        max_bytes: usize,
        out: &mut RowBuffer,
    ) -> Result<usize> {
        self.0.push(batch, rows, rows_before, out, |row| row.end < max_bytes)
    }

    fn pending(&self) -> usize {
        0
    }

    fn finish(&mut self, _: &mut RowBuffer) {}
}
