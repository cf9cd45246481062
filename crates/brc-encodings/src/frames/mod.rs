//! Tables as a sequence of frames: the common structure of all binary encodings of rows.
//!
//! Binary rows have no recognisable start, so a file of nothing but rows could only be read from its first byte on.
//! Here rows are grouped in frames of about half a mebibyte. Each frame is preceded by its length, its number of rows
//! and its checksum, in a form that the encoding's own tools read as one more value. So splits are found by skipping
//! from frame to frame, and a flipped byte anywhere is an error. A file consists of
//!
//! 1. a header that describes the columns;
//! 2. frames, each with a frame header;
//! 3. an end frame without rows, with the number of frames: if it is missing, the file was cut off.
//!
//! A file of another program may have none of these, only rows: it is read in order, by one worker at a time, and
//! decoded in parallel. Its columns must be given.

mod columns_text;
mod decoded_column;
mod decoder;
mod encoder;
mod encoding;
mod file;
mod forms;
mod scanner;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod writer;

use crate::delivery::Delivery;
use crate::rows::RowBuffer;
use brc_core::{Batch, Error, Result, Schema};
use std::ops::Range;
use std::path::Path;

pub(crate) use decoded_column::has_any_64_bits;
pub(crate) use decoder::{
    ARRAY_AROUND, Fault, NOT_A_ROW, NOT_A_STRING, NOT_AN_INTEGER, RowDecoder, RowLayout, RowReader, not_a_uuid, not_of,
    take_text, wrong_length,
};
pub(crate) use encoder::FramedRows;
pub(crate) use encoding::Framed;
pub(crate) use forms::{IntegerForm, take_integer};

/// The version of files whose columns are strings, 64-bit integers and decimals without nulls.
pub(crate) const FIRST_VERSION: u32 = 1;

/// The version of files of all types. It is written only if version 1 does not suffice: so a table that version 1
/// can hold has the same bytes in all versions of this program.
pub(crate) const VERSION: u32 = 2;

/// The maximum size of a frame in bytes: limits the allocation for a forged length.
pub(crate) const LARGEST_FRAME: usize = 64 << 20;

/// The maximum size of a file header in bytes: the names and types of some hundred thousand columns.
pub(crate) const LONGEST_HEADER: usize = 16 << 20;

/// The header of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// [`FIRST_VERSION`] or [`VERSION`].
    pub(crate) version: u32,
    /// The columns: in version 1 as [`columns_text`] writes them, otherwise as [`Schema`] does.
    pub(crate) schema: String,
    /// CRC-32C of the schema's text.
    pub(crate) checksum: u32,
}

impl FileHeader {
    /// The header of a table with these columns.
    pub(crate) fn of(columns: &Schema) -> Self {
        let first = columns_text::write(columns);
        let is_first = columns_text::parse(&first).is_ok_and(|parsed| parsed.fields() == columns.fields());
        let (version, schema) = if is_first { (FIRST_VERSION, first) } else { (VERSION, columns.to_string()) };
        Self { version, checksum: checksum(schema.as_bytes()), schema }
    }

    /// The columns.
    ///
    /// # Errors
    /// The reason if they are invalid.
    pub(crate) fn columns(&self) -> Result<Schema, String> {
        match self.version {
            FIRST_VERSION => columns_text::parse(&self.schema).map_err(|error| error.to_string()),
            _ => Schema::parse(&self.schema).map_err(|error| error.to_string()),
        }
    }

    /// Whether the checksum matches the columns.
    pub(crate) fn is_sound(&self) -> bool {
        self.checksum == checksum(self.schema.as_bytes())
    }
}

/// The header before the rows of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// The size of the rows in bytes.
    pub(crate) length: u32,
    /// The number of rows; 0 in the end frame.
    pub(crate) rows: u32,
    /// CRC-32C of the rows' bytes; in the end frame, the number of frames before it (modulo 2³²).
    pub(crate) checksum: u32,
}

impl FrameHeader {
    /// The end frame of a file.
    fn end(frames: u64) -> Self {
        Self { length: 0, rows: 0, checksum: frames as u32 }
    }

    fn is_end(&self) -> bool {
        self.length == 0 && self.rows == 0
    }

    /// CRC-32C of length, rows and checksum, which a layout adds to the frame header.
    pub(crate) fn own_checksum(&self) -> u32 {
        let mut bytes = [0; 12];
        for (at, number) in [self.length, self.rows, self.checksum].into_iter().enumerate() {
            bytes[at * 4..][..4].copy_from_slice(&number.to_le_bytes());
        }
        checksum(&bytes)
    }

