//! Pages: the blocks of a column chunk, each with its own header.
//!
//! The header is parsed here rather than by the library, so that sizes are checked before anything is allocated, and
//! checksums before anything is decompressed.

use super::codec::Codec;
use super::thrift::{Structure, walk};
use crate::columnar::Fault;
use std::ops::Range;
use std::time::{Duration, Instant};

/// The format's ids of page types and encodings.
pub(super) const DATA_PAGE: i64 = 0;
pub(super) const DICTIONARY_PAGE: i64 = 2;
pub(super) const DATA_PAGE_V2: i64 = 3;
pub(super) const PLAIN: i64 = 0;
pub(super) const PLAIN_DICTIONARY: i64 = 2;
pub(super) const RLE: i64 = 3;
pub(super) const BIT_PACKED: i64 = 4;
pub(super) const DELTA_BINARY_PACKED: i64 = 5;
pub(super) const DELTA_LENGTH_BYTE_ARRAY: i64 = 6;
pub(super) const DELTA_BYTE_ARRAY: i64 = 7;
pub(super) const RLE_DICTIONARY: i64 = 8;
pub(super) const BYTE_STREAM_SPLIT: i64 = 9;

/// Pages of up to this size are decompressed whatever size the chunk declares.
const ALWAYS_FINE: usize = 16 << 20;

/// The header of a page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageHeader {
    pub(super) kind: i64,
    pub(super) values: usize,
    pub(super) encoding: i64,
    /// The encoding of definition levels in a data page of version 1.
    pub(super) level_encoding: i64,
    pub(super) repetition_encoding: i64,
    /// The sizes of repetition and definition levels in a data page of version 2.
    pub(super) level_bytes: [usize; 2],
    pub(super) nulls: usize,
    pub(super) rows: usize,
    length: usize,
    unpacked: usize,
    stored: usize,
    checksum: Option<u32>,
    is_compressed: bool,
}

/// Parses a header at the start of `bytes`.
fn header(bytes: &[u8]) -> Result<PageHeader, Fault> {
    let mut header = PageHeader { kind: -1, is_compressed: true, ..PageHeader::default() };
    let mut negative = false;
    let length = walk(bytes, &mut |path, value| {
        let mut size = |to: &mut usize| match usize::try_from(value) {
            Ok(value) => *to = value,
            Err(_) => negative = true,
        };
        match path {
            [1] => header.kind = value,
            [2] => size(&mut header.unpacked),
            [3] => size(&mut header.stored),
            [4] => header.checksum = Some(value as u32),
            [5 | 7 | 8, 1] => size(&mut header.values),
            [5 | 7, 2] | [8, 4] => header.encoding = value,
            [5, 3] => header.level_encoding = value,
            [5, 4] => header.repetition_encoding = value,
            [8, 2] => size(&mut header.nulls),
            [8, 3] => size(&mut header.rows),
            [8, 5] => size(&mut header.level_bytes[1]),
            [8, 6] => size(&mut header.level_bytes[0]),
            [8, 7] => header.is_compressed = value != 0,
            _ => {}
        }
    })?;
    if negative {
        return Err(Fault::corrupt("a page header has a negative size"));
    }
    header.length = length;
    Ok(header)
}

/// Appends a page with the given body, compressed or not, and a checksum.
pub(super) fn write(kind: i64, values: usize, encoding: i64, unpacked: usize, body: &[u8], out: &mut Vec<u8>) -> bool {
    let integers = (i32::try_from(values), i32::try_from(unpacked), i32::try_from(body.len()));
    let (Ok(values), Ok(unpacked), Ok(stored)) = integers else { return false };
    let header = Structure::default()
        .integer(1, kind as i32)
        .integer(2, unpacked)
        .integer(3, stored)
        .integer(4, crc_fast::crc32_iso_hdlc(body) as i32);
    let about = Structure::default().integer(1, values).integer(2, encoding as i32);
    let header = if kind == DICTIONARY_PAGE {
        header.structure(7, about)
    } else {
        header.structure(5, about.integer(3, RLE as i32).integer(4, RLE as i32))
    };
    out.extend_from_slice(&header.finish());
    out.extend_from_slice(body);
    true
}

