//! Zlib, using `flate2` and `zlib-rs`: a block is one stream. A file is one stream as well, in which a mark precedes
//! each chunk and a full flush ends it.
//!
//! Compression restarts at a whole byte after a full flush, so chunks are compressed and decompressed independently, as
//! raw deflate. The checksum at the end is combined from those of the chunks. An index after the stream would be easier
//! to find, but `pigz` fails if anything follows the stream; so the marks are within it, in bits that deflate ignores.

use crate::deflate::{self, End};
use crate::file_format::ReadAt;
use crate::frames::{FrameReader, Frames};
use crate::marks::{MarkEncoding, Marks, Tally};
use crate::source::{Source, damaged};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat, Levels};
use flate2::{Compress, Decompress, FlushCompress, FlushDecompress, Status};
use std::io::{self, Read};
use zlib_rs::adler32::{adler32, adler32_combine};

pub(crate) struct Zlib;

const NAME: &str = "zlib";

/// A window of 32 KiB, the default level, no dictionary.
const HEADER: [u8; 2] = [0x78, 0x9c];

static MARKS: Marks = Marks { start: &HEADER, before: &[], spelling: MarkEncoding::EmptyBlocks, padded: false };

/// The last block, which is empty; the checksum follows.
const LAST_BLOCK: [u8; 2] = [3, 0];

/// [`Zlib::sniff`] needs all bytes of a file with fewer bytes than this.
const SNIFFED_BYTES: usize = 16 << 10;

/// Bytes that are not deflated rarely inflate to this number of bytes before the first error, or to text.
const MIN_INFLATED_BYTES: usize = 8;

impl Compression for Zlib {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        4
    }

    fn about(&self) -> &'static str {
        "zlib: the algorithm of gzip with a shorter header"
    }

    fn levels(&self) -> Option<Levels> {
        Some(deflate::LEVELS)
    }

    fn compress(&self, level: i32, input: &[u8], output: &mut Vec<u8>) {
        deflate::deflate(Compress::new(deflate::level(level), true), input, FlushCompress::Finish, output);
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        match deflate::inflate(NAME, Decompress::new(true), input, output)? {
            End::Stream => Ok(()),
            End::Input => Err(malformed("it is cut off")),
        }
    }

    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        Some(&Self)
    }
}

impl FileFormat for Zlib {
    fn extensions(&self) -> &'static [&'static str] {
        &["zz", "zlib"]
    }

    /// A header of two bytes is weak evidence, so the following bytes are inflated. The stream must end properly, or
    /// have no error within 16 KiB. Otherwise it may be damaged: then some of it must inflate, and it must not look
    /// like text.
    fn sniff(&self, prefix: &[u8]) -> bool {
        let prefix = &prefix[..prefix.len().min(SNIFFED_BYTES)];
        if !is_header(prefix) {
            return false;
        }
        let (end, content) = try_inflate(prefix);
        match end {
            TrialEnd::Stream => true,
            TrialEnd::Input if prefix.len() == SNIFFED_BYTES => true,
            TrialEnd::Input | TrialEnd::Damage => starts_with_mark(prefix) || is_damaged_stream(prefix, &content),
        }
    }

    fn start(&self) -> Vec<u8> {
        HEADER.to_vec()
    }

    fn chunk(&self, level: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary {
        MARKS.write_chunk(input, rows, adler32(1, input), output, |output| {
            deflate::deflate(Compress::new(deflate::level(level), false), input, FlushCompress::Full, output);
        })
    }

    fn finish(&self, chunks: &[ChunkSummary]) -> Vec<u8> {
        MARKS.end(chunks, &end_of_stream(chunks.iter().map(|chunk| (chunk.checksum, chunk.length))))
    }

    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        let Some(locations) = MARKS.find(length, read_at)? else { return Ok(None) };
        let expected = end_of_stream(locations.iter().map(|location| (location.checksum, location.length)));
        let mut end = [0; END_BYTES];
        read_at(length - END_BYTES as u64, &mut end)?;
        if end == expected { Ok(Some(locations)) } else { Err(damaged("the end of the stream contradicts its chunks")) }
    }

    fn decompress_chunk(&self, location: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let deflated = MARKS.after_mark(NAME, location, stored)?;
        match deflate::inflate(NAME, Decompress::new(false), deflated, output)? {
            End::Stream => Err(malformed("the stream ends within a chunk")),
            End::Input if adler32(1, output) != location.checksum => Err(malformed("its checksum does not match")),
            End::Input => Ok(()),
        }
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(FrameReader::new(Streams { source: Source::new(stored), decompress: Decompress::new(true) }))
    }
}

