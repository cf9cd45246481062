//! The text of a split in portions that end with white space, so that no number is cut.

use super::header::is_white;
use crate::chunks::ReadCost;
use brc_core::{Error, ReadAt, Result};
use brc_kernels::text::{MARGIN, Window};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// The number of bytes read at once: they stay in the L2 cache while they are parsed.
const PORTION: usize = 256 << 10;

/// The number of bytes first read after the end of a split: usually its last number ends there.
const OVERLAP: usize = 64;

/// The maximum length of a number, or of a word in a comment, in bytes.
pub(super) const LONGEST_WORD: usize = 1 << 20;

pub(super) struct Text<'t> {
    file: &'t dyn ReadAt,
    path: &'t Path,
    length: u64,
    /// A margin, the text, a margin.
    buffer: Vec<u8>,
    /// The number of valid bytes of the text, and of those already returned.
    filled: usize,
    consumed: usize,
    /// The offset in the file of the first byte of the buffer's text.
    byte: u64,
    end: u64,
    pub(super) cost: ReadCost,
}

/// Some text that ends with white space.
pub(super) struct Portion<'a> {
    pub(super) window: Window<'a>,
    /// The offset of its first byte in the file.
    pub(super) byte: u64,
    /// The number of its bytes that belong to the split: the rest is the end of its last word.
    pub(super) own: usize,
}

impl<'t> Text<'t> {
    pub(super) fn new(file: &'t dyn ReadAt, path: &'t Path, length: u64) -> Self {
        let buffer = vec![0; MARGIN + PORTION + OVERLAP + 1 + MARGIN];
        let cost = ReadCost::default();
        Self { file, path, length, buffer, filled: 0, consumed: 0, byte: 0, end: 0, cost }
    }

    /// Starts a range of bytes of the file.
    pub(super) fn start(&mut self, bytes: Range<u64>) {
        (self.byte, self.end) = (bytes.start, bytes.end);
        (self.filled, self.consumed) = (0, 0);
    }

    /// The next portion. `Err` inside: the offset of a word of more than [`LONGEST_WORD`] bytes.
    ///
    /// # Errors
    /// I/O errors.
    pub(super) fn next(&mut self) -> Result<Result<Option<Portion<'_>>, u64>> {
        self.buffer.copy_within(MARGIN + self.consumed..MARGIN + self.filled, MARGIN);
        self.filled -= self.consumed;
        self.byte += self.consumed as u64;
        self.consumed = 0;
        if self.byte >= self.end {
            return Ok(Ok(None));
        }
        loop {
            let ended = self.fill()?;
            if self.filled == 0 {
                return Ok(Ok(None));
            }
            if let Some(cut) = self.cut(ended) {
                return Ok(Ok(Some(self.portion(cut))));
            }
            if self.filled > LONGEST_WORD {
                // The text before the long word comes first.
                match self.last_white() {
                    Some(cut) => return Ok(Ok(Some(self.portion(cut)))),
                    None => return Ok(Err(self.byte)),
                }
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    fn portion(&mut self, length: usize) -> Portion<'_> {
        self.consumed = length;
        let own = usize::try_from(self.end - self.byte).unwrap_or(usize::MAX).min(length);
        Portion { window: Window::new(&self.buffer, MARGIN, MARGIN + length), byte: self.byte, own }
    }

    /// Reads further bytes; returns whether the file has ended.
    fn fill(&mut self) -> Result<bool> {
        let position = self.byte + self.filled as u64;
        // One byte is reserved for the white space that the end of the file may lack.
        let room = self.buffer.len() - 2 * MARGIN - 1 - self.filled;
        let left_of_split = usize::try_from(self.end.saturating_sub(position)).unwrap_or(usize::MAX);
        let overlap = if left_of_split == 0 { room } else { OVERLAP };
        let left_of_file = usize::try_from(self.length.saturating_sub(position)).unwrap_or(usize::MAX);
        let wanted = room.min(left_of_split.saturating_add(overlap)).min(left_of_file);
        let target = &mut self.buffer[MARGIN + self.filled..][..wanted];
        let before = Instant::now();
        let read = self.file.read_full_at(target, position).map_err(Error::io(self.path, "read"))?;
        self.cost.read_time += before.elapsed();
        self.cost.bytes += read as u64;
        self.filled += read;
        Ok(position + read as u64 >= self.length || read < wanted)
    }

    /// The length up to the last white space.
    fn last_white(&self) -> Option<usize> {
        self.buffer[MARGIN..][..self.filled].iter().rposition(|&byte| is_white(byte)).map(|last| last + 1)
    }

    /// The length of the next portion, if it is complete.
    fn cut(&mut self, ended: bool) -> Option<usize> {
        let text = &self.buffer[MARGIN..][..self.filled];
        let left = usize::try_from(self.end - self.byte).unwrap_or(usize::MAX);
        if left > self.filled && !ended {
            return self.last_white();
        }
        let last = left.min(self.filled) - 1;
        if let Some(white) = text[last..].iter().position(|&byte| is_white(byte)) {
            return Some(last + white + 1);
        }
        if !ended {
            return None;
        }
        self.buffer[MARGIN + self.filled] = b' ';
        self.filled += 1;
        Some(self.filled)
    }
}
