//! Cuts a stream into the same splits as a file with the same bytes.
//!
//! Workers read a stream in turn, in order: each reads the whole text of its split, and parses it while the next one
//! reads. Files whose rows are not lines are read likewise, because the start of a row depends on all bytes before it.
//! With inferred types, a split may have to be read again: from the file, or from a copy made while reading.

use super::LONGEST_LINE;
use super::pieces::{Piece, missing_end};
use super::reline::{Newlines, Notes, Reline, RelineFault, Relines};
use crate::chunks::{ReadCost, read_error};
use crate::input_file::InputFile;
use crate::stream_copy::StreamCopy;
use crate::turns::{Turns, read_once};
use brc_core::{Error, ReadAt, Result, RowFault, RowLocation, Split};
use brc_kernels::text::{MARGIN, Window};
use memchr::{memchr, memrchr};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The number of bytes read at once.
const PORTION: usize = 256 << 10;

/// A stream that several workers read in turn.
pub(super) struct Stream {
    path: PathBuf,
    /// Its length in bytes, if it is a file.
    length: Option<u64>,
    turns: Turns<State>,
    /// The bytes read so far, if they can be read again.
    again: Option<InputFile>,
    reline: Option<Arc<dyn Reline>>,
}

struct State {
    reader: Box<dyn Read + Send>,
    relines: Option<Box<dyn Relines>>,
    /// The copy of the bytes read, if one is kept.
    copy: Option<Arc<StreamCopy>>,
    /// The bytes read after the end of the last split.
    pending: Vec<u8>,
    /// The notes on the pending bytes, if rows are rewritten to lines.
    notes: Notes,
    /// The offset of the first pending byte in the stream, and the number of lines that end before it; and the offset
    /// of the next byte to read.
    byte: u64,
    lines: u64,
    read: u64,
    /// The start of each split that was read: its byte, and the number of lines before it.
    starts: Vec<(u64, u64)>,
    ended: bool,
    /// The error, after which nothing more can be read.
    failure: Option<Failure>,
}

enum Failure {
    Read(std::io::Error),
    /// With the line.
    Text(RelineFault, u64),
}

impl Failure {
    fn error(self, path: &Path) -> Error {
        match self {
            Self::Read(error) => read_error(path)(error),
            Self::Text(RelineFault { byte, reason }, line) => Error::BadRow {
                path: path.to_owned(),
                place: RowLocation { line, byte, column: None },
                fault: RowFault::BrokenJson(reason),
            },
        }
    }
}

/// The text of one split.
#[derive(Default)]
pub(super) struct StreamPieces {
    /// A margin, the text, a margin.
    buffer: Vec<u8>,
    /// The pieces in the buffer.
    pieces: Vec<PieceLocation>,
    next: usize,
    newlines: Option<Newlines>,
    /// The error after the last piece.
    failure: Option<Error>,
    pub(super) cost: ReadCost,
}

impl Stream {
    /// Bytes read are also written to `copy`, if they may have to be read again.
    pub(super) fn new(path: &Path, reader: Box<dyn Read + Send>, copy: Option<StreamCopy>) -> Self {
        let copy = copy.map(Arc::new);
        let state = State::new(reader, copy.clone());
        Self {
            path: path.to_owned(),
            length: None,
            turns: Turns::new(state),
            again: copy.map(|copy| InputFile::from(copy as Arc<dyn ReadAt>)),
            reline: None,
        }
    }

    /// A file as a stream.
    pub(super) fn of_file(path: &Path, file: InputFile, length: u64) -> Self {
        let reader = Box::new(file.clone().reader());
        Self { length: Some(length), again: Some(file), ..Self::new(path, reader, None) }
    }

    /// The same, with rows rewritten to lines.
    pub(super) fn relined(mut self, reline: Arc<dyn Reline>) -> Self {
        self.turns.get_mut().relines = Some(reline.begin_at(0));
        self.reline = Some(reline);
        self
    }

    /// The length of the file in bytes, if it is one.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    /// Reads the split into `pieces` when its turn comes. Returns `false` if the stream ended before it.
    pub(super) fn read(&self, split: &Split, pieces: &mut StreamPieces) -> Result<bool> {
        let Some(mut state) = self.turns.turn(split.index) else {
            let start = self.turns.look(|state| state.starts.get(split.index as usize).copied());
            return start.map_or(Ok(false), |start| self.reread(start, split.end, pieces));
        };
        let start = (state.byte, state.lines);
        let is_there = pieces.read(&mut state, split.end, &self.path);
        if is_there {
            state.starts.push(start);
        }
        Ok(is_there)
    }

