//! Writes a table: workers encode its parts, and one writer assembles them.

use super::Sink;
use crate::error::Result;
use crate::logical_type::LogicalType;
use crate::schema::Schema;
use std::any::Any;
use std::ops::Range;

/// One encoded split: bytes of the output file, and metadata for the writer.
pub struct Part {
    /// The number of rows.
    pub rows: u64,
    /// The bytes, exactly as they go into the file.
    pub bytes: Vec<u8>,
    /// Positions in `bytes`, in ascending order, at which a reader can start; always between two rows. A compressor
    /// splits the part there. Empty if the encoding compresses its own blocks.
    pub cuts: Vec<Cut>,
    /// Metadata for [`BatchWriter::append`]; private to the encoding.
    pub meta: Box<dyn Any + Send>,
    /// The memory that `meta` takes in bytes, if it is large.
    pub meta_bytes: usize,
}

impl Part {
    /// Moves the memory of written bytes to `buffer`, if that is empty and has less capacity.
    pub fn recycle(mut written: Vec<u8>, buffer: &mut Vec<u8>) {
        if buffer.is_empty() && written.capacity() > buffer.capacity() {
            written.clear();
            *buffer = written;
        }
    }
}

/// A position between two rows of a [`Part`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// The number of bytes of the part before it.
    pub at: usize,
    /// The number of rows of the part before it.
    pub rows: u64,
}

/// Encodes one split at a time for one worker. It never receives summaries.
pub trait PartEncoder: Sink + Send {
    /// Starts the part with this index, counted from 0 in file order, parts without rows included. An encoding may take
    /// what it learns from the first part for all others, which then wait for it. So a worker that begins the first
    /// part must call [`finish`](PartEncoder::finish) or [`skip`](PartEncoder::skip).
    fn begin(&mut self, _part: u64) {}

    /// Drops the current part: it has no rows, or they cannot be read.
    fn skip(&mut self) {}

    /// Ends the part that consists of the batches since the last call.
    ///
    /// # Errors
    /// If the rows cannot be encoded.
    fn finish(&mut self) -> Result<Part>;

    /// Returns what is already finished of the current part as a part of its own, if it has become large, so that
    /// memory stays bounded even where a split has large rows. The file's bytes are the same as without the call.
    ///
    /// # Errors
    /// If the rows cannot be encoded.
    fn overflow(&mut self) -> Result<Option<Part>> {
        Ok(None)
    }

    /// Takes back the bytes of a written part so that the next part can reuse their memory. Reusing memory costs less
    /// than page faults on fresh memory.
    fn recycle(&mut self, _bytes: Vec<u8>) {}
}

/// Assembles the parts of a file. The caller writes the bytes: first those of [`BatchWriter::start`], then those of the
/// parts in the order in which they were appended, then those of [`BatchWriter::finish`].
pub trait BatchWriter: Send {
    /// Creates an encoder for one worker.
    fn encoder(&self) -> Box<dyn PartEncoder>;

    /// The file offset of the first byte; not 0 if the writer appends to an existing file.
    fn begins_at(&self) -> u64 {
        0
    }

    /// The first bytes of the file.
    fn start(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Registers the next part; the caller writes its bytes.
    ///
    /// # Errors
    /// If the file would exceed a limit of the encoding.
    fn append(&mut self, _part: &mut Part) -> Result<()> {
        Ok(())
    }

    /// The writer as one that can replace columns; `None` if parts are stored row by row.
    fn columnar(&mut self) -> Option<&mut dyn ColumnarWriter> {
        None
    }

    /// A one-line note for the user about the finished file, available once all parts are appended.
    fn remark(&self) -> Option<String> {
        None
    }

    /// The last bytes of the file.
    ///
    /// # Errors
    /// If the file would exceed a limit of the encoding.
    fn finish(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// A [`BatchWriter`] whose parts store each column separately. If inferred types widen while a table is written, only
/// the columns with new types in the parts with old types are replaced; the file becomes identical to one written with
/// the wider types from the start.
pub trait ColumnarWriter: Send {
    /// Creates an encoder for these columns of a schema that has the writer's columns in other types.
    ///
    /// # Errors
    /// [`Error::Usage`](crate::Error::Usage) if the encoding does not support the types.
    fn encoder_of(&self, schema: &Schema, columns: &[usize]) -> Result<Box<dyn PartEncoder>>;

    /// Whether the stored form of a column of that type depends on earlier parts. If so, replacing it in one part
    /// requires replacing it in all.
    fn spans_parts(&self, _logical_type: LogicalType) -> bool {
        false
    }

    /// The column whose values determine the stored order of rows, if there is one. It must always be encoded again
    /// together with the replaced columns, and must not itself have a new type.
    fn orders_rows(&self) -> Option<usize> {
        None
    }

    /// Announces that parts encoded from now on [replace](ColumnarWriter::replace) existing ones.
    fn begin_replacing(&mut self) {}

    /// Takes these columns of the `part`-th appended part (from 0) from `made` instead. The caller writes the bytes of
    /// `made` after all others.
    ///
    /// # Errors
    /// If the number of rows differs, or the file would exceed a limit of the encoding.
    fn replace(&mut self, part: u64, columns: &[usize], made: &mut Part) -> Result<()>;

    /// Sets the final schema, before [`BatchWriter::finish`]. Returns the ranges of the bytes written so far that make
    /// up the file, in file order; the caller drops all others.
    ///
    /// # Errors
    /// If a column whose type widened was not replaced in all parts.
    fn rearrange(&mut self, schema: &Schema) -> Result<Vec<Range<u64>>>;
}
