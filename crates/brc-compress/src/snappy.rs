//! Snappy, using `snap`: a block is a raw block. Files have the framing format, in which a skippable frame holds the
//! mark of each chunk.
//!
//! The framing format calls its units chunks; here they are called frames. A frame holds at most 64 KiB of content, and
//! a chunk consists of as many frames as it needs.

use crate::file_format::{ReadAt, is_truncated_magic};
use crate::frames::{FrameReader, Frames};
use crate::marks::{MarkEncoding, Marks, Tally};
use crate::source::{Source, cut, damaged};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat};
use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};
use std::io::{self, Read};

pub(crate) struct Snappy;

const NAME: &str = "snappy";

/// The frame at the start of every file.
const START: [u8; 10] = *b"\xff\x06\0\0sNaPpY";

/// A skippable frame of 24 bytes.
static MARKS: Marks = Marks { start: &START, before: &[0xb2, 24, 0, 0], spelling: MarkEncoding::Bytes, padded: false };

/// The maximum content of a frame.
const MAX_FRAME_CONTENT: usize = 64 << 10;

const COMPRESSED: u8 = 0;
const PLAIN: u8 = 1;
const START_KIND: u8 = START[0];

/// The length of a frame's header, with its kind and length.
const HEAD_BYTES: usize = 4;

impl Compression for Snappy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn id(&self) -> u8 {
        1
    }

    fn about(&self) -> &'static str {
        "Snappy: light and fast"
    }

    fn compress(&self, _: i32, input: &[u8], output: &mut Vec<u8>) {
        append_raw(&mut Encoder::new(), input, output);
    }

    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let refused = |error: snap::Error| malformed(error.to_string());
        let found = decompress_len(input).map_err(refused)?;
        if found != output.len() {
            return Err(DecompressError::Length { expected: output.len(), found });
        }
        Decoder::new().decompress(input, output).map_err(refused)?;
        Ok(())
    }

    fn file_format(&self) -> Option<&'static dyn FileFormat> {
        Some(&Self)
    }
}

impl FileFormat for Snappy {
    fn extensions(&self) -> &'static [&'static str] {
        &["sz"]
    }

    fn sniff(&self, prefix: &[u8]) -> bool {
        prefix.starts_with(&START) || is_truncated_magic(prefix, &START)
    }

    fn start(&self) -> Vec<u8> {
        START.to_vec()
    }

    fn chunk(&self, _: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary {
        MARKS.write_chunk(input, rows, 0, output, |output| {
            let mut encoder = Encoder::new();
            for content in input.chunks(MAX_FRAME_CONTENT) {
                append_content_frame(&mut encoder, content, output);
            }
        })
    }

    fn finish(&self, chunks: &[ChunkSummary]) -> Vec<u8> {
        MARKS.end(chunks, &[])
    }

    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        MARKS.find(length, read_at)
    }

    fn decompress_chunk(&self, location: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let mut rest = MARKS.after_mark(NAME, location, stored)?;
        for content in output.chunks_mut(MAX_FRAME_CONTENT) {
            let (head, tail) = rest.split_first_chunk().ok_or_else(truncated)?;
            let (kind, length) = kind_and_length(*head);
            let (body, tail) = tail.split_at_checked(length).ok_or_else(truncated)?;
            decompress_content_frame(kind, body, content)?;
            rest = tail;
        }
        if rest.is_empty() { Ok(()) } else { Err(malformed("there are bytes after its end")) }
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let content = Vec::with_capacity(MAX_FRAME_CONTENT);
        Box::new(FrameReader::new(SnappyFrames { source: Source::new(stored), started: false, content, taken: 0 }))
    }
}

fn malformed(reason: impl Into<String>) -> DecompressError {
    DecompressError::Malformed { compression: NAME, reason: reason.into() }
}

fn truncated() -> DecompressError {
    malformed("it is cut off")
}

fn append_raw(encoder: &mut Encoder, input: &[u8], output: &mut Vec<u8>) {
    let start = output.len();
    output.resize(start + max_compress_len(input.len()), 0);
    // Fails only if the buffer is too small or the input has 4 GiB; blocks are far smaller.
    match encoder.compress(input, &mut output[start..]) {
        Ok(length) => output.truncate(start + length),
        Err(error) => unreachable!("snappy refused a block: {error}"),
    }
}

