//! BGZF, as `bgzip` writes it: gzip members of at most 64 KiB each, which say in their headers how long they are.
//!
//! So its blocks are found by hopping from one to the next, as the chunks of our own files are, and decompressed side by
//! side. They end anywhere in the text. A file that is not BGZF from its first byte to its last is left to those who read any
//! gzip file.

use crate::file_format::{ChunkPlace, ReadAt};
use crate::{Compression, DecompressError};
use std::io;

/// The bytes of a header whose only extra field is the length of the block.
const HEAD: usize = 18;

/// What a member ends with: its length before compression.
const LENGTH: usize = 4;

/// The longest block before compression.
const LONGEST: u32 = 64 << 10;

/// Blocks are read together up to this length before compression, and twice as many bytes of the file.
const TOGETHER: u32 = 1 << 20;

/// The bytes of the block that begins with this header; `None` if it is no such header.
fn stored_bytes(head: &[u8]) -> Option<usize> {
    let [0x1f, 0x8b, 8, 4, _, _, _, _, _, _, 6, 0, b'B', b'C', 2, 0, low, high, ..] = *head else { return None };
    Some(usize::from(u16::from_le_bytes([low, high])) + 1).filter(|bytes| *bytes > HEAD + LENGTH)
}

fn length_of(bytes: &[u8]) -> u32 {
    bytes.last_chunk().copied().map_or(0, u32::from_le_bytes)
}

/// Finds the blocks of a file of `length` bytes, several of them as one chunk; `None` if it is no BGZF, or does not end with
/// the empty block that all of them have.
///
/// # Errors
/// What `read_at` returns.
pub(crate) fn chunks(length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
    let mut places: Vec<ChunkPlace> = Vec::new();
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
        // The length at the end of this block, and the header of the next one.
        head = LENGTH..LENGTH + HEAD.min(usize::try_from(length - end).unwrap_or(HEAD));
        read_at(end - LENGTH as u64, &mut buffer[..head.end])?;
        let block =
            ChunkPlace { offset, stored: stored as u32, length: length_of(&buffer[..LENGTH]), rows: None, checksum: 0 };
        if block.length > LONGEST {
            return Ok(None);
        }
        let fits = |place: &&mut ChunkPlace| {
            place.length + block.length <= TOGETHER && place.stored + block.stored <= 2 * TOGETHER
        };
        match places.last_mut().filter(fits) {
            Some(place) => (place.stored, place.length) = (place.stored + block.stored, place.length + block.length),
            None => places.push(block),
        }
        (offset, last) = (end, Some(block.length));
    }
    Ok((last == Some(0)).then_some(places))
}

/// Decompresses blocks that stand one after the other into exactly `output`.
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