    /// Reads a split again, given its first byte and the number of lines before it.
    fn reread(&self, (start, lines): (u64, u64), end: u64, pieces: &mut StreamPieces) -> Result<bool> {
        let file = self.again.as_ref().ok_or_else(|| read_once(&self.path))?;
        let mut state = State::new(Box::new(file.clone().reader_from(start)), None);
        (state.byte, state.lines, state.read) = (start, lines, start);
        state.relines = self.reline.as_ref().map(|reline| reline.begin_at(start));
        Ok(pieces.read(&mut state, end, &self.path))
    }

    /// Whether the bytes cannot be read again.
    pub(super) fn is_read_once(&self) -> bool {
        self.again.is_none()
    }
}

impl State {
    fn new(reader: Box<dyn Read + Send>, copy: Option<Arc<StreamCopy>>) -> Self {
        Self {
            reader,
            relines: None,
            copy,
            pending: Vec::new(),
            notes: Notes::default(),
            byte: 0,
            lines: 0,
            read: 0,
            starts: Vec::new(),
            ended: false,
            failure: None,
        }
    }

    /// Appends the next bytes; returns their number, 0 at the end.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> usize {
        if self.ended {
            return 0;
        }
        let filled = buffer.len();
        buffer.resize(filled + PORTION, 0);
        match self.read(&mut buffer[filled..]) {
            Ok(read) => {
                buffer.truncate(filled + read);
                self.ended = read == 0;
                self.reline(buffer, filled);
            }
            Err(error) => {
                buffer.truncate(filled);
                (self.ended, self.failure) = (true, Some(Failure::Read(error)));
            }
        }
        self.read += (buffer.len() - filled) as u64;
        buffer.len() - filled
    }

    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let read = loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => break outcome?,
            }
        };
        if let Some(copy) = &self.copy {
            copy.append(&room[..read])?;
        }
        Ok(read)
    }

    /// Rewrites new rows in a buffer to lines, up to an error.
    fn reline(&mut self, buffer: &mut Vec<u8>, filled: usize) {
        let Some(relines) = &mut self.relines else { return };
        let outcome = if self.ended { relines.end() } else { relines.reline(buffer, filled, &mut self.notes) };
        if let Err(fault) = outcome {
            let line = self.lines + self.notes.newlines.partition_point(|&offset| offset < fault.byte) as u64 + 1;
            buffer.truncate(filled + usize::try_from(fault.byte.saturating_sub(self.read)).unwrap_or(usize::MAX));
            (self.ended, self.failure) = (true, Some(Failure::Text(fault, line)));
        }
    }
}

impl StreamPieces {
    /// Reads the rows that start before `end`; returns whether anything is left to read.
    fn read(&mut self, state: &mut State, end: u64, path: &Path) -> bool {
        self.buffer.clear();
        self.buffer.resize(MARGIN, 0);
        self.buffer.append(&mut state.pending);
        self.pieces.clear();
        self.next = 0;
        self.cost = ReadCost::default();
        (self.newlines, self.failure) = (None, None);
        if state.ended && state.failure.is_none() && self.buffer.len() == MARGIN {
            return false;
        }
        let (before, read) = (Instant::now(), state.read);
        let mut start = MARGIN;
        while state.byte < end {
            match self.next_row_end(state, start, end) {
                RowEnd::At(row_end) => start = self.piece(state, start, row_end),
                RowEnd::TooLong => start = self.too_long(state, start),
                RowEnd::None => {
                    self.failure = state.failure.take().map(|failure| failure.error(path));
                    break;
                }
            }
        }
        if state.failure.is_some() || self.failure.is_none() {
            state.pending.extend_from_slice(&self.buffer[start..]);
        }
        self.buffer.resize(self.buffer.len() + MARGIN, 0);
        self.newlines = state.relines.is_some().then(|| {
            let newlines = state.notes.take_before(state.byte);
            state.lines += newlines.len();
            newlines
        });
        self.cost.read_time = before.elapsed();
        self.cost.bytes = state.read - read;
        true
    }

