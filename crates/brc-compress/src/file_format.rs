//! How whole compressed files look, so that the ordinary tools read what `brc` writes, and the other way round.
//!
//! A file that `brc` writes is cut into *chunks*: pieces of whole rows that are compressed by themselves, each with its
//! lengths in a place that the standard leaves to applications (a skippable frame, an extra field). So a reader finds all
//! chunks by hopping from one to the next, without decompressing anything, and workers decompress them side by side. What
//! marks the end makes a file that was cut between two chunks an error, where most formats would take it for a whole one.
//! A file that another tool wrote has no such marks and is read as a stream, unless it is cut into blocks that can be found.

use crate::DecompressError;
use std::io::{self, Read};

/// The largest chunk, in bytes before compression: no forged length makes a reader allocate more.
pub const LARGEST_CHUNK: usize = 64 << 20;

/// The file format of a compression.
pub trait FileFormat: Sync {
    /// The extensions of its files, without the dot, the usual one first.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether a file that starts with these bytes is one of its files. Some formats have no magic number worth the name:
    /// those look further than the first bytes, and should be given 16 KiB of them, or all there are.
    fn sniff(&self, prefix: &[u8]) -> bool;

    /// What stands before the first chunk.
    fn start(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Appends a chunk of `rows` rows to `output`, with whatever lets a reader hop over it. Chunks may be made in any
    /// order and by several threads; a file has them one after the other.
    ///
    /// # Panics
    /// If `input` is longer than [`LARGEST_CHUNK`].
    fn chunk(&self, level: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary;

    /// What stands behind the last of these chunks, which are all there are, in their order.
    fn finish(&self, _chunks: &[ChunkSummary]) -> Vec<u8> {
        Vec::new()
    }

    /// Finds the chunks of a file of `length` bytes by hopping over them; `None` if the file is not cut into chunks, as
    /// most that another tool wrote. `read_at` fills the buffer it is given from that place of the file.
    ///
    /// # Errors
    /// What `read_at` returns; [`io::ErrorKind::InvalidData`] if marks of chunks are there but contradict each other or
    /// the file.
    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>>;

    /// Decompresses the stored bytes of a chunk into exactly `output`, and checks its checksum.
    ///
    /// # Errors
    /// If the bytes are malformed, do not come to that length, or a checksum does not match.
    fn decompress_chunk(&self, place: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError>;

    /// Reads any file of the format, whoever wrote it, from its first byte on: all members, frames or streams that stand
    /// one after the other. Reading fails with [`io::ErrorKind::InvalidData`] where the file is damaged and with
    /// [`io::ErrorKind::UnexpectedEof`] where it is cut off, never with a silent end, as far as the format can tell. A sound
    /// file that asks for what is not supported is an error of [`io::ErrorKind::Unsupported`].
    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send>;
}

/// Whether a file that has only these bytes is one that was cut within its magic number. Fewer than four bytes say too
/// little: they are whatever else they may be.
pub(crate) fn is_cut_magic(file: &[u8], magic: &[u8]) -> bool {
    file.len() >= 4 && file.len() < magic.len() && magic.starts_with(file)
}

/// Fills a buffer from a place of a file.
pub type ReadAt<'a> = dyn FnMut(u64, &mut [u8]) -> io::Result<()> + 'a;

/// What is remembered of a chunk until the file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSummary {
    /// The bytes it takes in the file, marks included.
    pub stored: u32,
    /// Its length before compression, in bytes.
    pub length: u32,
    /// Its rows.
    pub rows: u32,
    /// A checksum of its bytes before compression, as the format wants it.
    pub checksum: u32,
}

/// Where a chunk is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPlace {
    /// The place of its first byte.
    pub offset: u64,
    /// The bytes it takes in the file, marks included.
    pub stored: u32,
    /// Its length after decompression, in bytes; not above [`LARGEST_CHUNK`].
    pub length: u32,
    /// Its rows; `None` if it may begin and end within one.
    pub rows: Option<u32>,
    /// A checksum of its bytes after decompression, for formats that keep it apart from the chunk; else 0.
    pub checksum: u32,
}
