//! Locates the frames of a file, or of the chunks of a compressed file, from their headers.

use super::{FrameHeader, LARGEST_FRAME, Layout, checksum};
use crate::chunks::{Chunks, ReadCost};
use crate::input_file::InputFile;
use brc_core::{Error, ReadAt, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A file whose frames are located.
pub(super) struct FramedFile {
    path: PathBuf,
    layout: &'static dyn Layout,
    bytes: Bytes,
    frames: Vec<FrameLocation>,
}

/// The source of the frames' bytes.
enum Bytes {
    File(InputFile),
    Chunks(Chunks),
}

/// The location of a frame.
#[derive(Debug, Clone, Copy)]
struct FrameLocation {
    /// The offset of its rows, in the file or in its chunk.
    at: u64,
    /// `None` for a frame in a chunk: its header is read with the rows.
    header: Option<FrameHeader>,
    length: u64,
    rows: u64,
}

/// A worker's buffer for frames.
#[derive(Default)]
pub(super) struct FrameBuffer {
    stored: Vec<u8>,
    bytes: Vec<u8>,
    pub(super) cost: ReadCost,
}

impl FramedFile {
    /// Locates the frames after the header of a file, which is `start` bytes long.
    pub(super) fn in_file(
        path: &Path,
        layout: &'static dyn Layout,
        file: InputFile,
        length: u64,
        start: usize,
    ) -> Result<Self> {
        let mut frames = Vec::new();
        let mut at = start as u64;
        let mut buffer = vec![0; layout.frame_header_bytes()];
        let corrupt = |at: u64, reason: &str| Error::corrupt(path, format!("byte {at}"), reason);
        loop {
            let read = file.read_full_at(&mut buffer, at).map_err(Error::io(path, "read"))?;
            if read < buffer.len() {
                return Err(corrupt(at, &format!("the file is cut off at byte {length}: no frame ends it")));
            }
            let header = layout.read_frame_header(&buffer).ok_or_else(|| corrupt(at, "no frame is here"))?;
            at += buffer.len() as u64;
            if header.is_end() {
                break check_end(&header, frames.len(), path)?;
            }
            let end = at + u64::from(header.length);
            if header.length as usize > LARGEST_FRAME || header.rows == 0 {
                return Err(corrupt(at, "the header of the frame is damaged"));
            }
            if end > length {
                let reason = format!("the file is cut off at byte {length}, or the header of the frame is damaged");
                return Err(corrupt(at, &reason));
            }
            let location =
                FrameLocation { at, header: Some(header), length: header.length.into(), rows: header.rows.into() };
            frames.push(location);
            at = end;
        }
        if at != length {
            return Err(corrupt(at, "there are bytes after the end of the table"));
        }
        Ok(Self { path: path.to_owned(), layout, bytes: Bytes::File(file), frames })
    }

    /// Takes the chunks of a compressed file: the first one is the header of `start` bytes, the last one is the end
    /// frame, and each chunk between them is a frame.
    pub(super) fn in_chunks(path: &Path, layout: &'static dyn Layout, chunks: Chunks, start: usize) -> Result<Self> {
        let corrupt = |reason: &str| Error::corrupt(path, "chunks", reason);
        let ends = |chunk: usize| chunks.range(chunk).end - chunks.range(chunk).start;
        let head = layout.frame_header_bytes() as u64;
        if chunks.len() < 2 || ends(0) != start as u64 || ends(chunks.len() - 1) != head {
            return Err(corrupt("the file is cut off, or its chunks are not frames"));
        }
        let last = chunks.len() - 1;
        let mut buffer = FrameBuffer::default();
        chunks.load(last, &mut buffer.stored, &mut buffer.bytes, 0, &mut buffer.cost)?;
        let end = layout.read_frame_header(&buffer.bytes).filter(FrameHeader::is_end);
        check_end(&end.ok_or_else(|| corrupt("the last one does not end the table"))?, last - 1, path)?;
        let location =
            |chunk| FrameLocation { at: chunk as u64, header: None, length: ends(chunk), rows: chunks.rows(chunk) };
        let frames = (1..last).map(location).collect();
        Ok(Self { path: path.to_owned(), layout, bytes: Bytes::Chunks(chunks), frames })
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> u64 {
        self.frames.iter().map(|frame| frame.rows).sum()
    }

    /// Ranges of frames that make up splits of at least `least` bytes.
    pub(super) fn splits(&self, least: u64) -> Vec<Range<u64>> {
        let mut splits = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for (index, frame) in self.frames.iter().enumerate() {
            let end = index as u64 + 1;
            bytes += frame.length;
            if bytes >= least || index + 1 == self.frames.len() {
                splits.push(start..end);
                (start, bytes) = (end, 0);
            }
        }
        splits
    }

    /// The checked rows of a frame, and their number.
    pub(super) fn load<'b>(&'b self, frame: usize, buffer: &'b mut FrameBuffer) -> Result<(&'b [u8], u64)> {
        let location = &self.frames[frame];
        let corrupt = |reason: &str| Error::corrupt(&self.path, format!("frame {frame}"), reason);
        let FrameBuffer { stored, bytes, cost } = buffer;
        let (header, rows) = match (&self.bytes, location.header) {
            (Bytes::Chunks(chunks), _) => {
                chunks.load(location.at as usize, stored, bytes, 0, cost)?;
                let (head, rows) = bytes
                    .split_at_checked(self.layout.frame_header_bytes())
                    .ok_or_else(|| corrupt("its chunk is too short"))?;
                let header = self.layout.read_frame_header(head).ok_or_else(|| corrupt("it has no frame header"))?;
                (header, rows)
            }
            (Bytes::File(file), Some(header)) => {
                let before = Instant::now();
                bytes.resize(header.length as usize, 0);
                let read = file.read_full_at(bytes, location.at).map_err(Error::io(&self.path, "read"))?;
                cost.read_time += before.elapsed();
                cost.bytes += read as u64;
                (header, &bytes[..read])
            }
            (_, None) => return Err(corrupt("it has no frame header")),
        };
        if rows.len() != header.length as usize || u64::from(header.rows) != location.rows {
            return Err(corrupt("it is not as long as it says"));
        }
        if checksum(rows) != header.checksum {
            return Err(corrupt("the checksum does not match"));
        }
        Ok((rows, header.rows.into()))
    }
}

/// Checks that the number of frames matches the end frame.
pub(super) fn check_end(end: &FrameHeader, frames: usize, path: &Path) -> Result<()> {
    if end.checksum == frames as u32 {
        return Ok(());
    }
    Err(Error::corrupt(path, "last frame", format!("it counts {} frames, but there are {frames}", end.checksum)))
}
