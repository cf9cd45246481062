//! The formats of whole compressed files, compatible with the usual tools in both directions.
//!
//! A file that `brc` writes consists of *chunks* of whole rows that are compressed independently, each with its lengths
//! in a field that the standard reserves for applications (a skippable frame, an extra field). A reader finds all
//! chunks by skipping from one to the next without decompressing, and workers decompress them in parallel. Because the
//! end is marked too, truncation between two chunks is an error, where most formats would accept the rest as a complete
//! file. Files of other tools have no such marks and are read as a stream, unless their blocks can be found as well.

use crate::DecompressError;
use std::io::{self, Read};

/// The maximum uncompressed length of a chunk, so that a forged length cannot cause a larger allocation.
pub const LARGEST_CHUNK: usize = 64 << 20;

/// The file format of a compression.
pub trait FileFormat: Sync {
    /// The extensions of its files, without the dot; the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether a file that starts with these bytes has this format. Formats without a reliable magic number inspect
    /// more than the first bytes: `prefix` should have 16 KiB, or the whole file if it is shorter.
    fn sniff(&self, prefix: &[u8]) -> bool;

    /// The bytes before the first chunk.
    fn start(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Appends a chunk of `rows` rows to `output`, with its mark. Chunks can be made in any order and by several
    /// threads; a file is their concatenation.
    ///
    /// # Panics
    /// If `input` is longer than [`LARGEST_CHUNK`].
    fn chunk(&self, level: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary;

    /// The bytes after the last chunk; takes all chunks of the file in order.
    fn finish(&self, _chunks: &[ChunkSummary]) -> Vec<u8> {
        Vec::new()
    }

    /// Finds the chunks of a file of `length` bytes by skipping from one to the next; `None` if it has no marks, as
    /// most files of other tools. `read_at` fills its buffer from the given offset of the file.
    ///
    /// # Errors
    /// The errors of `read_at`; [`io::ErrorKind::InvalidData`] if there are marks that contradict each other or the
    /// file.
    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>>;

    /// Decompresses the stored bytes of a chunk into exactly `output` and verifies its checksum.
    ///
    /// # Errors
    /// If the bytes are malformed, have a different decompressed length, or a checksum does not match.
    fn decompress_chunk(&self, location: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError>;

    /// Reads any file of the format from its first byte on, including all consecutive members, frames or streams.
    /// Reading fails with [`io::ErrorKind::InvalidData`] if the file is damaged, and with
    /// [`io::ErrorKind::UnexpectedEof`] if it is truncated, as far as the format can detect that. A valid file that
    /// uses an unsupported feature is an error of [`io::ErrorKind::Unsupported`].
    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send>;
}

/// Whether a file with only these bytes was truncated within its magic number. Fewer than four bytes are not enough to
/// recognise a format.
pub(crate) fn is_truncated_magic(file: &[u8], magic: &[u8]) -> bool {
    file.len() >= 4 && file.len() < magic.len() && magic.starts_with(file)
}

/// Fills a buffer from an offset of a file.
pub type ReadAt<'a> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'a;

/// The part of a chunk's description that is kept until the file is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSummary {
    /// The number of bytes in the file, including the mark.
    pub stored: u32,
    /// The uncompressed length in bytes.
    pub length: u32,
    /// The number of rows.
    pub rows: u32,
    /// The checksum of the uncompressed bytes, if the format needs it.
    pub checksum: u32,
}

/// The location of a chunk in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    /// The offset of its first byte.
    pub offset: u64,
    /// The number of bytes in the file, including the mark.
    pub stored: u32,
    /// The decompressed length in bytes, at most [`LARGEST_CHUNK`].
    pub length: u32,
    /// The number of rows; `None` if the chunk may start and end within a row.
    pub rows: Option<u32>,
    /// The checksum of the decompressed bytes, for formats that store it apart from the chunk; otherwise 0.
    pub checksum: u32,
}
