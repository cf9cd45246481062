//! Yields the text of a compressed file, one decompressed chunk at a time.
//!
//! A split is a range of decompressed bytes; the rows that start in it belong to it, as in an uncompressed file. Chunks
//! hold whole rows, so no row spans two of them.

use super::pieces::{Piece, missing_end};
use crate::chunks::{Chunks, ReadCost};
use brc_core::{Result, Split};
use brc_kernels::text::{MARGIN, Window};
use memchr::memchr;
use std::ops::Range;

/// Decompresses the chunks of a split in sequence.
pub(super) struct ChunkPieces<'t> {
    chunks: &'t Chunks,
    stored: Vec<u8>,
    /// A margin, the text of a chunk, a margin.
    buffer: Vec<u8>,
    /// The bytes of the split.
    wanted: Range<u64>,
    /// The remaining chunks of the split.
    left: Range<usize>,
    pub(super) cost: ReadCost,
}

impl<'t> ChunkPieces<'t> {
    pub(super) fn new(chunks: &'t Chunks) -> Self {
        let (stored, buffer) = (Vec::new(), vec![0; MARGIN]);
        Self { chunks, stored, buffer, wanted: 0..0, left: 0..0, cost: ReadCost::default() }
    }

    /// Starts a split.
    pub(super) fn start(&mut self, split: &Split) {
        self.wanted = split.start..split.end;
        self.left = self.chunks.overlapping(&self.wanted);
        self.cost = ReadCost::default();
    }

    /// The next rows of the split.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'_>>> {
        for chunk in self.left.by_ref() {
            self.chunks.load(chunk, &mut self.stored, &mut self.buffer, MARGIN, &mut self.cost)?;
            let end = missing_end(&self.buffer[MARGIN..]);
            self.buffer.extend_from_slice(end);
            let bytes = self.chunks.range(chunk);
            let text = &self.buffer[MARGIN..];
            let from = first_row(text, bytes.start, self.wanted.start);
            let to = first_row(text, bytes.start, self.wanted.end);
            self.buffer.resize(self.buffer.len() + MARGIN, 0);
            if from < to {
                let window = Window::new(&self.buffer, MARGIN + from, MARGIN + to);
                let byte = bytes.start + from as u64;
                return Ok(Some(Piece { window, cut_off: false, byte, newlines: None }));
            }
        }
        Ok(None)
    }
}

/// The position in `text`, which starts at byte `start`, of the first row that begins at byte `wanted` or later.
fn first_row(text: &[u8], start: u64, wanted: u64) -> usize {
    let Some(before) = wanted.checked_sub(start + 1) else { return 0 };
    let Some(rest) = usize::try_from(before).ok().and_then(|before| text.get(before..)) else { return text.len() };
    memchr(b'\n', rest).map_or(text.len(), |at| text.len() - rest.len() + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_belong_to_the_split_where_they_start() {
        let text = b"ab\nc\n\nd\n";
        let firsts: Vec<_> = (0..12).map(|wanted| first_row(text, 2, wanted)).collect();
        assert_eq!(firsts, [0, 0, 0, 3, 3, 3, 5, 5, 6, 8, 8, 8]);
    }
}
