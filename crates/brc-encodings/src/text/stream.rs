//! Cuts a stream into the same splits that a file of the same bytes would have.
//!
//! A stream is read in order by whichever worker's turn it is; the worker takes the whole text of its split and parses
//! it while another one reads on.

use super::LONGEST_LINE;
use super::pieces::{Piece, missing_end};
use crate::chunks::{ReadCost, read_error};
use brc_core::{Result, Split};
use brc_kernels::text::{MARGIN, Window};
use memchr::{memchr, memrchr};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// How much is asked for at once.
const PORTION: usize = 256 << 10;

/// A stream that several workers read in turn.
pub(super) struct Stream {
    path: PathBuf,
    state: Mutex<State>,
    turn: Condvar,
}

struct State {
    reader: Box<dyn Read + Send>,
    /// What was read behind the end of the last split.
    pending: Vec<u8>,
    /// The place of the first pending byte in the stream.
    byte: u64,
    /// The split that is read next.
    next: u64,
    ended: bool,
}

/// The text of one split.
#[derive(Default)]
pub(super) struct StreamPieces {
    /// A margin, the text, a margin.
    buffer: Vec<u8>,
    /// What there is in the buffer.
    pieces: Vec<Place>,
    next: usize,
    pub(super) cost: ReadCost,
}

impl Stream {
    pub(super) fn new(path: &Path, prefix: Vec<u8>, rest: Box<dyn Read + Send>) -> Self {
        let reader = Box::new(std::io::Cursor::new(prefix).chain(rest));
        let state = State { reader, pending: Vec::new(), byte: 0, next: 0, ended: false };
        Self { path: path.to_owned(), state: Mutex::new(state), turn: Condvar::new() }
    }

    /// Reads the split into `pieces`, when its turn comes. Returns whether the stream went as far.
    pub(super) fn read(&self, split: &Split, pieces: &mut StreamPieces) -> Result<bool> {
        let mut state = self.lock();
        while state.next < split.index {
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let outcome = pieces.read(&mut state, split.end).map_err(read_error(&self.path));
        if outcome.is_err() {
            state.ended = true;
        }
        state.next = split.index + 1;
        drop(state);
        self.turn.notify_all();
        outcome
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamPieces {
    fn read(&mut self, state: &mut State, end: u64) -> std::io::Result<bool> {
        self.buffer.clear();
        self.buffer.resize(MARGIN, 0);
        self.buffer.append(&mut state.pending);
        self.pieces.clear();
        self.next = 0;
        self.cost = ReadCost::default();
        if state.ended && self.buffer.len() == MARGIN {
            return Ok(false);
        }
        let before = Instant::now();
        let mut start = MARGIN;
        while state.byte < end {
            match self.next_row_end(state, start, end)? {
                RowEnd::At(row_end) => start = self.piece(state, start, row_end),
                RowEnd::TooLong => start = self.too_long(state, start)?,
                RowEnd::None => break,
            }
        }
        state.pending.extend_from_slice(&self.buffer[start..]);
        self.buffer.resize(self.buffer.len() + MARGIN, 0);
        self.cost.read_time = before.elapsed();
        Ok(true)
    }

    /// Reads on until the rows from `start` that begin before `end` are whole.
    fn next_row_end(&mut self, state: &mut State, start: usize, end: u64) -> std::io::Result<RowEnd> {
        let last_byte = start + usize::try_from(end - state.byte).unwrap_or(usize::MAX - start) - 1;
        let mut searched = start;
        loop {
            if self.buffer.len() > last_byte
                && let Some(at) = memchr(b'\n', &self.buffer[last_byte.max(searched)..])
            {
                return Ok(RowEnd::At(last_byte.max(searched) + at + 1));
            }
            let row = memrchr(b'\n', &self.buffer[searched..]).map(|at| searched + at + 1);
            let row_start = row.unwrap_or(searched);
            if self.buffer.len() - row_start > LONGEST_LINE + 1 {
                return Ok(if row_start > start { RowEnd::At(row_start) } else { RowEnd::TooLong });
            }
            searched = row_start;
            if self.fill(state)? == 0 {
                self.buffer.extend_from_slice(missing_end(&self.buffer[start..]));
                return Ok(if self.buffer.len() > start { RowEnd::At(self.buffer.len()) } else { RowEnd::None });
            }
        }
    }

    fn fill(&mut self, state: &mut State) -> std::io::Result<usize> {
        let filled = self.buffer.len();
        self.buffer.resize(filled + PORTION, 0);
        let read = loop {
            match state.reader.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        let read = read?;
        state.ended |= read == 0;
        self.cost.bytes += read as u64;
        Ok(read)
    }

    fn piece(&mut self, state: &mut State, start: usize, end: usize) -> usize {
        self.pieces.push(Place { range: start..end, cut_off: false, byte: state.byte });
        state.byte += (end - start) as u64;
        end
    }

    /// Cuts a row off that is too long, and skips the rest of it.
    fn too_long(&mut self, state: &mut State, start: usize) -> std::io::Result<usize> {
        let cut = start + LONGEST_LINE + 1;
        let mut skipped = (self.buffer.len() - start) as u64;
        self.buffer.truncate(cut);
        self.pieces.push(Place { range: start..cut, cut_off: true, byte: state.byte });
        let start = self.buffer.len();
        loop {
            let read = self.fill(state)?;
            let line_feed = memchr(b'\n', &self.buffer[start..]);
            let rest = line_feed.map_or(read, |at| at + 1);
            skipped += rest as u64;
            self.buffer.drain(start..start + rest);
            if line_feed.is_some() || read == 0 {
                state.byte += skipped;
                return Ok(start);
            }
        }
    }

    /// The next rows.
    pub(super) fn next(&mut self) -> Option<Piece<'_>> {
        let place = self.pieces.get(self.next)?;
        self.next += 1;
        let window = Window::new(&self.buffer, place.range.start, place.range.end);
        Some(Piece { window, cut_off: place.cut_off, byte: place.byte })
    }
}

/// Where a [`Piece`] is.
struct Place {
    range: Range<usize>,
    cut_off: bool,
    byte: u64,
}

enum RowEnd {
    /// Whole rows up to here.
    At(usize),
    /// The first row is longer than a line may be.
    TooLong,
    /// The stream has ended, and there are no more rows.
    None,
}