    /// The header as four little-endian numbers, the last of them its own checksum.
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let numbers = [self.length, self.rows, self.checksum, self.own_checksum()];
        for (at, number) in numbers.into_iter().enumerate() {
            bytes[at * 4..][..4].copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// Parses the output of [`FrameHeader::to_bytes`]; `None` if its checksum does not match.
    pub(crate) fn from_bytes(bytes: &[u8; 16]) -> Option<Self> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = Self { length: number(0), rows: number(4), checksum: number(8) };
        (number(12) == header.own_checksum()).then_some(header)
    }
}

/// CRC-32C.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// How one encoding writes headers and rows; everything else is shared.
pub(crate) trait Layout: Sync {
    /// The encoding's name.
    fn name(&self) -> &'static str;

    /// Its file extensions, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// A one-line description.
    fn about(&self) -> &'static str;

    /// The first bytes of every file with a header.
    fn magic(&self) -> &'static [u8];

    /// The header of a file: the same bytes in all versions of this program.
    fn file_header(&self, header: &FileHeader) -> Vec<u8>;

    /// Reads the header of a file that begins with the magic; returns it with its length. What it does not check is
    /// detected when the header is compared with the one that [`Layout::file_header`] writes for the same columns.
    ///
    /// # Errors
    /// The reason if it is invalid.
    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String>;

    /// The columns of a file that does not begin with the magic, if its first bytes describe them nevertheless.
    fn schema_of_prefix(&self, _prefix: &[u8]) -> Option<Schema> {
        None
    }

    /// Whether the first bytes are from a file that another program rewrote: its frames have moved.
    fn is_rewritten(&self, _prefix: &[u8]) -> bool {
        false
    }

    /// The length of a frame header in bytes.
    fn frame_header_bytes(&self) -> usize;

    /// Appends a frame header of exactly this length.
    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>);

    /// Reads a frame header of exactly this length; `None` if it is invalid.
    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader>;

    /// An encoder of frames.
    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder>;

    /// A decoder of frames for one worker, with the given projection.
    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder>;

    /// In unframed bytes that start with a row: the end of the first row that ends at or after `least`, and the number
    /// of rows up to there. `None` if the bytes end earlier.
    ///
    /// # Errors
    /// If the bytes are not rows.
    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed>;
}

/// Encodes the rows of one frame at a time.
pub(crate) trait FrameEncoder: Send {
    /// Appends rows of a batch to the frame, which is the last content of the buffer, until the buffer and the [pending
    /// bytes](Self::pending) together reach `max_bytes`. `rows_before` is the number of rows of the part before the
    /// batch. Returns the number of appended rows, at least 1.
    ///
    /// # Errors
    /// If the batch does not fit the schema, or the encoding cannot hold a row.
    fn push(
        &mut self,
        batch: &Batch<'_>,
        rows: Range<usize>,
        rows_before: u64,
        max_bytes: usize,
        out: &mut RowBuffer,
    ) -> Result<usize>;

    /// The approximate number of bytes of the frame that are not in the buffer yet.
    fn pending(&self) -> usize;

    /// Ends the frame and appends its pending bytes. Called only if the frame has at most [`LARGEST_FRAME`] bytes,
    /// including [`FrameEncoder::pending`].
    fn finish(&mut self, out: &mut RowBuffer);
}

/// Decodes the rows of frames for one worker. Codes keep their meaning across frames.
pub(crate) trait FrameDecoder: Send {
    /// Delivers all rows of a frame, or of unframed bytes; returns their number.
    fn decode(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<u64, DecodeError>;
}

/// The position of a row that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// The number of bytes before it.
    pub(crate) at: usize,
    /// The number of rows before it.
    pub(crate) rows: u64,
    /// The position of the column at fault, if known.
    pub(crate) column: Option<usize>,
    /// Whether the bytes are valid, and only not supported as rows.
    pub(crate) is_sound: bool,
    /// The reason.
    pub(crate) reason: String,
}

impl Malformed {
    /// The error for invalid bytes.
    pub(crate) fn corrupt(at: usize, rows: u64, reason: String) -> Self {
        Self { at, rows, column: None, is_sound: false, reason }
    }

    /// The error with its location in a file.
    pub(crate) fn error(self, path: &Path, location: String, schema: &Schema) -> Error {
        if !self.is_sound {
            return Error::corrupt(path, location, self.reason);
        }
        let column = self.column.and_then(|column| schema.fields().get(column));
        let column = column.map_or_else(String::new, |field| format!(", column '{}'", field.name));
        Error::unsupported(path, format!("{location}{column}: {}", self.reason))
    }
}

/// Why a frame was not delivered.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// It is malformed.
    Malformed(Malformed),
    /// The sink failed.
    Sink(Error),
}

impl From<Malformed> for DecodeError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<Error> for DecodeError {
    fn from(error: Error) -> Self {
        Self::Sink(error)
    }
}
