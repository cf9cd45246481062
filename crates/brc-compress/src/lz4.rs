//! LZ4, using the safe variant of `lz4_flex`: a block is a raw block. In files each chunk is a skippable frame with its
//! mark and a frame of independent blocks.

use crate::file_format::ReadAt;
use crate::frames::{FrameReader, Frames, after_skippable, skip_frames};
use crate::marks::{MarkEncoding, Marks, Tally};
use crate::source::{Source, cut, damaged, unsupported};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat};
use lz4_flex::block;
use lz4_flex::frame::{self, FrameDecoder};
use std::io::{self, Read};
use std::mem;
use twox_hash::XxHash32;

pub(crate) struct Lz4;

const NAME: &str = "lz4";

const MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// The magic number of `lz4 -l` frames, which have neither an end mark nor a checksum: damage could not be detected.
const LEGACY_MAGIC: [u8; 4] = [0x02, 0x21, 0x4c, 0x18];

/// A skippable frame of 24 bytes.
static MARKS: Marks =
    Marks { start: &[], before: &[0x5c, 0x2a, 0x4d, 0x18, 24, 0, 0, 0], spelling: MarkEncoding::Bytes, padded: false };

impl Compression for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        2
    }

    fn about(&self) -> &'static str {
        "LZ4: the fastest to decompress"
    }

    fn compress(&self, _: i32, input: &[u8], output: &mut Vec<u8>) {
        append_raw(input, output);
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let found = block::decompress_into(input, output).map_err(|error| malformed(error.to_string()))?;
        if found == output.len() { Ok(()) } else { Err(DecompressError::Length { expected: output.len(), found }) }
    }

    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        Some(&Self)
    }
}

impl FileFormat for Lz4 {
    fn extensions(&self) -> &'static [&'static str] {
        &["lz4"]
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        let is_frame = |bytes: &[u8]| bytes.starts_with(&MAGIC) || bytes.starts_with(&LEGACY_MAGIC);
        MARKS.sniff(prefix) || after_skippable(prefix).is_some_and(is_frame)
    }

    fn chunk(&self, _: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary {
        MARKS.write_chunk(input, rows, 0, output, |output| append_frame(input, output))
    }

    fn finish(&self, chunks: &[ChunkSummary]) -> Vec<u8> {
        MARKS.end(chunks, &[])
    }

    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        MARKS.find(length, read_at)
    }

    fn decompress_chunk(&self, location: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        decompress_frame(MARKS.after_mark(NAME, location, stored)?, output)
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(FrameReader::new(Lz4Frames { decoder: FrameDecoder::new(Source::new(stored)) }))
    }
}

fn malformed(reason: impl Into<String>) -> DecompressError {
    DecompressError::Malformed { compression: NAME, reason: reason.into() }
}

/// The block sizes of the format and their codes.
const BLOCK_SIZES: [(u8, usize); 4] = [(4, 64 << 10), (5, 256 << 10), (6, 1 << 20), (7, 4 << 20)];

/// The flag of uncompressed blocks.
const PLAIN: u32 = 1 << 31;

/// The header of a frame, and its block size: the smallest one that holds all content, so that readers allocate no more
/// memory than needed.
fn header(length: usize) -> ([u8; 15], usize) {
    let fits = BLOCK_SIZES.into_iter().find(|(_, size)| length <= *size);
    let (code, size) = fits.unwrap_or(BLOCK_SIZES[BLOCK_SIZES.len() - 1]);
    let mut header = [0; 15];
    header[..4].copy_from_slice(&MAGIC);
    // Version 1, independent blocks, with content size and checksum.
    header[4] = 0b0110_1100;
    header[5] = code << 4;
    header[6..14].copy_from_slice(&(length as u64).to_le_bytes());
    header[14] = XxHash32::oneshot(0, &header[4..14]).to_le_bytes()[1];
    (header, size)
}

