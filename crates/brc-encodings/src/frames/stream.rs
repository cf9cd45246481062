//! Frames, or unframed rows, from a stream that several workers read in turn.
//!
//! A worker reads the bytes of its split in its turn, and decodes them while the next one reads. Frames have their
//! lengths in their headers; unframed rows are skipped one by one to find the end of a split.

use super::file::check_end;
use super::{FrameHeader, LARGEST_FRAME, Layout, Malformed, checksum};
use crate::chunks::{ReadCost, read_error};
use crate::turns::{Turns, read_once};
use brc_core::{Error, Result, Schema, Split};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The number of bytes requested at once beyond those that are sure to be needed.
const PORTION: usize = 256 << 10;

/// A stream that several workers read in turn.
pub(super) struct FrameStream {
    path: PathBuf,
    layout: &'static dyn Layout,
    /// Whether rows are in frames.
    framed: bool,
    schema: Schema,
    turns: Turns<State>,
}

struct State {
    reader: Box<dyn Read + Send>,
    /// The bytes read after the end of the last split.
    pending: Vec<u8>,
    /// The offset of the first pending byte in the stream.
    byte: u64,
    /// The number of rows before that offset, if they are unframed.
    rows: u64,
    /// The number of frames before that offset.
    frames: usize,
    ended: bool,
}

/// The bytes of one split.
#[derive(Default)]
pub(super) struct SplitBuffer {
    bytes: Vec<u8>,
    /// The range of each frame's rows, and its header; a single range without a header if the rows are unframed.
    frames: Vec<(Range<usize>, Option<FrameHeader>)>,
    /// The offset of the first byte in the stream.
    pub(super) byte: u64,
    pub(super) cost: ReadCost,
}

impl FrameStream {
    /// `reader` continues after the header of `start` bytes; `None` means no header and no frames.
    pub(super) fn new(
        path: &Path,
        layout: &'static dyn Layout,
        schema: &Schema,
        reader: Box<dyn Read + Send>,
        start: Option<usize>,
    ) -> Self {
        let byte = start.unwrap_or(0) as u64;
        let state = State { reader, pending: Vec::new(), byte, rows: 0, frames: 0, ended: false };
        Self {
            path: path.to_owned(),
            layout,
            framed: start.is_some(),
            schema: schema.clone(),
            turns: Turns::new(state),
        }
    }

    /// Reads a split of at least `least` bytes when its turn comes. Returns `false` if the stream ended before it.
    pub(super) fn read(&self, split: &Split, least: usize, buffer: &mut SplitBuffer) -> Result<bool> {
        let mut state = self.turns.turn(split.index).ok_or_else(|| read_once(&self.path))?;
        let before = Instant::now();
        *buffer = SplitBuffer { bytes: std::mem::take(&mut buffer.bytes), ..SplitBuffer::default() };
        buffer.bytes.clear();
        buffer.byte = state.byte;
        let outcome = match (state.ended, self.framed) {
            (true, _) => Ok(()),
            (_, true) => self.frames(&mut state, least, buffer),
            (_, false) => self.rows(&mut state, least, buffer),
        };
        buffer.cost.read_time = before.elapsed();
        state.ended |= outcome.is_err();
        drop(state);
        outcome.map(|()| !buffer.frames.is_empty())
    }

    /// Reads whole frames.
    fn frames(&self, state: &mut State, least: usize, buffer: &mut SplitBuffer) -> Result<()> {
        let head = self.layout.frame_header_bytes();
        let corrupt = |at: u64, reason: &str| Error::corrupt(&self.path, format!("byte {at}"), reason);
        while buffer.bytes.len() < least {
            let start = buffer.bytes.len();
            if self.fill(state, buffer, head)? < head {
                return Err(corrupt(state.byte, "the data is cut off: no frame ends it"));
            }
            let header = self.layout.read_frame_header(&buffer.bytes[start..]);
            let header = header.ok_or_else(|| corrupt(state.byte, "no frame is here"))?;
            if header.is_end() {
                check_end(&header, state.frames, &self.path)?;
                if self.fill(state, buffer, 1)? > 0 {
                    return Err(corrupt(state.byte + head as u64, "there are bytes after the end of the table"));
                }
                state.ended = true;
                break;
            }
            let length = header.length as usize;
            if length > LARGEST_FRAME || header.rows == 0 || self.fill(state, buffer, length)? < length {
                return Err(corrupt(state.byte, "the data is cut off, or the header of the frame is damaged"));
            }
            buffer.frames.push((start + head..start + head + length, Some(header)));
            state.byte += (head + length) as u64;
            state.frames += 1;
        }
        Ok(())
    }

    /// Reads whole unframed rows.
    fn rows(&self, state: &mut State, least: usize, buffer: &mut SplitBuffer) -> Result<()> {
        buffer.bytes.append(&mut state.pending);
        let mut wanted = least + PORTION;
        loop {
            let missing = wanted.saturating_sub(buffer.bytes.len());
            state.ended = self.fill(state, buffer, missing)? < missing;
            let bytes = &buffer.bytes;
            let least = if state.ended { bytes.len() } else { least };
            let end = self.layout.row_end(&self.schema, bytes, least);
            match end.map_err(|it| self.malformed(buffer.byte, state.rows, it))? {
                Some((end, rows)) => {
                    state.pending.extend_from_slice(&bytes[end..]);
                    state.ended &= state.pending.is_empty();
                    state.byte += end as u64;
                    state.rows += rows;
                    buffer.bytes.truncate(end);
                    buffer.frames.push((0..end, None));
                    return Ok(());
                }
                None if state.ended && bytes.is_empty() => return Ok(()),
                None if state.ended => {
                    let location = format!("byte {}", buffer.byte);
                    return Err(Error::corrupt(&self.path, location, "the data ends within a row"));
                }
                None if bytes.len() > LARGEST_FRAME + least => {
                    let location = format!("byte {}", buffer.byte);
                    return Err(Error::corrupt(&self.path, location, "a row does not end"));
                }
                None => wanted = bytes.len() + bytes.len().max(PORTION),
            }
        }
    }

    /// Reads up to `count` further bytes; fewer if the stream ends.
    fn fill(&self, state: &mut State, buffer: &mut SplitBuffer, count: usize) -> Result<usize> {
        let mut reader = state.reader.by_ref().take(count as u64);
        let read = reader.read_to_end(&mut buffer.bytes).map_err(read_error(&self.path))?;
        buffer.cost.bytes += read as u64;
        Ok(read)
    }

    /// The error at a position relative to byte `start` of the stream, after `rows` rows.
    fn malformed(&self, start: u64, rows: u64, malformed: Malformed) -> Error {
        let byte = start + malformed.at as u64;
        let row = rows + malformed.rows + 1;
        let location = if malformed.is_sound { format!("row {row}, byte {byte}") } else { format!("byte {byte}") };
        malformed.error(&self.path, location, &self.schema)
    }
}

impl SplitBuffer {
    /// The number of frames.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// The rows of a frame, and their number if it has a header; `None` if the checksum does not match.
    pub(super) fn frame(&self, index: usize) -> Option<(&[u8], Option<u64>)> {
        let (location, header) = &self.frames[index];
        let rows = &self.bytes[location.clone()];
        match header {
            Some(header) if checksum(rows) != header.checksum => None,
            header => Some((rows, header.map(|header| header.rows.into()))),
        }
    }

    /// The offset of a frame in the split.
    pub(super) fn at(&self, index: usize) -> usize {
        self.frames[index].0.start
    }
}