    /// Reads until the rows from `start` that begin before `end` are complete.
    fn next_row_end(&mut self, state: &mut State, start: usize, end: u64) -> RowEnd {
        let last_byte = start + usize::try_from(end - state.byte).unwrap_or(usize::MAX - start) - 1;
        let mut searched = start;
        loop {
            if self.buffer.len() > last_byte
                && let Some(row_end) = self.first_row_end(state, start, last_byte.max(searched))
            {
                return RowEnd::At(row_end);
            }
            let row_start = self.last_row_start(state, start, searched);
            if self.buffer.len() - row_start > LONGEST_LINE + 1 {
                return if row_start > start { RowEnd::At(row_start) } else { RowEnd::TooLong };
            }
            searched = row_start;
            if state.fill(&mut self.buffer) == 0 {
                if state.failure.is_some() {
                    // The last row is incomplete.
                    return if row_start > start { RowEnd::At(row_start) } else { RowEnd::None };
                }
                self.buffer.extend_from_slice(missing_end(&self.buffer[start..]));
                return if self.buffer.len() > start { RowEnd::At(self.buffer.len()) } else { RowEnd::None };
            }
        }
    }

    /// The end of the first row whose last byte is at `from` in the buffer or later, if the byte at `start` is the
    /// state's next one.
    fn first_row_end(&self, state: &State, start: usize, from: usize) -> Option<usize> {
        let line_end = memchr(b'\n', &self.buffer[from..]).map(|at| from + at + 1);
        let adjoining = state.notes.adjoining_from(state.byte + (from - start) as u64 + 1);
        let adjoining = adjoining.map(|offset| start + (offset - state.byte) as usize);
        line_end.into_iter().chain(adjoining).min()
    }

    /// The start of the last row, if a row starts at `searched` in the buffer.
    fn last_row_start(&self, state: &State, start: usize, searched: usize) -> usize {
        let line_end = memrchr(b'\n', &self.buffer[searched..]).map_or(searched, |at| searched + at + 1);
        let adjoining = state.notes.adjoining.last().map(|offset| offset.saturating_sub(state.byte));
        adjoining.map_or(line_end, |after| line_end.max(start + after as usize))
    }

    fn piece(&mut self, state: &mut State, start: usize, end: usize) -> usize {
        self.pieces.push(PieceLocation { range: start..end, cut_off: false, byte: state.byte });
        state.byte += (end - start) as u64;
        end
    }

    /// Cuts off a row that is too long, and skips the rest of it.
    fn too_long(&mut self, state: &mut State, start: usize) -> usize {
        let cut = start + LONGEST_LINE + 1;
        let mut skipped = (self.buffer.len() - start) as u64;
        self.buffer.truncate(cut);
        self.pieces.push(PieceLocation { range: start..cut, cut_off: true, byte: state.byte });
        let start = self.buffer.len();
        loop {
            let read = state.fill(&mut self.buffer);
            let adjoining =
                state.notes.adjoining_from(state.byte + skipped).map(|offset| offset - state.byte - skipped);
            let line_end = memchr(b'\n', &self.buffer[start..]).map(|at| at + 1);
            let row_end = line_end.into_iter().chain(adjoining.map(|after| after as usize)).min();
            let rest = row_end.unwrap_or(read);
            skipped += rest as u64;
            self.buffer.drain(start..start + rest);
            if row_end.is_some() || read == 0 {
                state.byte += skipped;
                return start;
            }
        }
    }

    /// The number of the stream's lines that end in the split, if they differ from the lines of the pieces.
    pub(super) fn lines(&self) -> Option<u64> {
        self.newlines.as_ref().map(Newlines::len)
    }

    /// The next rows.
    ///
    /// # Errors
    /// The error after the last row, if nothing more can be read.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'_>>> {
        let Some(location) = self.pieces.get(self.next) else { return self.failure.take().map_or(Ok(None), Err) };
        self.next += 1;
        let window = Window::new(&self.buffer, location.range.start, location.range.end);
        Ok(Some(Piece { window, cut_off: location.cut_off, byte: location.byte, newlines: self.newlines.as_ref() }))
    }
}

/// The location of a [`Piece`].
struct PieceLocation {
    range: Range<usize>,
    cut_off: bool,
    byte: u64,
}

enum RowEnd {
    /// Rows are complete up to here.
    At(usize),
    /// The first row exceeds the maximum line length.
    TooLong,
    /// The stream has ended, and there are no more rows.
    None,
}
