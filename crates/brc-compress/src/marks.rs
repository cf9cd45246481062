//! Marks, which `brc` writes before each chunk in fields that the file's format reserves for applications.
//!
//! A mark holds the stored and uncompressed length of its chunk, so that a reader can skip to the next one. The last
//! mark is flagged: a file that is truncated between two chunks looks complete to other tools, but not to `brc`.
//!
//! A mark has 24 bytes: `brc1`, and as little-endian 32-bit numbers the stored length of the chunk (including the
//! mark), its uncompressed length, its number of rows, its checksum (for zlib the adler32, otherwise 0), and the crc32c
//! of all of that. The last mark starts with `brc.` and has the sum of all uncompressed lengths, the number of chunks
//! and 0 instead of length, rows and checksum.

use crate::DecompressError;
use crate::file_format::{ChunkPlace, ChunkSummary, LARGEST_CHUNK, ReadAt, is_truncated_magic};
use crate::source::{cut, damaged};
use std::io;
use std::ops::Range;

/// The length of a mark.
pub(crate) const MARK_BYTES: usize = 24;

const CHUNK: [u8; 4] = *b"brc1";
const END: [u8; 4] = *b"brc.";

/// The decoded content of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A chunk follows, with these properties.
    Chunk { stored: u32, length: u32, rows: u32, checksum: u32 },
    /// There are no more chunks: their number and the sum of their uncompressed lengths, both modulo 2³².
    End { stored: u32, length: u32, count: u32 },
}

impl Mark {
    fn to_bytes(self) -> [u8; MARK_BYTES] {
        let (magic, numbers) = match self {
            Self::Chunk { stored, length, rows, checksum } => (CHUNK, [stored, length, rows, checksum]),
            Self::End { stored, length, count } => (END, [stored, length, count, 0]),
        };
        let mut words = [[0; 4]; MARK_BYTES / 4];
        words[0] = magic;
        words[1..5].copy_from_slice(&numbers.map(u32::to_le_bytes));
        words[5] = crc_fast::crc32_iscsi(words[..5].as_flattened()).to_le_bytes();
        let mut bytes = [0; MARK_BYTES];
        bytes.copy_from_slice(words.as_flattened());
        bytes
    }

    /// `None` if it is not a mark of `brc`.
    fn from_bytes(bytes: &[u8; MARK_BYTES]) -> io::Result<Option<Self>> {
        let [magic, stored, length, third, checksum, own] = *bytes.as_chunks::<4>().0 else { return Ok(None) };
        if magic != CHUNK && magic != END {
            return Ok(None);
        }
        if u32::from_le_bytes(own) != crc_fast::crc32_iscsi(&bytes[..MARK_BYTES - 4]) {
            return Err(damaged("the checksum of the mark of a chunk does not match"));
        }
        let [stored, length, third, checksum] = [stored, length, third, checksum].map(u32::from_le_bytes);
        Ok(Some(if magic == CHUNK {
            Self::Chunk { stored, length, rows: third, checksum }
        } else {
            Self::End { stored, length, count: third }
        }))
    }
}

/// How marks are embedded in files of a format.
pub(crate) struct Marks {
    /// The start of a file, before its first mark.
    pub(crate) start: &'static [u8],
    /// The bytes before each mark, which together with it are one unit of the format, or the start of one.
    pub(crate) before: &'static [u8],
    /// How marks are encoded.
    pub(crate) spelling: MarkEncoding,
    /// Whether zeros after the last mark belong to the file.
    pub(crate) padded: bool,
}

/// How marks are encoded.
#[derive(Clone, Copy)]
pub(crate) enum MarkEncoding {
    /// Unchanged.
    Bytes,
    /// In the bits that deflate ignores.
    ///
    /// The bits between the type of a stored block and the next whole byte are unused: five bits if the block starts at
    /// a whole byte. A mark therefore takes 39 empty blocks.
    EmptyBlocks,
}

const EMPTY_BLOCK_BYTES: usize = 5;

/// The rest of an empty stored block after its first byte: length 0 and its complement.
const EMPTY_BLOCK: [u8; 4] = [0, 0, 0xff, 0xff];

const BITS_PER_BLOCK: usize = 5;

impl MarkEncoding {
    const fn length(self) -> usize {
        match self {
            Self::Bytes => MARK_BYTES,
            Self::EmptyBlocks => EMPTY_BLOCK_BYTES * (MARK_BYTES * 8).div_ceil(BITS_PER_BLOCK),
        }
    }

