//! BGZF, as written by `bgzip`: gzip members of at most 64 KiB each, with their lengths in their headers.
//!
//! Blocks are therefore found by skipping from header to header, like the chunks of files that `brc` writes, and are
//! decompressed in parallel. A block may end anywhere in the text. Files that are only partly BGZF are read as any gzip
//! file is.

use crate::file_format::{ChunkPlace, ReadAt};
use crate::{Compression, DecompressError};
use std::io;

/// The length of a header whose only extra field is the block length.
const HEAD: usize = 18;

/// The length of a member's last field, its uncompressed length.
const LENGTH: usize = 4;

/// The maximum uncompressed length of a block.
const LONGEST: u32 = 64 << 10;

/// Consecutive blocks are read together up to this uncompressed length, and twice as many bytes of the file.
const TOGETHER: u32 = 1 << 20;

/// The length of the block with this header; `None` for any other header.
fn stored_bytes(head: &[u8]) -> Option<usize> {
    let [0x1f, 0x8b, 8, 4, _, _, _, _, _, _, 6, 0, b'B', b'C', 2, 0, low, high, ..] = *head else { return None };
    Some(usize::from(u16::from_le_bytes([low, high])) + 1).filter(|bytes| *bytes > HEAD + LENGTH)
}

fn length_of(bytes: &[u8]) -> u32 {
    bytes.last_chunk().copied().map_or(0, u32::from_le_bytes)
}

/// Finds the blocks of a file of `length` bytes, several consecutive ones per chunk; `None` if it is not BGZF, or lacks
/// the empty block that ends every BGZF file.
///
/// # Errors
/// The errors of `read_at`.
pub(crate) fn chunks(length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
    let mut found: Vec<ChunkPlace> = Vec::new();
    let mut buffer = [0; LENGTH + HEAD];
    let mut head = LENGTH..buffer.len();
    let (mut offset, mut last) = (0, None);
    if length < HEAD as u64 {
        return Ok(None);
    }
    read_at(0, &mut buffer[head.clone()])?;
    while offset < length {
        let Some(stored) = stored_bytes(&buffer[head]).filter(|stored| *stored as u64 <= length - offset) else {
            return Ok(None);
        };
        let end = offset + stored as u64;
        // The uncompressed length at the end of this block, and the next header.
        head = LENGTH..LENGTH + HEAD.min(usize::try_from(length - end).unwrap_or(HEAD));
        read_at(end - LENGTH as u64, &mut buffer[..head.end])?;
        let block =
            ChunkPlace { offset, stored: stored as u32, length: length_of(&buffer[..LENGTH]), rows: None, checksum: 0 };
        if block.length > LONGEST {
            return Ok(None);
        }
        let fits = |chunk: &&mut ChunkPlace| {
            chunk.length + block.length <= TOGETHER && chunk.stored + block.stored <= 2 * TOGETHER
        };
        match found.last_mut().filter(fits) {
            Some(chunk) => (chunk.stored, chunk.length) = (chunk.stored + block.stored, chunk.length + block.length),
            None => found.push(block),
        }
        (offset, last) = (end, Some(block.length));
    }
    Ok((last == Some(0)).then_some(found))
}

/// Decompresses consecutive blocks into exactly `output`.
pub(crate) fn decompress(
    gzip: &dyn Compression,
    mut stored: &[u8],
    mut output: &mut [u8],
) -> Result<(), DecompressError> {
    let malformed =
        || DecompressError::Malformed { compression: gzip.name(), reason: "a block has changed".to_owned() };
    while !stored.is_empty() {
        let (block, rest) =
            stored_bytes(stored).and_then(|bytes| stored.split_at_checked(bytes)).ok_or_else(malformed)?;
        let (content, left) = output.split_at_mut_checked(length_of(block) as usize).ok_or_else(malformed)?;
        gzip.decompress(block, content)?;
        (stored, output) = (rest, left);
    }
    if output.is_empty() { Ok(()) } else { Err(malformed()) }
}
