//! Zstandard by the `zstd` crate: a block is one frame; in a file each chunk is a skippable frame with its mark and a
//! frame.

use crate::file_format::ReadAt;
use crate::frames::{FrameReader, Frames, behind_skippable, skip_frames};
use crate::marks::{Marks, Spelling, Tally};
use crate::source::{Source, cut, damaged};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat, Levels};
use std::cell::RefCell;
use std::io::{self, Read};
use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::raw::{Decoder, Operation};
use zstd::zstd_safe::{CParameter, compress_bound, find_frame_compressed_size, get_error_name};

pub(crate) struct Zstd;

const NAME: &str = "zstd";

const LEVELS: Levels = Levels { lowest: 1, usual: 3, highest: 22 };

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A skippable frame of 24 bytes.
static MARKS: Marks = Marks { start: &[], before: &[0x5b, 0x2a, 0x4d, 0x18, 24, 0, 0, 0], spelling: Spelling::Bytes };

thread_local! {
    /// Each has tables of megabytes, which are worth keeping from block to block.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

impl Compression for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        5
    }

    fn about(&self) -> &'static str {
        "Zstandard frames: small, and still fast to decompress"
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn compress(&self, level: i32, input: &[u8], output: &mut Vec<u8>) {
        append_frame(level, false, input, output);
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let malformed = |reason: String| DecompressError::Malformed { compression: NAME, reason };
        let frame = find_frame_compressed_size(input).map_err(|code| malformed(get_error_name(code).to_owned()))?;
        if frame != input.len() {
            return Err(malformed("there are bytes behind its end".to_owned()));
        }
        DECOMPRESSOR.with_borrow_mut(|kept| {
            let decompressor = match kept {
                Some(decompressor) => decompressor,
                None => kept.insert(Decompressor::new().map_err(|error| malformed(error.to_string()))?),
            };
            let result = decompressor.decompress_to_buffer(input, output);
            let found = result.map_err(|error| malformed(error.to_string()))?;
            if found == output.len() { Ok(()) } else { Err(DecompressError::Length { expected: output.len(), found }) }
        })
    }

    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        Some(&Self)
    }
}

impl FileFormat for Zstd {
    fn extensions(&self) -> &'static [&'static str] {
        &["zst", "zstd"]
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        matches!(MARKS.read(prefix), Ok(Some(_)) | Err(_))
            || behind_skippable(prefix).is_some_and(|bytes| bytes.starts_with(&MAGIC))
    }

    fn chunk(&self, level: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary {
        MARKS.write_chunk(input, rows, 0, output, |output| append_frame(level, true, input, output))
    }

    fn finish(&self, chunks: &[ChunkSummary]) -> Vec<u8> {
        MARKS.end(chunks, &[])
    }

    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        MARKS.find(length, read_at)
    }

    fn decompress_chunk(&self, place: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        self.decompress(MARKS.behind(NAME, place, stored)?, output)
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(FrameReader::new(ZstdFrames { source: Source::new(stored), decoder: None, over: true }))
    }
}

/// Appends a frame that says how long its content is.
fn append_frame(level: i32, checksum: bool, input: &[u8], output: &mut Vec<u8>) {
    let start = output.len();
    output.resize(start + compress_bound(input.len()), 0);
    let result = COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(level)?),
        };
        compressor.set_compression_level(level.clamp(LEVELS.lowest, LEVELS.highest))?;
        compressor.set_parameter(CParameter::ChecksumFlag(checksum))?;
        compressor.compress_to_buffer(input, &mut output[start..])
    });
    match result {
        Ok(length) => output.truncate(start + length),
        Err(error) => unreachable!("zstd refused a block: {error}"),
    }
}

struct ZstdFrames {
    source: Source,
    /// Made when the first frame comes, which may never be.
    decoder: Option<Decoder<'static>>,
    /// Whether the current frame is over: the decoder would go on with the next one.
    over: bool,
}

impl Frames for ZstdFrames {
    fn source(&mut self) -> &mut Source {
        &mut self.source
    }

    fn begin(&mut self, tally: &mut Tally) -> io::Result<bool> {
        skip_frames(&mut self.source, &MARKS, tally)?;
        let magic = self.source.peek(MAGIC.len())?;
        if magic.is_empty() {
            return Ok(false);
        }
        if magic.len() < MAGIC.len() {
            return Err(cut());
        }
        if magic != MAGIC {
            return Err(damaged("no zstd frame starts here"));
        }
        match &mut self.decoder {
            Some(decoder) => decoder.reinit()?,
            None => self.decoder = Some(Decoder::new()?),
        }
        self.over = false;
        Ok(true)
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let Some(decoder) = &mut self.decoder else { return Ok(0) };
        while !self.over {
            let input = self.source.fill()?;
            let at_end = input.is_empty();
            let status = decoder.run_on_buffers(input, output).map_err(damaged)?;
            self.source.consume(status.bytes_read);
            self.over = status.remaining == 0;
            if status.bytes_written > 0 {
                return Ok(status.bytes_written);
            }
            if at_end && !self.over {
                return Err(cut());
            }
        }
        Ok(0)
    }
}
