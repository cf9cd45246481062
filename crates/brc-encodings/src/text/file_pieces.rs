//! Cuts text into pieces of whole rows without loading more than a cache holds.
//!
//! A split is a range of bytes; the rows that start in it belong to it. So row bounds and the split of each row depend
//! on the text alone, not on which worker reads it or in what portions.

use super::LONGEST_LINE;
use super::pieces::{Piece, missing_end};
use crate::chunks::ReadCost;
use crate::input::cut_off;
use brc_core::{Error, ReadAt, Result, Split};
use brc_kernels::text::{MARGIN, Window};
use memchr::{memchr, memrchr};
use std::path::Path;
use std::time::Instant;

/// The number of bytes read at once: they stay in the L2 cache while their rows are parsed.
const PORTION: usize = 256 << 10;

/// The number of bytes first read after the end of a split: usually its last row ends there.
const OVERLAP: usize = 4 << 10;

/// Reads the rows of one split of a file in sequence.
pub(super) struct FilePieces<'t> {
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
    /// Whether everything up to the next line feed belongs to a row that was already handled.
    skipping: bool,
    pub(super) cost: ReadCost,
}

impl<'t> FilePieces<'t> {
    pub(super) fn new(file: &'t dyn ReadAt, path: &'t Path, length: u64) -> Self {
        let buffer = vec![0; MARGIN + PORTION + MARGIN];
        Self {
            file,
            path,
            length,
            buffer,
            filled: 0,
            consumed: 0,
            byte: 0,
            end: 0,
            skipping: false,
            cost: ReadCost::default(),
        }
    }

    /// Starts a split.
    pub(super) fn start(&mut self, split: &Split) {
        // A split's first row starts after a line feed, which may be the last byte of the previous split.
        self.skipping = split.start > 0;
        self.byte = split.start - u64::from(self.skipping);
        self.end = split.end;
        (self.filled, self.consumed) = (0, 0);
        self.cost = ReadCost::default();
    }

    /// The next rows of the split.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'_>>> {
        loop {
            self.drop_consumed();
            if !self.skipping && self.byte >= self.end {
                return Ok(None);
            }
            let ended = self.fill()?;
            if self.skipping {
                self.skip();
                if ended && self.skipping {
                    return Ok(None);
                }
                continue;
            }
            let rows = self.whole_rows(ended);
            if rows > 0 {
                self.consumed = rows;
                let window = Window::new(&self.buffer, MARGIN, MARGIN + rows);
                return Ok(Some(Piece { window, cut_off: false, byte: self.byte, newlines: None }));
            }
            if ended && self.filled == 0 {
                return Ok(None);
            }
            // One more, because a carriage return at the end of a line is not counted.
            if self.filled > LONGEST_LINE + 1 {
                return Ok(Some(self.too_long()));
            }
            let larger = (self.buffer.len() * 2).min(MARGIN + LONGEST_LINE + PORTION + MARGIN);
            self.buffer.resize(larger, 0);
        }
    }

    fn drop_consumed(&mut self) {
        self.buffer.copy_within(MARGIN + self.consumed..MARGIN + self.filled, MARGIN);
        self.filled -= self.consumed;
        self.byte += self.consumed as u64;
        self.consumed = 0;
    }

    /// Reads further bytes; returns whether the file has ended.
    fn fill(&mut self) -> Result<bool> {
        let position = self.byte + self.filled as u64;
        let room = self.buffer.len() - 2 * MARGIN - self.filled;
        let left_of_split = usize::try_from(self.end.saturating_sub(position)).unwrap_or(usize::MAX);
        let left_of_file = usize::try_from(self.length.saturating_sub(position)).unwrap_or(usize::MAX);
        let wanted = room.min(left_of_split.saturating_add(OVERLAP)).min(left_of_file);
        let target = &mut self.buffer[MARGIN + self.filled..][..wanted];
        let before = Instant::now();
        let read = self.file.read_full_at(target, position).map_err(Error::io(self.path, "read"))?;
        self.cost.read_time += before.elapsed();
        self.cost.bytes += read as u64;
        self.filled += read;
        if read < wanted {
            return Err(cut_off(self.path, position + read as u64));
        }
        Ok(position + read as u64 >= self.length)
    }

    fn text(&self) -> &[u8] {
        &self.buffer[MARGIN..MARGIN + self.filled]
    }

    fn skip(&mut self) {
        let line_feed = memchr(b'\n', self.text());
        self.consumed = line_feed.map_or(self.filled, |at| at + 1);
        self.skipping = line_feed.is_none();
    }

    /// The length of the whole rows in the buffer that belong to the split.
    fn whole_rows(&mut self, ended: bool) -> usize {
        let left = usize::try_from(self.end - self.byte).unwrap_or(usize::MAX);
        if left <= self.filled
            && let Some(end) = memchr(b'\n', &self.text()[left - 1..])
        {
            return left + end;
        }
        if ended && self.filled > 0 {
            let end = missing_end(self.text());
            // The margin has space for the missing line end.
            self.buffer[MARGIN + self.filled..][..end.len()].copy_from_slice(end);
            self.filled += end.len();
            self.buffer.resize(self.buffer.len().max(self.filled + 2 * MARGIN), 0);
        }
        memrchr(b'\n', self.text()).map_or(0, |end| end + 1)
    }

    /// A row that is too long, cut off; the rest of it is skipped.
    fn too_long(&mut self) -> Piece<'_> {
        self.consumed = self.filled;
        self.skipping = true;
        let window = Window::new(&self.buffer, MARGIN, MARGIN + LONGEST_LINE + 1);
        Piece { window, cut_off: true, byte: self.byte, newlines: None }
    }
}