fn append_content_frame(encoder: &mut Encoder, content: &[u8], output: &mut Vec<u8>) {
    let start = output.len();
    output.extend_from_slice(&[0; HEAD_BYTES]);
    output.extend_from_slice(&masked_checksum(content).to_le_bytes());
    append_raw(encoder, content, output);
    let body = start + HEAD_BYTES;
    let mut kind = COMPRESSED;
    if output.len() - body - 4 >= content.len() {
        output.truncate(body + 4);
        output.extend_from_slice(content);
        kind = PLAIN;
    }
    let length = (output.len() - body) as u32;
    output[start..body].copy_from_slice(&(u32::from(kind) | length << 8).to_le_bytes());
}

/// Decompresses the body of a frame: a checksum, and the content.
fn decompress_content_frame(kind: u8, body: &[u8], content: &mut [u8]) -> Result<(), DecompressError> {
    let (checksum, stored) = body.split_first_chunk().ok_or_else(truncated)?;
    match kind {
        COMPRESSED => Snappy.decompress(stored, content)?,
        PLAIN if stored.len() == content.len() => content.copy_from_slice(stored),
        PLAIN => return Err(DecompressError::Length { expected: content.len(), found: stored.len() }),
        _ => return Err(malformed(format!("a chunk of type {kind} where content should be"))),
    }
    if u32::from_le_bytes(*checksum) == masked_checksum(content) {
        Ok(())
    } else {
        Err(malformed("its checksum does not match"))
    }
}

fn kind_and_length(head: [u8; HEAD_BYTES]) -> (u8, usize) {
    let [kind, a, b, c] = head;
    (kind, u32::from_le_bytes([a, b, c, 0]) as usize)
}

fn masked_checksum(content: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(content).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The frames of a file.
struct SnappyFrames {
    source: Source,
    /// Whether the start frame of a file has been read.
    started: bool,
    content: Vec<u8>,
    /// The number of content bytes that have been read.
    taken: usize,
}

impl Frames for SnappyFrames {
    fn source(&mut self) -> &mut Source {
        &mut self.source
    }

    fn begin(&mut self, tally: &mut Tally) -> io::Result<bool> {
        loop {
            let head = self.source.peek(MARKS.head_bytes())?;
            if head.is_empty() {
                return Ok(false);
            }
            if let Some(mark) = MARKS.read(head)? {
                tally.mark(mark)?;
            }
            let (kind, length) = kind_and_length(*head.first_chunk().ok_or_else(cut)?);
            match kind {
                START_KIND => self.start()?,
                _ if !self.started => return Err(damaged("no snappy file starts so")),
                COMPRESSED | PLAIN => {
                    self.load(kind, length)?;
                    return Ok(true);
                }
                0x80.. => self.source.skip((HEAD_BYTES + length) as u64)?,
                _ => return Err(damaged(format!("a snappy chunk of unknown type {kind:#04x}"))),
            }
        }
    }

    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let rest = &self.content[self.taken..];
        let count = rest.len().min(output.len());
        output[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

impl SnappyFrames {
    /// Reads the start frame. A file with nothing else would be valid but empty; it is treated as truncated.
    fn start(&mut self) -> io::Result<()> {
        let bytes = self.source.peek(START.len() + 1)?;
        if !bytes.starts_with(&START[..bytes.len().min(START.len())]) {
            return Err(damaged("no snappy file starts so"));
        }
        if bytes.len() <= START.len() {
            return Err(cut());
        }
        self.started = true;
        self.source.skip(START.len() as u64)
    }

    /// Reads and decompresses a frame of content.
    fn load(&mut self, kind: u8, length: usize) -> io::Result<()> {
        let too_long = || damaged(format!("a snappy chunk of more than {MAX_FRAME_CONTENT} bytes"));
        if length > 4 + max_compress_len(MAX_FRAME_CONTENT) {
            return Err(too_long());
        }
        let piece = self.source.peek(HEAD_BYTES + length)?;
        if piece.len() < HEAD_BYTES + length {
            return Err(cut());
        }
        let body = &piece[HEAD_BYTES..];
        let stored = body.get(4..).ok_or_else(|| damaged("a snappy chunk without a checksum"))?;
        let found = if kind == PLAIN { stored.len() } else { decompress_len(stored).map_err(damaged)? };
        if found > MAX_FRAME_CONTENT {
            return Err(too_long());
        }
        self.content.resize(found, 0);
        self.taken = 0;
        decompress_content_frame(kind, body, &mut self.content).map_err(damaged)?;
        self.source.consume(HEAD_BYTES + length);
        Ok(())
    }
}