    fn write(self, mark: &[u8; MARK_BYTES]) -> Vec<u8> {
        match self {
            Self::Bytes => mark.to_vec(),
            Self::EmptyBlocks => {
                let bits: Vec<_> = mark.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1)).collect();
                let first_byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit) << 3;
                bits.chunks(BITS_PER_BLOCK)
                    .flat_map(|bits| [[first_byte(bits)].as_slice(), &EMPTY_BLOCK].concat())
                    .collect()
            }
        }
    }

    fn read(self, bytes: &[u8]) -> Option<[u8; MARK_BYTES]> {
        let bytes = bytes.get(..self.length())?;
        match self {
            Self::Bytes => bytes.first_chunk().copied(),
            Self::EmptyBlocks => {
                let mut mark = [0; MARK_BYTES];
                for (block, bytes) in bytes.chunks_exact(EMPTY_BLOCK_BYTES).enumerate() {
                    if bytes[0] & 7 != 0 || bytes[1..] != EMPTY_BLOCK {
                        return None;
                    }
                    let bits = (0..BITS_PER_BLOCK).map(|bit| (block * BITS_PER_BLOCK + bit, bytes[0] >> (3 + bit) & 1));
                    for (position, bit) in bits.take_while(|(position, _)| *position < MARK_BYTES * 8) {
                        mark[position / 8] |= bit << (position % 8);
                    }
                }
                Some(mark)
            }
        }
    }
}

/// The maximum length of a mark and the bytes before it.
const MAX_HEAD_BYTES: usize = 200;

impl Marks {
    /// The length of a mark and the bytes before it.
    pub(crate) const fn head_bytes(&self) -> usize {
        self.before.len() + self.spelling.length()
    }

    /// Appends a chunk: its mark, and the output of `compress`.
    pub(crate) fn write_chunk(
        &self,
        input: &[u8],
        rows: u32,
        checksum: u32,
        output: &mut Vec<u8>,
        compress: impl FnOnce(&mut Vec<u8>),
    ) -> ChunkSummary {
        assert!(input.len() <= LARGEST_CHUNK, "a chunk of {} bytes is too long", input.len());
        let start = output.len();
        output.resize(start + self.head_bytes(), 0);
        compress(output);
        let (stored, length) = ((output.len() - start) as u32, input.len() as u32);
        debug_assert!(u64::from(stored) <= max_stored(length), "{length} bytes became {stored}");
        let head = self.head(Mark::Chunk { stored, length, rows, checksum });
        output[start..start + head.len()].copy_from_slice(&head);
        ChunkSummary { stored, length, rows, checksum }
    }

    /// The last mark of a file with these chunks; `rest` completes the unit of the format that it starts.
    pub(crate) fn end(&self, chunks: &[ChunkSummary], rest: &[u8]) -> Vec<u8> {
        let stored = (self.head_bytes() + rest.len()) as u32;
        let length = chunks.iter().fold(0, |sum: u32, chunk| sum.wrapping_add(chunk.length));
        let mut end = self.head(Mark::End { stored, length, count: chunks.len() as u32 });
        end.extend_from_slice(rest);
        end
    }

    fn head(&self, mark: Mark) -> Vec<u8> {
        [self.before, &self.spelling.write(&mark.to_bytes())].concat()
    }

    /// The mark that these bytes start with; `None` if they start with anything else.
    pub(crate) fn read(&self, bytes: &[u8]) -> io::Result<Option<Mark>> {
        match bytes.strip_prefix(self.before).and_then(|bytes| self.spelling.read(bytes)) {
            Some(mark) => Mark::from_bytes(&mark),
            None => Ok(None),
        }
    }

    /// Whether a file that starts with these bytes has marks: valid, damaged, or truncated within the first one.
    pub(crate) fn sniff(&self, prefix: &[u8]) -> bool {
        let truncated = prefix.len() < self.head_bytes()
            && (is_truncated_magic(prefix, self.before) || prefix.starts_with(self.before));
        truncated || !matches!(self.read(prefix), Ok(None))
    }

