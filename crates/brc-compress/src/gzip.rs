//! Gzip, using `flate2` and `zlib-rs`: a block is one member. In files each chunk is a member with its mark in the
//! extra field of the header. [BGZF](bgzf) blocks are read in parallel as well.

use crate::bgzf;
use crate::deflate::{self, End, Inflated};
use crate::file_format::ReadAt;
use crate::frames::{FrameReader, Frames};
use crate::marks::{MarkEncoding, Marks, Tally};
use crate::source::{Source, damaged, pass_trailing};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat, Levels};
use flate2::{Compress, Crc, Decompress, FlushCompress};
use std::io::{self, Read};

pub(crate) struct Gzip;

const NAME: &str = "gzip";

const WINDOW_BITS: u8 = 15;

/// The magic number and the only method.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// The offset of the operating system in a header, which is always written as Unix, so that output does not depend on
/// the system.
const SYSTEM_OFFSET: usize = 9;
const SYSTEM: u8 = 3;

/// A header with an extra field, without time and system, and the start of the field: its length, and the subfield `Br`
/// of 20 bytes.
static MARKS: Marks = Marks {
    start: &[],
    before: &[0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 28, 0, b'B', b'r', 24, 0],
    spelling: MarkEncoding::Bytes,
    padded: true,
};

/// The rest of an empty member after its header: an empty last block, checksum and length.
const EMPTY: [u8; 10] = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

impl Compression for Gzip {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        3
    }

    fn about(&self) -> &'static str {
        "gzip: readable everywhere"
    }

    fn levels(&self) -> Option<Levels> {
        Some(deflate::LEVELS)
    }

    fn compress(&self, level: i32, input: &[u8], output: &mut Vec<u8>) {
        let start = output.len();
        let compress = Compress::new_gzip(deflate::level(level), WINDOW_BITS);
        deflate::deflate(compress, input, FlushCompress::Finish, output);
        output[start + SYSTEM_OFFSET] = SYSTEM;
    }

    /// Accepts several members: other writers make such blocks.
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let (mut rest, mut found) = (input, 0);
        loop {
            let member = Decompress::new_gzip(WINDOW_BITS);
            let Inflated { read, written, end } = deflate::inflate_stream(NAME, member, rest, &mut output[found..])?;
            (rest, found) = (&rest[read..], found + written);
            match end {
                End::Input => {
                    return Err(DecompressError::Malformed { compression: NAME, reason: "it is cut off".to_owned() });
                }
                End::Stream if rest.starts_with(&MAGIC) => {}
                End::Stream if !rest.is_empty() => return Err(deflate::after_end_error(NAME)),
                End::Stream if found == output.len() => return Ok(()),
                End::Stream => return Err(DecompressError::Length { expected: output.len(), found }),
            }
        }
    }

    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        Some(&Self)
    }
}

impl FileFormat for Gzip {
    fn extensions(&self) -> &'static [&'static str] {
        &["gz"]
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(&MAGIC)
    }

    fn chunk(&self, level: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary {
        MARKS.write_chunk(input, rows, 0, output, |output| {
            let compress = Compress::new(deflate::level(level), false);
            deflate::deflate(compress, input, FlushCompress::Finish, output);
            let mut checksum = Crc::new();
            checksum.update(input);
            output.extend_from_slice(&checksum.sum().to_le_bytes());
            output.extend_from_slice(&checksum.amount().to_le_bytes());
        })
    }

    fn finish(&self, chunks: &[ChunkSummary]) -> Vec<u8> {
        MARKS.end(chunks, &EMPTY)
    }

    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        let marked = MARKS.find(length, read_at)?;
        if marked.is_some() { Ok(marked) } else { bgzf::chunks(length, read_at) }
    }

    fn decompress_chunk(&self, location: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        if location.rows.is_none() {
            return bgzf::decompress(self, stored, output);
        }
        MARKS.after_mark(NAME, location, stored)?;
        self.decompress(stored, output)
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(FrameReader::new(Members {
            source: Source::new(stored),
            decompress: Decompress::new_gzip(WINDOW_BITS),
            started: false,
        }))
    }
}

struct Members {
    source: Source,
    decompress: Decompress,
    /// Whether a member has been read.
    started: bool,
}

impl Frames for Members {
    fn source(&mut self) -> &mut Source {
        &mut self.source
    }

    fn begin(&mut self, tally: &mut Tally) -> io::Result<bool> {
        // Tapes and disks pad members to whole blocks.
        let zeros = if self.started { self.source.skip_zeros()? } else { 0 };
        let head = self.source.peek(MARKS.head_bytes())?;
        if head.is_empty() {
            return Ok(false);
        }
        if !MAGIC.starts_with(&head[..head.len().min(MAGIC.len())]) {
            if !self.started {
                return Err(damaged("no gzip member starts here"));
            }
            pass_trailing(&mut self.source, NAME, &MAGIC, zeros)?;
            return Ok(false);
        }
        if let Some(mark) = MARKS.read(head)? {
            tally.mark(mark)?;
        }
        self.decompress = Decompress::new_gzip(WINDOW_BITS);
        self.started = true;
        Ok(true)
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        deflate::inflate_some(&mut self.decompress, &mut self.source, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files must not depend on the system that writes them.
    #[test]
    fn blocks_do_not_depend_on_the_system() {
        let mut block = b"before".to_vec();
        Gzip.compress(6, b"brc brc brc brc brc\n", &mut block);
        let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let content = [75, 42, 74, 86, 72, 66, 197, 92, 0, 64, 253, 179, 130, 20, 0, 0, 0];
        assert_eq!(&block[..6], b"before");
        assert_eq!(block[6..], [&header[..], &content].concat());
    }
}