fn append_raw(input: &[u8], output: &mut Vec<u8>) {
    let start = output.len();
    output.resize(start + block::get_maximum_output_size(input.len()), 0);
    // Fails only if the buffer is too small.
    match block::compress_into(input, &mut output[start..]) {
        Ok(length) => output.truncate(start + length),
        Err(error) => unreachable!("lz4 refused a block: {error}"),
    }
}

fn append_frame(input: &[u8], output: &mut Vec<u8>) {
    let (header, size) = header(input.len());
    output.extend_from_slice(&header);
    for piece in input.chunks(size) {
        let start = output.len() + 4;
        output.resize(start, 0);
        append_raw(piece, output);
        let mut head = (output.len() - start) as u32;
        if output.len() - start >= piece.len() {
            output.truncate(start);
            output.extend_from_slice(piece);
            head = piece.len() as u32 | PLAIN;
        }
        output[start - 4..start].copy_from_slice(&head.to_le_bytes());
    }
    output.extend_from_slice(&[0; 4]);
    output.extend_from_slice(&XxHash32::oneshot(0, input).to_le_bytes());
}

/// Decompresses the output of [`append_frame`].
fn decompress_frame(frame: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
    let (header, size) = header(output.len());
    let mut rest = frame.strip_prefix(&header).ok_or_else(|| malformed("another frame header than expected"))?;
    for piece in output.chunks_mut(size) {
        let head = take_u32(&mut rest)?;
        let (stored, tail) = rest.split_at_checked((head & !PLAIN) as usize).ok_or_else(truncated)?;
        rest = tail;
        if head & PLAIN == 0 {
            Lz4.decompress(stored, piece)?;
        } else if stored.len() == piece.len() {
            piece.copy_from_slice(stored);
        } else {
            return Err(DecompressError::Length { expected: piece.len(), found: stored.len() });
        }
    }
    if take_u32(&mut rest)? != 0 {
        return Err(malformed("it is longer than it should be"));
    }
    if take_u32(&mut rest)? != XxHash32::oneshot(0, output) {
        return Err(malformed("its checksum does not match"));
    }
    if rest.is_empty() { Ok(()) } else { Err(malformed("there are bytes after its end")) }
}

fn take_u32(rest: &mut &[u8]) -> Result<u32, DecompressError> {
    let (bytes, tail) = rest.split_first_chunk().ok_or_else(truncated)?;
    *rest = tail;
    Ok(u32::from_le_bytes(*bytes))
}

fn truncated() -> DecompressError {
    malformed("it is cut off")
}

struct Lz4Frames {
    decoder: FrameDecoder<Source>,
}

impl Frames for Lz4Frames {
    fn source(&mut self) -> &mut Source {
        self.decoder.get_mut()
    }

    fn begin(&mut self, tally: &mut Tally) -> io::Result<bool> {
        let source = self.source();
        skip_frames(source, &MARKS, tally)?;
        let magic = source.peek(MAGIC.len())?;
        if magic.is_empty() {
            return Ok(false);
        }
        if magic.len() < MAGIC.len() {
            return Err(cut());
        }
        // `brc` writes no such frames.
        if magic == LEGACY_MAGIC && !tally.is_in_chunk() {
            return Err(unsupported("it is of the legacy LZ4 format", "lz4 -d"));
        }
        if magic != MAGIC {
            return Err(damaged("no LZ4 frame starts here"));
        }
        // The decoder accepts no frame whose blocks are larger than those of the first one.
        self.decoder = FrameDecoder::new(mem::take(self.source()));
        Ok(true)
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(output).map_err(|error| match error.get_ref() {
            Some(reason) => match reason.downcast_ref() {
                Some(frame::Error::DictionaryNotSupported) => {
                    unsupported("it needs a dictionary", "lz4 -d -D DICTIONARY")
                }
                Some(_) => damaged(error),
                None => error,
            },
            None => error,
        })?;
        // The decoder takes a truncation between two blocks for the end.
        if count == 0 && self.source().is_starved() { Err(cut()) } else { Ok(count) }
    }
}
