//! Compressed files that consist of independently compressed chunks.
//!
//! Workers decompress chunks in parallel, so a compressed file is scanned in parallel like any other.

use crate::input_file::InputFile;
use brc_compress::{ChunkPlace, Compression, FileFormat};
use brc_core::{Error, ReadAt, Result};
use brc_text::CharsetError;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The bytes and time spent on reading so far.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ReadCost {
    /// Bytes read from the file.
    pub(crate) bytes: u64,
    pub(crate) read_time: Duration,
    pub(crate) decompress_time: Duration,
}

/// For `map_err` on reads that may decompress: neither damaged data nor an unsupported compression is an I/O error.
pub(crate) fn read_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |error| match error.kind() {
        _ if matches!(error.get_ref(), Some(inner) if inner.is::<CharsetError>()) => {
            Error::corrupt(&path, "text", format!("{error}; set the right charset with --charset"))
        }
        ErrorKind::InvalidData => Error::corrupt(&path, "compressed data", error.to_string()),
        ErrorKind::UnexpectedEof => Error::corrupt(&path, "compressed data", cut_off(&path)),
        ErrorKind::Unsupported if error.raw_os_error().is_none() => Error::unsupported(&path, error.to_string()),
        _ => Error::io(&path, "read")(error),
    }
}

/// The reason of an error: the end of a file comes too early. That of a stream is not known.
fn cut_off(path: &Path) -> String {
    let file = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file);
    file.map_or("the data is cut off".to_owned(), |file| format!("the file is cut off at byte {}", file.len()))
}

/// A compressed file and its chunks.
pub struct Chunks {
    path: PathBuf,
    file: InputFile,
    stored_length: u64,
    format: &'static dyn FileFormat,
    places: Vec<ChunkPlace>,
    /// The offset of each chunk in the decompressed bytes, and the total length.
    starts: Vec<u64>,
}

impl Chunks {
    /// Finds the chunks of a file; returns the file if it does not consist of chunks.
    ///
    /// # Errors
    /// If the file cannot be read, or the chunk markers are damaged.
    pub(crate) fn find(
        path: &Path,
        file: InputFile,
        stored_length: u64,
        compression: &'static dyn Compression,
    ) -> Result<Result<Self, InputFile>> {
        let Some(format) = compression.file_format() else { return Ok(Err(file)) };
        let mut read_at = |offset, buffer: &mut [u8]| file.read_exact_at(buffer, offset);
        let Some(places) = format.chunks(stored_length, &mut read_at).map_err(read_error(path))? else {
            return Ok(Err(file));
        };
        let ends = places.iter().scan(0, |end, place| {
            *end += u64::from(place.length);
            Some(*end)
        });
        let starts = std::iter::once(0).chain(ends).collect();
        Ok(Ok(Self { path: path.to_owned(), file, stored_length, format, places, starts }))
    }

    /// The number of chunks.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The row count that a chunk declares; 0 if it declares none.
    pub(crate) fn rows(&self, chunk: usize) -> u64 {
        self.places[chunk].rows.unwrap_or(0).into()
    }

    /// Whether each chunk begins and ends with a row.
    pub(crate) fn hold_whole_rows(&self) -> bool {
        self.places.iter().all(|place| place.rows.is_some())
    }

    /// The size of the file in bytes.
    pub(crate) fn stored_length(&self) -> u64 {
        self.stored_length
    }

    /// The number of bytes after decompression.
    pub(crate) fn length(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The byte range of a chunk in the decompressed bytes.
    pub(crate) fn range(&self, chunk: usize) -> Range<u64> {
        self.starts[chunk]..self.starts[chunk + 1]
    }

    /// Splits made of whole chunks, as ranges of decompressed bytes, so that few chunks are decompressed twice.
    pub(crate) fn splits(&self) -> Vec<Range<u64>> {
        const MIN_BYTES: u64 = 4 << 20;
        let mut splits = Vec::new();
        let mut start = 0;
        for chunk in 0..self.len() {
            let end = self.range(chunk).end;
            if end - start >= MIN_BYTES || (chunk + 1 == self.len() && end > start) {
                splits.push(start..end);
                start = end;
            }
        }
        splits
    }

    /// The chunks that overlap a non-empty range of the decompressed bytes.
    pub(crate) fn overlapping(&self, range: &Range<u64>) -> Range<usize> {
        let first = self.starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        let last = self.starts.partition_point(|start| *start < range.end).min(self.places.len());
        first..last
    }

    /// Decompresses a chunk into `buffer` after its first `start` bytes, and truncates the buffer to fit.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub(crate) fn load(
        &self,
        chunk: usize,
        stored: &mut Vec<u8>,
        buffer: &mut Vec<u8>,
        start: usize,
        cost: &mut ReadCost,
    ) -> Result<()> {
        let place = &self.places[chunk];
        let before = Instant::now();
        stored.resize(place.stored as usize, 0);
        self.file.read_exact_at(stored, place.offset).map_err(read_error(&self.path))?;
        let read = Instant::now();
        buffer.resize(start + place.length as usize, 0);
        let outcome = self.format.decompress_chunk(place, stored, &mut buffer[start..]);
        outcome.map_err(|error| Error::corrupt(&self.path, format!("chunk {chunk}"), error.to_string()))?;
        cost.bytes += u64::from(place.stored);
        cost.read_time += read - before;
        cost.decompress_time += read.elapsed();
        Ok(())
    }

    /// The whole content as a stream, for readers that cannot use chunks.
    ///
    /// # Errors
    /// I/O errors.
    pub(crate) fn into_stream(self) -> Result<Box<dyn Read + Send>> {
        Ok(self.format.reader(Box::new(self.file.reader())))
    }
}
