//! Snappy by `snap`: a block is a raw block; a file has the framing format, where a skippable chunk holds the mark of each
//! of ours.
//!
//! What the framing format calls a chunk is called a piece here: it holds at most 64 KiB of content, and one of our chunks
//! is as many of them as it takes.

use crate::file_format::{ReadAt, is_cut_magic};
use crate::frames::{FrameReader, Frames};
use crate::marks::{Marks, Spelling, Tally};
use crate::source::{Source, cut, damaged};
use crate::{ChunkPlace, ChunkSummary, Compression, DecompressError, FileFormat};
use snap::raw::{Decoder, Encoder, decompress_len, max_compress_len};
use std::io::{self, Read};

pub(crate) struct Snappy;

const NAME: &str = "snappy";

/// The piece that a file starts with.
const START: [u8; 10] = *b"\xff\x06\0\0sNaPpY";

/// A skippable piece of 24 bytes.
static MARKS: Marks = Marks { start: &START, before: &[0xb2, 24, 0, 0], spelling: Spelling::Bytes, padded: false };

/// The most content of a piece.
const PIECE_BYTES: usize = 64 << 10;

const COMPRESSED: u8 = 0;
const PLAIN: u8 = 1;
const START_KIND: u8 = START[0];

/// Kind and length of a piece.
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
        prefix.starts_with(&START) || is_cut_magic(prefix, &START)
    }

    fn start(&self) -> Vec<u8> {
        START.to_vec()
    }

    fn chunk(&self, _: i32, input: &[u8], rows: u32, output: &mut Vec<u8>) -> ChunkSummary {
        MARKS.write_chunk(input, rows, 0, output, |output| {
            let mut encoder = Encoder::new();
            for content in input.chunks(PIECE_BYTES) {
                append_piece(&mut encoder, content, output);
            }
        })
    }

    fn finish(&self, chunks: &[ChunkSummary]) -> Vec<u8> {
        MARKS.end(chunks, &[])
    }

    fn chunks(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        MARKS.find(length, read_at)
    }

    fn decompress_chunk(&self, place: &ChunkPlace, stored: &[u8], output: &mut [u8]) -> Result<(), DecompressError> {
        let mut rest = MARKS.behind(NAME, place, stored)?;
        for content in output.chunks_mut(PIECE_BYTES) {
            let (head, behind) = rest.split_first_chunk().ok_or_else(is_cut)?;
            let (kind, length) = kind_and_length(*head);
            let (body, behind) = behind.split_at_checked(length).ok_or_else(is_cut)?;
            decompress_piece(kind, body, content)?;
            rest = behind;
        }
        if rest.is_empty() { Ok(()) } else { Err(malformed("there are bytes after its end")) }
    }

    fn reader(&self, stored: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let content = Vec::with_capacity(PIECE_BYTES);
        Box::new(FrameReader::new(Pieces { source: Source::new(stored), started: false, content, taken: 0 }))
    }
}

fn malformed(reason: impl Into<String>) -> DecompressError {
    DecompressError::Malformed { compression: NAME, reason: reason.into() }
}

fn is_cut() -> DecompressError {
    malformed("it is cut off")
}

fn append_raw(encoder: &mut Encoder, input: &[u8], output: &mut Vec<u8>) {
    let start = output.len();
    output.resize(start + max_compress_len(input.len()), 0);
    // It fails only for a buffer that is too small or an input of 4 GiB; blocks are far below that.
    match encoder.compress(input, &mut output[start..]) {
        Ok(length) => output.truncate(start + length),
        Err(error) => unreachable!("snappy refused a block: {error}"),
    }
}

fn append_piece(encoder: &mut Encoder, content: &[u8], output: &mut Vec<u8>) {
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

/// Decompresses the body of a piece of content: its checksum, and that content.
fn decompress_piece(kind: u8, body: &[u8], content: &mut [u8]) -> Result<(), DecompressError> {
    let (checksum, stored) = body.split_first_chunk().ok_or_else(is_cut)?;
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

/// The pieces of a file, each a frame of its own.
struct Pieces {
    source: Source,
    /// Whether the piece has been with which every file starts.
    started: bool,
    content: Vec<u8>,
    /// How much of the content has been read.
    taken: usize,
}

impl Frames for Pieces {
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

impl Pieces {
    /// Takes what a file starts with. That alone would be a file without content; but nobody keeps such a one, and it is
    /// what is left of a longer one that was cut there.
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

    /// Takes and decompresses a piece of content.
    fn load(&mut self, kind: u8, length: usize) -> io::Result<()> {
        let too_long = || damaged(format!("a snappy chunk of more than {PIECE_BYTES} bytes"));
        if length > 4 + max_compress_len(PIECE_BYTES) {
            return Err(too_long());
        }
        let piece = self.source.peek(HEAD_BYTES + length)?;
        if piece.len() < HEAD_BYTES + length {
            return Err(cut());
        }
        let body = &piece[HEAD_BYTES..];
        let stored = body.get(4..).ok_or_else(|| damaged("a snappy chunk without a checksum"))?;
        let found = if kind == PLAIN { stored.len() } else { decompress_len(stored).map_err(damaged)? };
        if found > PIECE_BYTES {
            return Err(too_long());
        }
        self.content.resize(found, 0);
        self.taken = 0;
        decompress_piece(kind, body, &mut self.content).map_err(damaged)?;
        self.source.consume(HEAD_BYTES + length);
        Ok(())
    }
}