fn malformed(reason: &str) -> DecompressError {
    DecompressError::Malformed { compression: NAME, reason: reason.to_owned() }
}

const END_BYTES: usize = 6;

/// The end of a stream of chunks with these checksums and lengths.
fn end_of_stream(chunks: impl Iterator<Item = (u32, u32)>) -> [u8; END_BYTES] {
    let combine = |sum, (checksum, length)| adler32_combine(sum, checksum, u64::from(length));
    let ([a, b], [c, d, e, f]) = (LAST_BLOCK, chunks.fold(1, combine).to_be_bytes());
    [a, b, c, d, e, f]
}

/// Whether a stream may start with these bytes: deflate, a window of at most 32 KiB, valid check bits, and no
/// dictionary.
fn is_header(bytes: &[u8]) -> bool {
    match *bytes {
        [first, second, ..] => {
            let checks = u16::from_be_bytes([first, second]) % 31 == 0;
            first & 0x0f == 8 && first >> 4 <= 7 && second & 0x20 == 0 && checks
        }
        _ => false,
    }
}

/// How inflating the start of a file ended.
enum TrialEnd {
    /// At the end of the stream, with a valid checksum.
    Stream,
    /// At the end of the input, before the end of the stream.
    Input,
    Damage,
}

/// Inflates the start of a file; also returns the first bytes of content.
fn try_inflate(prefix: &[u8]) -> (TrialEnd, Vec<u8>) {
    let mut decompress = Decompress::new(true);
    let (mut scratch, mut content) = ([0; 4096], Vec::new());
    loop {
        let rest = &prefix[decompress.total_in() as usize..];
        let before = decompress.total_out();
        let status = decompress.decompress(rest, &mut scratch, FlushDecompress::None);
        let written = (decompress.total_out() - before) as usize;
        if before == 0 {
            content.extend_from_slice(&scratch[..written]);
        }
        match status {
            Ok(Status::StreamEnd) => return (TrialEnd::Stream, content),
            Ok(_) if rest.is_empty() && written == 0 => return (TrialEnd::Input, content),
            Ok(_) => {}
            Err(_) => return (TrialEnd::Damage, content),
        }
    }
}

/// Whether an empty block follows the header, as in all files that `brc` writes.
fn starts_with_mark(prefix: &[u8]) -> bool {
    matches!(prefix, [_, _, first, 0, 0, 0xff, 0xff, ..] if first & 7 == 0)
}

/// Whether bytes with a valid header are a stream that is damaged or truncated, of which `content` inflates, rather
/// than text in some encoding: a ninth of deflated bytes look like control characters. Short streams may have none;
/// then the content must be text and the stream must not be a line of text.
fn is_damaged_stream(prefix: &[u8], content: &[u8]) -> bool {
    let start = &prefix[..prefix.len().min(128)];
    let has_controls = controls(start) * 50 >= start.len();
    let inflates_to_text = is_utf8(content) && controls(content) == 0;
    let is_binary = has_controls || (inflates_to_text && !prefix.contains(&b'\n'));
    content.len() >= MIN_INFLATED_BYTES && is_binary && !is_utf8(start)
}

/// The number of control characters that are rare in text.
fn controls(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| byte.is_ascii_control() && !b"\t\n\r".contains(byte)).count()
}

/// Whether bytes are UTF-8, of which the last character may be truncated.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

struct Streams {
    source: Source,
    decompress: Decompress,
}

impl Frames for Streams {
    fn source(&mut self) -> &mut Source {
        &mut self.source
    }

    fn begin(&mut self, _: &mut Tally) -> io::Result<bool> {
        let start = self.source.peek(HEADER.len())?;
        if start.is_empty() {
            return Ok(false);
        }
        if start.len() > 1 && !is_header(start) {
            return Err(damaged("no zlib stream starts here, or one that needs a dictionary"));
        }
        self.decompress = Decompress::new(true);
        Ok(true)
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        deflate::inflate_some(&mut self.decompress, &mut self.source, output)
    }
}
