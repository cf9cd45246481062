//! Cuts chunks of text at ends of rows, also where line ends stand in quotes.

use brc_kernels::structure::{State, Transition};

/// Follows a text from chunk to chunk by what each does to the state before it. The [`Transition`]s are found in
/// parallel; chaining them takes no time.
#[derive(Debug, Clone)]
pub struct Chain {
    state: State,
    /// How many bytes of the row under way have come.
    pending: usize,
    skip: bool,
    max_row: usize,
}

/// Where a chunk is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// The first so many bytes, behind what the chunks before have left over, are whole rows; the rest is left over.
    Rows(usize),
    /// No row ends in it: all of it is left over.
    Inside,
    /// The row under way may be too long, so that reading may have to resume behind its first line. That is not seen
    /// from here: a [`RowScanner`](super::RowScanner) has to go through what is left over and this chunk, and
    /// [`Chain::resume`] wants to know what it left.
    Unsure,
}

impl Chain {
    /// At the start of a text, for rows of up to `max_row` bytes. Chunks should be much shorter than that.
    #[must_use]
    pub fn new(max_row: usize) -> Self {
        Self { state: State::RowStart, pending: 0, skip: false, max_row }
    }

    /// Goes on by a chunk of `length` bytes.
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

    /// Goes on behind what a scanner used up: with an unfinished row of `length` bytes, which is nothing if the
    /// scanner says that the next piece starts in a rejected line (`skip`).
    pub fn resume(&mut self, row: &Transition, length: usize, skip: bool) {
        self.state = row.state(if skip { State::Skip } else { State::RowStart });
        (self.pending, self.skip) = (length, skip);
    }

    /// Whether what is left over so far starts in a line that was rejected, which a [`Piece`](super::Piece) needs to
    /// know.
    #[must_use]
    pub fn skip(&self) -> bool {
        self.skip
    }
}
