//! Cuts a stream of chunks at row ends, taking into account line ends inside quotes.

use brc_kernels::structure::{State, Transition};

/// Tracks the scanner state across the chunks of a text. The [`Transition`]s of chunks are computed in parallel;
/// chaining them is cheap.
#[derive(Debug, Clone)]
pub struct Chain {
    state: State,
    /// The length so far of the incomplete row, in bytes.
    pending: usize,
    skip: bool,
    max_row: usize,
}

/// Where a chunk is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The chunk's first `n` bytes, together with the remainder of the previous chunks, are complete rows; the rest of
    /// the chunk is the new remainder.
    Rows(usize),
    /// No row ends in the chunk: all of it is added to the remainder.
    Inside,
    /// The incomplete row may be too long, so that reading may have to resume after its first line. The chain cannot
    /// decide this: a [`RowScanner`](super::RowScanner) has to scan the remainder and this chunk, and its result must
    /// be passed to [`Chain::resume`].
    Unsure,
}

impl Chain {
    /// A chain at the start of a text, for rows of up to `max_row` bytes. Chunks should be much shorter than that.
    #[must_use]
    pub fn new(max_row: usize) -> Self {
        Self { state: State::RowStart, pending: 0, skip: false, max_row }
    }

    /// Advances by a chunk of `length` bytes.
    pub fn advance(&mut self, chunk: &Transition, length: usize) -> Cut {
        if self.pending + length > self.max_row {
            return Cut::Unsure;
        }
        let rows = chunk.rows(self.state);
        self.state = chunk.state(self.state);
        match rows {
            Some(rows) => {
                self.pending = length - rows;
                self.skip = false;
                Cut::Rows(rows)
            }
            None => {
                self.pending += length;
                Cut::Inside
            }
        }
    }

    /// Continues after the bytes that a scanner consumed, with an incomplete row of `length` bytes. With `skip`, the
    /// next piece starts within a rejected line, and there is no such row.
    pub fn resume(&mut self, row: &Transition, length: usize, skip: bool) {
        self.state = row.state(if skip { State::Skip } else { State::RowStart });
        (self.pending, self.skip) = (length, skip);
    }

    /// Whether the remainder starts within a rejected line; to be passed on in [`Piece`](super::Piece).
    #[must_use]
    pub fn skip(&self) -> bool {
        self.skip
    }
}
