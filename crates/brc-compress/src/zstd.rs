//! Zstandard, using the `zstd` crate: a block is one frame. In files each chunk is a skippable frame with its mark and
//! a frame.

use crate::file_format::ReadAt;
use crate::frames::{FrameReader, Frames, after_skippable, skip_frames};
use crate::marks::{MarkEncoding, Marks, Tally};
use crate::source::{Source, cut, damaged, unsupported};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat, Levels};
use brc_kernels::memory::exhausted;
use std::alloc::Layout;
use std::cell::RefCell;
use std::io::{self, Cursor, Read};
use zstd::bulk::{Compressor, Decompressor};
use zstd::stream::raw::{Decoder, Operation};
use zstd::zstd_safe::{CParameter, Strategy, compress_bound, find_frame_compressed_size, get_error_name};

pub(crate) struct Zstd;

const NAME: &str = "zstd";

const LEVELS: Levels = Levels { lowest: 1, usual: 3, highest: 22 };

/// An internal level whose match search is so limited that little more than entropy coding remains. Random digits
/// become smaller than with their chance matches, several times as fast.
const ENTROPY: i32 = 0;

/// An internal level: the parameters that level 2 has for long blocks, for blocks of any length.
const LONG_REPEATS: i32 = -1;

/// The parameters of an internal level.
fn own_parameters(level: i32) -> Option<[CParameter; 4]> {
    let (hash_log, min_match) = match level {
        ENTROPY => (6, 7),
        LONG_REPEATS => (16, 6),
        _ => return None,
    };
    let [hash_log, min_match] = [CParameter::HashLog(hash_log), CParameter::MinMatch(min_match)];
    Some([CParameter::Strategy(Strategy::ZSTD_fast), CParameter::WindowLog(20), hash_log, min_match])
}

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A skippable frame of 24 bytes.
static MARKS: Marks =
    Marks { start: &[], before: &[0x5b, 0x2a, 0x4d, 0x18, 24, 0, 0, 0], spelling: MarkEncoding::Bytes, padded: false };

