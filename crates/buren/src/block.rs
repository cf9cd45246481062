//! Blocks: units of storage, each with its own checksum and compressed only if that makes it smaller.

use crate::location::Location;
use brc_compress::{Compression, Compressor};
use brc_core::{Error, ReadAt, Result};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// The maximum compression ratio of a block. It limits how much memory a forged length can make a reader allocate,
/// relative to the size of the file.
pub(crate) const MAX_COMPRESSION_RATIO: u64 = 256;

/// The position, sizes and checksum of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where it starts in the file, in bytes. Not stored: blocks are contiguous.
    pub(crate) offset: u64,
    /// The stored size in bytes.
    pub(crate) stored: u32,
    /// The decompressed size in bytes; the block is compressed if this is larger than `stored`.
    pub(crate) length: u32,
    /// CRC-32C of the stored bytes.
    pub(crate) checksum: u32,
}

impl Block {
    /// Its range of bytes in the file.
    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.stored.into())
    }
}

/// CRC-32C.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// Makes a block of the bytes from `start` on, compressing them in place if that makes them smaller.
pub(crate) fn seal(compression: Compressor, bytes: &mut Vec<u8>, start: usize, scratch: &mut Vec<u8>) -> Result<Block> {
    let too_large = |_| Error::too_large("buren", "a block of it would be larger than 4 GiB: values must be shorter");
    let length = u32::try_from(bytes.len() - start).map_err(too_large)?;
    if compression.compression.id() != 0 {
        scratch.clear();
        compression.compress(&bytes[start..], scratch);
        if scratch.len() < length as usize && scratch.len() as u64 * MAX_COMPRESSION_RATIO >= u64::from(length) {
            bytes.truncate(start);
            bytes.extend_from_slice(scratch);
        }
    }
    let stored = &bytes[start..];
    Ok(Block { offset: 0, stored: stored.len() as u32, length, checksum: checksum(stored) })
}

/// The file that blocks are read from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) file: &'a dyn ReadAt,
    pub(crate) path: &'a Path,
    pub(crate) compression: &'static dyn Compression,
}

/// The accumulated cost of reading blocks.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) bytes: u64,
    pub(crate) read_time: Duration,
    pub(crate) decompress_time: Duration,
    pub(crate) decode_time: Duration,
}

/// Holds one block at a time, in buffers that are reused for the next.
#[derive(Default)]
pub(crate) struct BlockBuffer {
    stored: Vec<u8>,
    unpacked: Vec<u8>,
    length: usize,
    compressed: bool,
}

impl BlockBuffer {
    /// Reads, checks and decompresses a block. The lengths in the footer have already been checked against the file
    /// size.
    pub(crate) fn load(
        &mut self,
        source: Source<'_>,
        block: &Block,
        location: Location<'_>,
        cost: &mut Cost,
    ) -> Result<()> {
        let corrupt = |reason: String| Error::corrupt(source.path, location.to_string(), reason);
        let started = Instant::now();
        let stored = at_least(&mut self.stored, block.stored as usize);
        match source.file.read_exact_at(stored, block.offset) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                return Err(corrupt("the file has become shorter".to_owned()));
            }
            result => result.map_err(Error::io(source.path, "read"))?,
        }
        let read = Instant::now();
        if checksum(stored) != block.checksum {
            return Err(corrupt("the checksum does not match".to_owned()));
        }
        let checked = Instant::now();
        self.length = block.length as usize;
        self.compressed = block.length > block.stored;
        if self.compressed {
            let unpacked = at_least(&mut self.unpacked, self.length);
            source.compression.decompress(stored, unpacked).map_err(|error| corrupt(error.to_string()))?;
            cost.decompress_time += checked.elapsed();
        }
        cost.bytes += u64::from(block.stored);
        cost.read_time += read - started;
        cost.decode_time += checked - read;
        Ok(())
    }

    /// The block's bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.compressed { &self.unpacked[..self.length] } else { &self.stored[..self.length] }
    }
}

/// The first `length` bytes of a buffer that grows when needed and never shrinks.
fn at_least(buffer: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
    &mut buffer[..length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_checksum_is_crc_32c() {
        assert_eq!(checksum(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn only_compressible_blocks_are_compressed() {
        let repetitive = b"Hamburg".repeat(30);
        let random: Vec<u8> = (0..200u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for compression in brc_compress::COMPRESSIONS {
            for (content, compressible) in [(repetitive.as_slice(), true), (&random, false), (b"", false)] {
                let mut bytes = b"before".to_vec();
                bytes.extend_from_slice(content);
                let mut block = seal(Compressor::of(*compression), &mut bytes, 6, &mut Vec::new()).unwrap();
                block.offset = 6;
                assert_eq!(block.length as usize, content.len());
                assert_eq!(
                    block.stored < block.length,
                    compressible && compression.id() != 0,
                    "{}",
                    compression.name()
                );
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(&bytes).unwrap();
                let source = Source { file: &file, path: Path::new("t"), compression: *compression };
                let (mut buffer, mut cost) = (BlockBuffer::default(), Cost::default());
                buffer.load(source, &block, Location::Unused { index: 0 }, &mut cost).unwrap();
                assert_eq!(buffer.bytes(), content);
                assert_eq!(cost.bytes, u64::from(block.stored));
            }
        }
    }
}
