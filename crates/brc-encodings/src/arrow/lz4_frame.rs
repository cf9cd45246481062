//! Decompresses LZ4 frames directly into the destination.
//!
//! The library's frame decoder allocates for every frame, and each buffer of an arrow file is a frame: touching that
//! memory took four times as long as decompressing. So plain frames are parsed here, and only frames with their own
//! checksums or dictionaries are passed to the library.

use crate::columnar::Fault;
use lz4_flex::block::{decompress_into, decompress_into_with_dict};
use std::io::Read;

const MAGIC: [u8; 4] = 0x184D_2204_u32.to_le_bytes();

/// Flag bits: the version of the format, and the optional fields of a frame.
const VERSION_1: u8 = 0b0100_0000;
const INDEPENDENT: u8 = 1 << 5;
const CONTENT_SIZE: u8 = 1 << 3;

/// The bit of a block's size that marks the block as uncompressed.
const RAW: u32 = 1 << 31;

/// The maximum distance of a back-reference, in bytes.
const WINDOW: usize = 64 << 10;

/// Decompresses frames to exactly the length of `out`.
pub(super) fn decompress(frames: &[u8], out: &mut [u8]) -> Result<(), Fault> {
    match plain_blocks(frames) {
        Some((flags, blocks)) => decompress_blocks(blocks, flags & INDEPENDENT != 0, out),
        None => {
            let mut frames = lz4_flex::frame::FrameDecoder::new(frames);
            match frames.read_exact(out).and_then(|()| frames.read(&mut [0])) {
                Ok(0) => Ok(()),
                Ok(_) => Err(Fault::corrupt("a buffer is longer than it says")),
                Err(error) => Err(malformed(error.to_string())),
            }
        }
    }
}

/// The flags and the blocks of a frame without optional parts.
fn plain_blocks(frame: &[u8]) -> Option<(u8, &[u8])> {
    let [flags, _, rest @ ..] = frame.strip_prefix(&MAGIC)? else { return None };
    if flags & !(INDEPENDENT | CONTENT_SIZE) != VERSION_1 {
        return None;
    }
    // The last byte of the header is its checksum.
    let more = if flags & CONTENT_SIZE == 0 { 1 } else { 9 };
    Some((*flags, rest.get(more..)?))
}

fn decompress_blocks(mut blocks: &[u8], independent: bool, out: &mut [u8]) -> Result<(), Fault> {
    let cut_off = || malformed("it ends too early");
    let mut done = 0;
    loop {
        let (size, rest) = blocks.split_first_chunk().ok_or_else(cut_off)?;
        let size = u32::from_le_bytes(*size);
        if size == 0 {
            let is_all = rest.is_empty() && done == out.len();
            return if is_all { Ok(()) } else { Err(malformed("it has another length than it says")) };
        }
        let (block, rest) = rest.split_at_checked((size & !RAW) as usize).ok_or_else(cut_off)?;
        blocks = rest;
        let (before, after) = out.split_at_mut(done);
        done += if size & RAW != 0 {
            after.get_mut(..block.len()).ok_or_else(cut_off)?.copy_from_slice(block);
            block.len()
        } else if independent {
            decompress_into(block, after).map_err(|error| malformed(error.to_string()))?
        } else {
            let window = &before[before.len().saturating_sub(WINDOW)..];
            decompress_into_with_dict(block, after, window).map_err(|error| malformed(error.to_string()))?
        };
    }
}

fn malformed(reason: impl Into<String>) -> Fault {
    Fault::corrupt(format!("malformed lz4 data: {}", reason.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
    use std::io::Write;

    #[test]
    fn frames_of_all_kinds() {
        let content: Vec<u8> = (0..300_000u64).map(|index| ((index * index) >> 11) as u8 & 63).collect();
        for mode in [BlockMode::Independent, BlockMode::Linked] {
            for checksums in [false, true] {
                for size in [None, Some(content.len() as u64)] {
                    let info = FrameInfo::new().block_mode(mode).block_size(BlockSize::Max64KB).content_size(size);
                    let info = info.block_checksums(checksums).content_checksum(checksums);
                    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
                    encoder.write_all(&content).unwrap();
                    let frame = encoder.finish().unwrap();
                    assert_eq!(plain_blocks(&frame).is_some(), !checksums);
                    let mut out = vec![0; content.len()];
                    decompress(&frame, &mut out).unwrap();
                    assert!(out == content);
                    assert!(decompress(&frame, &mut vec![0; content.len() + 1]).is_err());
                    assert!(decompress(&frame, &mut vec![0; content.len() - 1]).is_err());
                    for end in (0..frame.len()).step_by(997) {
                        assert!(decompress(&frame[..end], &mut out).is_err());
                    }
                }
            }
        }
    }
}
