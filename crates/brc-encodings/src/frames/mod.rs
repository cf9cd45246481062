//! Tables as a sequence of frames: what all binary encodings of rows share.
//!
//! A binary row does not tell where it starts, so a file of nothing but rows could be read only from its first byte on.
//! Here rows stand in frames of about half a mebibyte, and before each frame stand its length, its number of rows and its
//! checksum, in a form that the encoding's own tools take for one more value. So splits are found by hopping over
//! frames, and a flipped byte anywhere is an error. A file is
//!
//! 1. a header: what the columns are;
//! 2. frames, each with a frame header;
//! 3. a frame without rows that tells how many frames there were: without it the file was cut off.
//!
//! A file that another program wrote may have none of these and be rows from the first byte to the last: it is read in
//! order, by one worker after the other, and decoded side by side. Somebody must say what its columns are.

mod columns_text;
mod decoder;
mod encoder;
mod encoding;
mod file;
mod forms;
mod scanner;
mod stream;
mod table;
mod taken;
#[cfg(test)]
mod tests;
mod writer;

use crate::delivery::Delivery;
use crate::rows::RowBuffer;
use brc_core::{Batch, Error, Result, Schema};
use std::ops::Range;
use std::path::Path;

pub(crate) use decoder::{
    ARRAY_AROUND, Fault, NOT_A_ROW, NOT_A_STRING, NOT_AN_INTEGER, RowDecoder, RowLayout, RowReader, not_a_uuid, not_of,
    take_text, wrong_length,
};
pub(crate) use encoder::FramedRows;
pub(crate) use encoding::Framed;
pub(crate) use forms::{Form, take_integer};
pub(crate) use taken::has_any_64_bits;

/// The version of files of strings, integers of 64 bits and decimals, none of them null.
pub(crate) const FIRST_VERSION: u32 = 1;

/// The version of files of all types. It is written only where the first one does not suffice: then no byte of the tables
/// of the first version depends on the version of this program.
pub(crate) const VERSION: u32 = 2;

/// The most that a frame may hold, in bytes: no forged length makes a reader allocate more.
pub(crate) const LARGEST_FRAME: usize = 64 << 20;

/// The most that the header of a file may hold, in bytes: the names and types of some hundred thousand columns.
pub(crate) const LONGEST_HEADER: usize = 16 << 20;

/// What a file begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileHeader {
    /// [`FIRST_VERSION`] or [`VERSION`].
    pub(crate) version: u32,
    /// The columns: those of the first version as [`columns_text`] writes them, all others as [`Schema`] does.
    pub(crate) schema: String,
    /// CRC-32C of the schema's text.
    pub(crate) checksum: u32,
}

impl FileHeader {
    /// The header of a table of these columns.
    pub(crate) fn of(columns: &Schema) -> Self {
        let first = columns_text::write(columns);
        let is_first = columns_text::parse(&first).is_ok_and(|told| told.fields() == columns.fields());
        let (version, schema) = if is_first { (FIRST_VERSION, first) } else { (VERSION, columns.to_string()) };
        Self { version, checksum: checksum(schema.as_bytes()), schema }
    }

    /// The columns.
    ///
    /// # Errors
    /// Why it does not tell them.
    pub(crate) fn columns(&self) -> Result<Schema, String> {
        match self.version {
            FIRST_VERSION => columns_text::parse(&self.schema).map_err(|error| error.to_string()),
            _ => Schema::parse(&self.schema).map_err(|error| error.to_string()),
        }
    }

    /// Whether the checksum is that of the columns.
    pub(crate) fn is_sound(&self) -> bool {
        self.checksum == checksum(self.schema.as_bytes())
    }
}

/// What stands before the rows of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FrameHeader {
    /// The bytes of the rows.
    pub(crate) length: u32,
    /// The number of rows; 0 in the frame that ends the file.
    pub(crate) rows: u32,
    /// CRC-32C of the rows' bytes; in the frame that ends the file, how many frames there were before (modulo 2³²).
    pub(crate) checksum: u32,
}

impl FrameHeader {
    /// The frame that ends a file.
    fn end(frames: u64) -> Self {
        Self { length: 0, rows: 0, checksum: frames as u32 }
    }

    fn is_end(&self) -> bool {
        self.length == 0 && self.rows == 0
    }

    /// CRC-32C of length, rows and checksum: a layout puts it into the frame header too.
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

    /// Reads what [`FrameHeader::to_bytes`] wrote, if it is sound.
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

/// How one encoding writes headers and rows; everything else is the same for all.
pub(crate) trait Layout: Sync {
    /// The encoding's name.
    fn name(&self) -> &'static str;