    /// Finds the chunks: see [`crate::FileFormat::chunks`].
    pub(crate) fn find(&self, length: u64, read_at: &mut ReadAt<'_>) -> io::Result<Option<Vec<ChunkPlace>>> {
        let mut buffer = [0; MAX_HEAD_BYTES];
        let mut read = |offset: u64, count: usize| -> io::Result<Option<[u8; MAX_HEAD_BYTES]>> {
            if length.saturating_sub(offset) < count as u64 {
                return Ok(None);
            }
            read_at(offset, &mut buffer[..count])?;
            Ok(Some(buffer))
        };
        let mut offset = self.start.len() as u64;
        if read(0, self.start.len())?.is_none_or(|bytes| !bytes.starts_with(self.start)) || offset == length {
            return Ok(None);
        }
        let (mut locations, mut tally) = (Vec::new(), Tally::default());
        while offset < length {
            let head = read(offset, self.head_bytes())?;
            let Some(mark) = head.map_or(Ok(None), |head| self.read(&head))? else { break };
            tally.mark(mark)?;
            let (Mark::Chunk { stored, .. } | Mark::End { stored, .. }) = mark;
            if u64::from(stored) < self.head_bytes() as u64 {
                return Err(damaged(format!("a chunk of {stored} bytes, less than its mark")));
            }
            if u64::from(stored) > length - offset {
                return Err(cut());
            }
            if let Mark::Chunk { stored, length, rows, checksum } = mark {
                tally.data(length as usize)?;
                locations.push(ChunkPlace { offset, stored, length, rows: Some(rows), checksum });
            }
            offset += u64::from(stored);
        }
        if !tally.is_whole() {
            let is_cut = length - offset < self.head_bytes() as u64;
            return Err(if is_cut { cut() } else { damaged("a chunk without a mark") });
        }
        // Anything but padding after the last mark is left to the stream reader.
        let may_be_padded = self.padded && offset > self.start.len() as u64;
        let is_over = offset == length || (may_be_padded && all_zeros(offset..length, read_at)?);
        Ok(is_over.then_some(locations))
    }

    /// The bytes after the mark of a chunk, which must agree with its location.
    pub(crate) fn after_mark<'a>(
        &self,
        compression: &'static str,
        location: &ChunkPlace,
        stored: &'a [u8],
    ) -> Result<&'a [u8], DecompressError> {
        let malformed = |reason: String| DecompressError::Malformed { compression, reason };
        let ChunkPlace { stored: bytes, length, rows, checksum, .. } = *location;
        let expected = rows.map(|rows| Mark::Chunk { stored: bytes, length, rows, checksum });
        let mark = self.read(stored).map_err(|error| malformed(error.to_string()))?;
        if mark.is_none() || mark != expected || stored.len() != bytes as usize {
            return Err(malformed("the mark of the chunk has changed".to_owned()));
        }
        Ok(&stored[self.head_bytes()..])
    }
}

/// Verifies the decompressed content against the marks.
#[derive(Default)]
pub(crate) struct Tally {
    /// The remaining bytes of the current chunk; `None` before the first mark and after the last one.
    left: Option<u32>,
    length: u32,
    count: u32,
}

impl Tally {
    pub(crate) fn mark(&mut self, mark: Mark) -> io::Result<()> {
        if self.left.is_some_and(|left| left > 0) {
            return Err(damaged("a chunk is shorter than its mark says"));
        }
        match mark {
            Mark::Chunk { stored, length, .. } => {
                if length as usize > LARGEST_CHUNK || u64::from(stored) > max_stored(length) {
                    return Err(damaged(format!("a chunk of {length} bytes in {stored}")));
                }
                self.left = Some(length);
                self.length = self.length.wrapping_add(length);
                self.count = self.count.wrapping_add(1);
            }
            Mark::End { length, count, .. } => {
                if (length, count) != (self.length, self.count) {
                    return Err(damaged(format!("{} chunks where the last mark says {count}", self.count)));
                }
                *self = Self::default();
            }
        }
        Ok(())
    }

    /// Whether the next bytes belong to a chunk, and so were written by `brc`.
    pub(crate) fn is_in_chunk(&self) -> bool {
        self.left.is_some()
    }

    /// Records decompressed bytes.
    pub(crate) fn data(&mut self, count: usize) -> io::Result<()> {
        let Some(left) = &mut self.left else { return Ok(()) };
        *left = u32::try_from(count)
            .ok()
            .and_then(|count| left.checked_sub(count))
            .ok_or_else(|| damaged("a chunk is longer than its mark says"))?;
        Ok(())
    }