/// The pages of a column chunk, in sequence.
#[derive(Default)]
pub(super) struct Pages {
    stored: Vec<u8>,
    at: usize,
    codec: Option<Codec>,
    /// The uncompressed size that the chunk declares.
    unpacked: usize,
    /// The number of values left, if other bytes may follow the last one.
    left: Option<usize>,
    /// The decompressed body of a page.
    body: Vec<u8>,
    /// The location of the page's body: whether it is in `body` (else `stored`), and its range.
    location: (bool, Range<usize>),
    pub(super) decompress_time: Duration,
}

impl Pages {
    /// Begins a chunk; returns the buffer to read its bytes into. With `values`, their number determines the last page,
    /// and other bytes may follow it.
    pub(super) fn start(
        &mut self,
        stored: usize,
        unpacked: usize,
        codec: Option<Codec>,
        values: Option<usize>,
    ) -> &mut [u8] {
        self.stored.clear();
        self.stored.resize(stored, 0);
        (self.at, self.unpacked, self.codec, self.left, self.location) = (0, unpacked, codec, values, (false, 0..0));
        &mut self.stored
    }

    /// The bytes of the chunk.
    pub(super) fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// Advances to the next data or dictionary page; `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<PageHeader>, Fault> {
        self.next_unless_skipped(|_| false)
    }

    /// The same; the body of a data page for which `is_skipped` holds is not decompressed.
    pub(super) fn next_unless_skipped(
        &mut self,
        is_skipped: impl FnOnce(&PageHeader) -> bool,
    ) -> Result<Option<PageHeader>, Fault> {
        loop {
            let rest = self.stored.get(self.at..).unwrap_or_default();
            if rest.is_empty() || self.left == Some(0) {
                return Ok(None);
            }
            let header = header(rest)?;
            let start = self.at + header.length;
            let end = start + header.stored;
            let Some(body) = self.stored.get(start..end) else {
                return Err(Fault::corrupt("a page reaches beyond its column chunk"));
            };
            if header.checksum.is_some_and(|checksum| checksum != crc_fast::crc32_iso_hdlc(body)) {
                return Err(Fault::corrupt("the checksum of a page does not match"));
            }
            self.at = end;
            // Index pages, and future page types, hold no data.
            if !matches!(header.kind, DATA_PAGE | DATA_PAGE_V2 | DICTIONARY_PAGE) {
                continue;
            }
            if header.kind != DICTIONARY_PAGE {
                self.left = self.left.map(|left| left.saturating_sub(header.values));
            }
            if header.kind != DICTIONARY_PAGE && is_skipped(&header) {
                self.location = (false, 0..0);
                return Ok(Some(header));
            }
            self.location = match self.codec {
                Some(codec) if header.is_compressed => {
                    let begun = Instant::now();
                    let unpacked = self.decompress(&header, codec, start..end)?;
                    self.decompress_time += begun.elapsed();
                    (true, 0..unpacked)
                }
                _ => (false, start..end),
            };
            return Ok(Some(header));
        }
    }

    /// The body of the page.
    pub(super) fn body(&self) -> &[u8] {
        let (is_unpacked, range) = &self.location;
        let bytes = if *is_unpacked { &self.body } else { &self.stored };
        bytes.get(range.clone()).unwrap_or_default()
    }

    /// Decompresses a page, except its levels in version 2, which are not compressed.
    fn decompress(&mut self, header: &PageHeader, codec: Codec, stored: Range<usize>) -> Result<usize, Fault> {
        if header.unpacked > self.unpacked.max(ALWAYS_FINE) {
            return Err(Fault::corrupt("a page is larger than its column chunk"));
        }
        let levels = if header.kind == DATA_PAGE_V2 { header.level_bytes.iter().sum() } else { 0 };
        let stored = self.stored.get(stored).unwrap_or_default();
        if self.body.len() < header.unpacked {
            self.body = vec![0; header.unpacked];
        }
        match (stored.split_at_checked(levels), self.body[..header.unpacked].split_at_mut_checked(levels)) {
            (Some((levels, packed)), Some((levels_out, out))) => {
                levels_out.copy_from_slice(levels);
                if !out.is_empty() {
                    codec.decompress(packed, out)?;
                }
                Ok(header.unpacked)
            }
            _ => Err(Fault::corrupt("a page is shorter than its levels")),
        }
    }
}