    /// Its file extensions, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// One line on what it is.
    fn about(&self) -> &'static str;

    /// The first bytes of every file that has a header.
    fn magic(&self) -> &'static [u8];

    /// The header of a file: the same bytes, whatever the version of this program.
    fn file_header(&self, header: &FileHeader) -> Vec<u8>;

    /// Reads the header of a file that begins with the magic, and its length. What it leaves unchecked comes out when
    /// the header is compared with that which [`Layout::file_header`] makes of the same columns.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read_file_header(&self, bytes: &[u8]) -> Result<(FileHeader, usize), String>;

    /// The columns of a file that does not begin with the magic, if its first bytes tell them nevertheless.
    fn told_schema(&self, _prefix: &[u8]) -> Option<Schema> {
        None
    }

    /// Whether first bytes are those of a file that another program wrote anew: it has frames, but not where they were.
    fn is_written_anew(&self, _prefix: &[u8]) -> bool {
        false
    }

    /// The length of a frame header in bytes.
    fn frame_header_bytes(&self) -> usize;

    /// Appends a frame header of exactly that length.
    fn frame_header(&self, header: &FrameHeader, out: &mut Vec<u8>);

    /// Reads a frame header of exactly that length; `None` if it is not sound.
    fn read_frame_header(&self, bytes: &[u8]) -> Option<FrameHeader>;

    /// An encoder of the rows of frames.
    fn encoder(&self, schema: &Schema) -> Box<dyn FrameEncoder>;

    /// A decoder of the rows of frames, for one worker that wants these columns.
    fn decoder(&self, schema: &Schema, projection: &[usize]) -> Box<dyn FrameDecoder>;

    /// In bytes without frames that start with a row: where the first row ends that ends at `least` or later, and how
    /// many rows there are up to there. `None` if the bytes do not reach so far.
    ///
    /// # Errors
    /// If the bytes are no rows.
    fn row_end(&self, schema: &Schema, bytes: &[u8], least: usize) -> Result<Option<(usize, u64)>, Malformed>;
}

/// Encodes rows of one frame after the other.
pub(crate) trait FrameEncoder: Send {
    /// Adds some rows of a batch to the frame, which is the last thing in the buffer, up to the one with which the buffer
    /// and [what is pending](Self::pending) have `most` bytes. Before the batch, `rows_before` rows of the part stand.
    /// Returns how many rows were added, one at least.
    ///
    /// # Errors
    /// If the batch is not of the table's columns, or the encoding cannot hold a row.
    fn push(
        &mut self,
        batch: &Batch<'_>,
        rows: Range<usize>,
        rows_before: u64,
        most: usize,
        out: &mut RowBuffer,
    ) -> Result<usize>;

    /// About how many bytes of the frame are not in the buffer yet.
    fn pending(&self) -> usize;

    /// Ends the frame and appends what is still missing of it. Called only if the frame has at most [`LARGEST_FRAME`]
    /// bytes by [`FrameEncoder::pending`].
    fn finish(&mut self, out: &mut RowBuffer);
}

/// Decodes the rows of frames for one worker. Codes keep their meaning from frame to frame.
pub(crate) trait FrameDecoder: Send {
    /// Delivers all rows of a frame, or of some bytes without frames; returns how many there were.
    fn decode(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<u64, DecodeError>;
}

/// Where in some bytes a row cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// How many bytes lie before it.
    pub(crate) at: usize,
    /// How many rows lie before it.
    pub(crate) rows: u64,
    /// The position of the column at fault, if one is known to be.
    pub(crate) column: Option<usize>,
    /// Whether the bytes are sound, and only not rows as they are supported.
    pub(crate) is_sound: bool,
    /// What is wrong.
    pub(crate) reason: String,
}

impl Malformed {
    /// Bytes that are not sound.
    pub(crate) fn corrupt(at: usize, rows: u64, reason: String) -> Self {
        Self { at, rows, column: None, is_sound: false, reason }
    }

    /// The error that it is at this place of a file.
    pub(crate) fn error(self, path: &Path, place: String, schema: &Schema) -> Error {
        if !self.is_sound {
            return Error::corrupt(path, place, self.reason);
        }
        let column = self.column.and_then(|column| schema.fields().get(column));
        let column = column.map_or_else(String::new, |field| format!(", column '{}'", field.name));
        Error::unsupported(path, format!("{place}{column}: {}", self.reason))
    }
}

/// Why a frame was not delivered.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// It is malformed.
    Malformed(Malformed),
    /// The sink said so.
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
