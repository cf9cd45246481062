//! Frames of the legacy LZ4 format, which `lz4 -l` writes and Linux images are made of.
//!
//! `lz4_flex` reads most of them, but neither a block that compression made longer nor one frame behind another. There is
//! not much to a frame: a magic number, and blocks that each have their length before them and hold 8 MiB, the last one
//! less. The format has neither an end nor a checksum. So a cut between two blocks is not seen, and damage only where a
//! block no longer decompresses.

use crate::source::{Source, cut, damaged};
use lz4_flex::block;
use std::io::{self, Read};

/// The first bytes of a frame.
pub(super) const MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

/// The most content of a block.
const BLOCK_BYTES: usize = 8 << 20;

/// A frame that is being read.
pub(super) struct LegacyFrame {
    stored: Vec<u8>,
    /// Room for a whole block. It is cleared only once: many small blocks must not take the time of large ones.
    content: Vec<u8>,
    /// How much of the content has been read, and how much there is.
    taken: usize,
    found: usize,
}

impl LegacyFrame {
    /// Takes the first bytes of a frame. They alone would be a frame without content; but nobody keeps such a one, and it
    /// is what is left of a longer one that was cut there.
    pub(super) fn begin(source: &mut Source) -> io::Result<Self> {
        if source.peek(MAGIC.len() + 1)?.len() <= MAGIC.len() {
            return Err(cut());
        }
        source.consume(MAGIC.len());
        Ok(Self { stored: Vec::new(), content: Vec::new(), taken: 0, found: 0 })
    }

    /// Reads content; 0 bytes of it where the frame ends.
    pub(super) fn read(&mut self, source: &mut Source, output: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.found {
            if !self.load(source)? {
                return Ok(0);
            }
        }
        let rest = &self.content[self.taken..self.found];
        let count = rest.len().min(output.len());
        output[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }

    /// Takes and decompresses the next block; false if there is none.
    fn load(&mut self, source: &mut Source) -> io::Result<bool> {
        let head = source.peek(4)?;
        let length = match *head {
            [] => return Ok(false),
            [a, b, c, d] => u32::from_le_bytes([a, b, c, d]) as usize,
            _ => return Err(cut()),
        };
        // The magic number of whatever follows is far beyond the length of any block.
        if length > block::get_maximum_output_size(BLOCK_BYTES) {
            return Ok(false);
        }
        source.consume(4);
        self.stored.resize(length, 0);
        source.read_exact(&mut self.stored)?;
        self.content.resize(BLOCK_BYTES, 0);
        (self.taken, self.found) = (0, 0);
        self.found = block::decompress_into(&self.stored, &mut self.content).map_err(damaged)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lz4, append_frame, append_raw};
    use super::*;
    use crate::FileFormat;
    use std::io::{Cursor, ErrorKind};

    fn read(file: &[u8]) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        Lz4.reader(Box::new(Cursor::new(file.to_vec()))).read_to_end(&mut content)?;
        Ok(content)
    }

    fn frame(content: &[u8]) -> Vec<u8> {
        let mut frame = MAGIC.to_vec();
        for piece in content.chunks(BLOCK_BYTES) {
            let mut block = Vec::new();
            append_raw(piece, &mut block);
            frame.extend((block.len() as u32).to_le_bytes());
            frame.extend(block);
        }
        frame
    }

    /// Some of it is longer once it is compressed.
    fn noise() -> Vec<u8> {
        let mut state = 1u64;
        let next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 56) as u8
        };
        std::iter::repeat_with(next).take(BLOCK_BYTES + 1000).collect()
    }

    #[test]
    fn blocks_of_all_lengths_are_read() {
        let noise = noise();
        for content in [&noise[..], &noise[..1], &noise[..BLOCK_BYTES], &b"Abha;1.0\n".repeat(1 << 20)] {
            assert!(read(&frame(content)).unwrap() == content, "{} bytes", content.len());
        }
    }

    #[test]
    fn small_blocks_take_little_time() {
        let mut frame = MAGIC.to_vec();
        for _ in 0..200_000 {
            let mut block = Vec::new();
            append_raw(b"x", &mut block);
            frame.extend((block.len() as u32).to_le_bytes());
            frame.extend(block);
        }
        // Clearing eight megabytes for each of them would take minutes.
        assert_eq!(read(&frame).unwrap(), vec![b'x'; 200_000]);
    }

    #[test]
    fn other_frames_may_follow() {
        let mut other = Vec::new();
        append_frame(b"two", &mut other);
        let skippable = b"\x50\x2a\x4d\x18\x02\0\0\0no";
        let file = [&frame(b"one"), &other, &frame(b"three")[..], skippable, &frame(b"four")].concat();
        assert_eq!(read(&file).unwrap(), b"onetwothreefour");
        let error = read(&[&frame(b"one")[..], b"garbage"].concat()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    }

    #[test]
    fn cuts_within_blocks_and_bad_blocks_are_errors() {
        let file = frame(b"Abha;1.0\nAbha;1.0\nAbha;1.0\nAbha;1.0\n");
        for length in 0..file.len() {
            assert_eq!(read(&file[..length]).unwrap_err().kind(), ErrorKind::UnexpectedEof, "{length}");
        }
        let error = read(b"\x02\x21\x4c\x18\x04\0\0\0\x40abc").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
        // A block of more than 8 MiB.
        let mut long = Vec::new();
        append_raw(&vec![0; BLOCK_BYTES + 1], &mut long);
        let file = [&MAGIC[..], &(long.len() as u32).to_le_bytes(), &long].concat();
        assert_eq!(read(&file).unwrap_err().kind(), ErrorKind::InvalidData);
    }
}