thread_local! {
    /// Reused between blocks: each has tables of megabytes.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    /// One for each internal level, with its parameters.
    static SHORTCUTS: [RefCell<Option<Compressor<'static>>>; 2] = const { [const { RefCell::new(None) }; 2] };
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
        "Zstandard: small, and still fast to decompress"
    }

    fn levels(&self) -> Option<Levels> {
        Some(LEVELS)
    }

    fn shortcuts(&self, level: i32) -> &'static [i32] {
        match level {
            1 | 2 => &[ENTROPY],
            3 => &[ENTROPY, LONG_REPEATS],
            // No shortcuts above the default level: the user prefers size to speed.
            _ => &[],
        }
    }

    fn compress(&self, level: i32, input: &[u8], output: &mut Vec<u8>) {
        append_frame(level, false, input, output);
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let malformed = |reason: String| DecompressError::Malformed { compression: NAME, reason };
        let frame = find_frame_compressed_size(input).map_err(|code| malformed(get_error_name(code).to_owned()))?;
        if frame != input.len() {
            return Err(malformed("there are bytes after its end".to_owned()));
        }
        DECOMPRESSOR.with_borrow_mut(|kept| {
            let decompressor = match kept {
                Some(decompressor) => decompressor,
                None => kept.insert(Decompressor::new().map_err(|error| malformed(error.to_string()))?),
            };
            let found = match decompressor.decompress_to_buffer(input, output) {
                Ok(found) => found,
                Err(error) if lacks_memory(&error) => exhausted(Layout::for_value(output)),
                Err(error) => return Err(malformed(error.to_string())),
            };
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
        MARKS.sniff(prefix) || after_skippable(prefix).is_some_and(|bytes| bytes.starts_with(&MAGIC))
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

    fn decompress_chunk(&self, location: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        self.decompress(MARKS.after_mark(NAME, location, stored)?, output)
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(FrameReader::new(ZstdFrames { source: Source::new(stored), decoder: None, over: true }))
    }
}

/// Appends a frame with its content length.
fn append_frame(level: i32, checksum: bool, input: &[u8], output: &mut Vec<u8>) {
    output.reserve(compress_bound(input.len()));
    let mut end = Cursor::new(std::mem::take(output));
    end.set_position(end.get_ref().len() as u64);
    let mut compress = |kept: &mut Option<Compressor<'static>>| {
        let own = own_parameters(level);
        let compressor = match kept {
            Some(compressor) => compressor,
            None => {
                let mut compressor = Compressor::new(LEVELS.usual)?;
                own.into_iter().flatten().try_for_each(|parameter| compressor.set_parameter(parameter))?;
                kept.insert(compressor)
            }
        };
        if own.is_none() {
            compressor.set_compression_level(level.clamp(LEVELS.lowest, LEVELS.highest))?;
        }
        compressor.set_parameter(CParameter::ChecksumFlag(checksum))?;
        compressor.compress_to_buffer(input, &mut end)
    };
    let result = match level {
        ENTROPY => SHORTCUTS.with(|kept| compress(&mut kept[0].borrow_mut())),
        LONG_REPEATS => SHORTCUTS.with(|kept| compress(&mut kept[1].borrow_mut())),
        _ => COMPRESSOR.with_borrow_mut(compress),
    };
    *output = end.into_inner();
    match result {
        Ok(_) => {}
        Err(error) if lacks_memory(&error) => exhausted(Layout::for_value(input)),
        Err(error) => unreachable!("zstd refused a block: {error}"),
    }
}

/// Whether the library failed to allocate its tables.
fn lacks_memory(error: &io::Error) -> bool {
    /// `ZSTD_error_memory_allocation`, as functions return it.
    const MEMORY_ALLOCATION: usize = 64_usize.wrapping_neg();
    error.to_string() == get_error_name(MEMORY_ALLOCATION)
}

/// The requirements of a frame, according to its header.
struct Head {
    /// The window size in bytes.
    window: u64,
    /// The id of the dictionary; 0 if there is none or it is not given.
    dictionary: u32,
}

impl Head {
    /// The maximum length of a header: magic number, flags, window, dictionary and content length.
    const MAX_BYTES: usize = 4 + 1 + 1 + 4 + 8;

    /// The largest supported window: the default limit of the library, and the one that every decoder should support.
    const MAX_WINDOW: u64 = 128 << 20;

    /// `None` if the header is truncated.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (flags, mut rest) = bytes.get(MAGIC.len()..)?.split_first()?;
        let mut take = |count: usize| {
            let (field, tail) = rest.split_at_checked(count)?;
            rest = tail;
            Some(field.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
        };
        let is_single_segment = flags & 0x20 != 0;
        let window = if is_single_segment { 0 } else { take(1)? };
        let dictionary = take([0, 1, 2, 4][usize::from(flags & 3)])?;
        if !is_single_segment {
            let least = 1 << (10 + (window >> 3));
            return Some(Self { window: least + least / 8 * (window & 7), dictionary: dictionary as u32 });
        }
        let length = match flags >> 6 {
            0 => take(1)?,
            1 => take(2)? + 256,
            2 => take(4)?,
            _ => take(8)?,
        };
        Some(Self { window: length, dictionary: dictionary as u32 })
    }

    /// Why the frame cannot be read, if it cannot.
    fn refused(&self) -> Option<io::Error> {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        let (window, most) = (mebibytes(self.window), mebibytes(Self::MAX_WINDOW));
        if self.dictionary != 0 {
            let dictionary = self.dictionary;
            return Some(unsupported(format!("it needs the dictionary {dictionary}"), "zstd -d -D DICTIONARY"));
        }
        let what = || format!("its window is of {window} MiB, the largest that is read of {most} MiB");
        (self.window > Self::MAX_WINDOW).then(|| unsupported(what(), "zstd -d --long=31"))
    }
}

struct ZstdFrames {
    source: Source,
    /// Created for the first frame, if there is one.
    decoder: Option<Decoder<'static>>,
    /// Whether the current frame has ended: the decoder would continue with the next one.
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
        let head = Head::of(self.source.peek(Head::MAX_BYTES)?);
        match head.and_then(|head| head.refused()) {
            // `brc` writes no such frames.
            Some(_) if tally.is_in_chunk() => return Err(damaged("the header of a frame is damaged")),
            Some(error) => return Err(error),
            None => {}
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
