//! Blocks: bytes as they are stored, each with its checksum and its own decision whether compression pays.

use crate::place::Place;
use brc_compress::{Compression, Compressor};
use brc_core::{Error, ReadAt, Result};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

/// No compression may shrink a block further than this: so a forged length never makes a reader allocate much more than
/// the file is large.
pub(crate) const MOST_SHRINKING: u64 = 256;

/// Where some bytes lie in the file, and how to trust them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where it starts in the file. Not stored: blocks lie one behind the other.
    pub(crate) offset: u64,
    /// Bytes in the file.
    pub(crate) stored: u32,
    /// Bytes when decompressed; it is compressed if that is more.
    pub(crate) length: u32,
    /// CRC-32C of the stored bytes.
    pub(crate) checksum: u32,
}

impl Block {
    /// Where its bytes lie in the file.
    pub(crate) fn place(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.stored.into())
    }
}

/// CRC-32C.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// Makes a block of what `bytes` has from `start` on: compresses it in place if that saves something.
pub(crate) fn seal(compression: Compressor, bytes: &mut Vec<u8>, start: usize, scratch: &mut Vec<u8>) -> Result<Block> {
    let too_large = |_| Error::too_large("buren", "a block of it would be larger than 4 GiB: values must be shorter");
    let length = u32::try_from(bytes.len() - start).map_err(too_large)?;
    if compression.compression.id() != 0 {
        scratch.clear();
        compression.compress(&bytes[start..], scratch);
        if scratch.len() < length as usize && scratch.len() as u64 * MOST_SHRINKING >= u64::from(length) {
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

/// What reading blocks cost so far.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) bytes: u64,
    pub(crate) read_time: Duration,
    pub(crate) decompress_time: Duration,
    pub(crate) decode_time: Duration,
}

/// Holds one block at a time, in buffers that are used again for the next.
#[derive(Default)]
pub(crate) struct BlockBuffer {
    stored: Vec<u8>,
    unpacked: Vec<u8>,
    length: usize,
    compressed: bool,
}

impl BlockBuffer {
    /// Reads, checks and decompresses a block. The footer's lengths were checked against the file.
    pub(crate) fn load(&mut self, source: Source<'_>, block: &Block, place: Place<'_>, cost: &mut Cost) -> Result<()> {
        let corrupt = |reason: String| Error::corrupt(source.path, place.to_string(), reason);
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
    fn only_what_gets_smaller_is_compressed() {
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
                buffer.load(source, &block, Place::Unused { index: 0 }, &mut cost).unwrap();
                assert_eq!(buffer.bytes(), content);
                assert_eq!(cost.bytes, u64::from(block.stored));
            }
        }
    }
}