    /// Checks the end of the file.
    pub(crate) fn end(&self) -> io::Result<()> {
        if self.is_whole() { Ok(()) } else { Err(cut()) }
    }

    fn is_whole(&self) -> bool {
        self.left.is_none()
    }
}

fn all_zeros(mut range: Range<u64>, read_at: &mut ReadAt<'_>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    while range.start < range.end {
        let count = usize::try_from(range.end - range.start).map_or(buffer.len(), |left| left.min(buffer.len()));
        read_at(range.start, &mut buffer[..count])?;
        if buffer[..count].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        range.start += count as u64;
    }
    Ok(true)
}

/// The maximum stored length of a chunk of this uncompressed length, for any compression.
fn max_stored(length: u32) -> u64 {
    u64::from(length) + u64::from(length / 4) + 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static AS_BYTES: Marks = Marks { start: b"start", before: b"before", spelling: MarkEncoding::Bytes, padded: true };
    static AS_BITS: Marks = Marks { start: b"", before: b"", spelling: MarkEncoding::EmptyBlocks, padded: false };

    fn find(marks: &Marks, heads: &[Mark]) -> io::Result<Option<Vec<ChunkPlace>>> {
        let mut file = marks.start.to_vec();
        heads.iter().for_each(|mark| file.extend(marks.head(*mark)));
        marks.find(file.len() as u64, &mut |offset, buffer| {
            buffer.copy_from_slice(&file[offset as usize..][..buffer.len()]);
            Ok(())
        })
    }

    #[test]
    fn forged_numbers_are_refused() {
        for marks in [&AS_BYTES, &AS_BITS] {
            assert!(marks.head_bytes() <= MAX_HEAD_BYTES);
            let own = marks.head_bytes() as u32;
            let chunk = |stored, length| Mark::Chunk { stored, length, rows: 1, checksum: 0 };
            let end = |length, count| Mark::End { stored: own, length, count };
            assert_eq!(find(marks, &[chunk(own, 9), end(9, 1)]).unwrap().unwrap().len(), 1);
            for cut in [[chunk(own, 9), chunk(own, 9)], [chunk(own * 2 + 1, 9), end(9, 1)]] {
                assert_eq!(find(marks, &cut).unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{cut:?}");
            }
            for forged in [
                [chunk(own, 9), end(8, 1)],
                [chunk(own, 9), end(9, 2)],
                [chunk(own - 1, 9), end(9, 1)],
                [chunk(0, 9), end(9, 1)],
                [chunk(u32::MAX, 9), end(9, 1)],
                [chunk(u32::MAX, u32::MAX), end(u32::MAX, 1)],
                [chunk(own, LARGEST_CHUNK as u32 + 1), end(LARGEST_CHUNK as u32 + 1, 1)],
            ] {
                assert_eq!(find(marks, &forged).unwrap_err().kind(), io::ErrorKind::InvalidData, "{forged:?}");
            }
        }
    }

    /// No flipped bit yields a different mark: the mark is damaged or not recognised, unless it is one of the last
    /// bits, which are unused.
    #[test]
    fn every_bit_of_a_mark_is_checked() {
        for (marks, spare_bits) in [(&AS_BYTES, 0), (&AS_BITS, 3)] {
            let mark = Mark::Chunk { stored: 500, length: 9, rows: 1, checksum: 7 };
            let head = marks.head(mark);
            let same = (0..head.len() * 8).filter(|bit| {
                let mut damaged = head.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let read = marks.read(&damaged);
                assert!(!matches!(read, Ok(Some(other)) if other != mark), "bit {bit}");
                matches!(read, Ok(Some(_)))
            });
            assert_eq!(same.count(), spare_bits);
        }
    }

    proptest! {
        #[test]
        fn marks_round_trip(stored: u32, length: u32, rows: u32, checksum: u32) {
            for mark in [Mark::Chunk { stored, length, rows, checksum }, Mark::End { stored, length, count: rows }] {
                for marks in [&AS_BYTES, &AS_BITS] {
                    let head = marks.head(mark);
                    prop_assert_eq!(head.len(), marks.head_bytes());
                    prop_assert_eq!(marks.read(&head).unwrap(), Some(mark));
                    prop_assert_eq!(marks.read(&head[..head.len() - 1]).unwrap(), None);
                }
            }
        }
    }
}
