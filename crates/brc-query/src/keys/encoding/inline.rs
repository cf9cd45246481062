//! Short strings encoded as their bytes, word by word, followed by their length.

use super::bits::bits_of;
use brc_core::ByteStrings;

/// The bits of each piece of a string of up to `longest` bytes: words of bytes, then the length.
pub(crate) fn pieces(longest: usize) -> impl Iterator<Item = u32> {
    let words = (0..longest.div_ceil(8)).map(move |word| 8 * (longest - word * 8).min(8) as u32);
    words.chain([bits_of(longest as u64)])
}

/// A piece of that string, which has this many bits.
pub(crate) fn piece(string: &[u8], index: usize, bits: u32, longest: usize) -> u64 {
    match index * 8 >= longest {
        true => string.len() as u64,
        false => word_of(string, index * 8, string.len()) >> (64 - bits),
    }
}

/// The pieces of that index of all strings that are not null nor too long; 0 for others.
pub(crate) fn pieces_of(
    strings: ByteStrings<'_>,
    (index, bits): (usize, u32),
    longest: usize,
    is_null: impl Fn(usize) -> bool,
    column_words: &mut Vec<u64>,
) {
    let (offsets, bytes) = strings.parts();
    let is_length = index * 8 >= longest;
    column_words.clear();
    column_words.extend(offsets.windows(2).enumerate().map(|(row, pair)| {
        let (start, end) = (pair[0] as usize, pair[1] as usize);
        match end - start {
            length if length > longest || is_null(row) => 0,
            length if is_length => length as u64,
            _ => word_of(bytes, start + index * 8, end) >> (64 - bits),
        }
    }));
}

/// Up to eight of the bytes from `start` on, the first in the upper bits.
#[inline]
fn word_of(bytes: &[u8], start: usize, end: usize) -> u64 {
    let length = end.saturating_sub(start).min(8);
    if length == 0 {
        return 0;
    }
    match bytes.get(start..start + 8) {
        Some(eight) => {
            let mut word = [0; 8];
            word.copy_from_slice(eight);
            u64::from_be_bytes(word) & u64::MAX << (64 - 8 * length)
        }
        None => bytes[start..start + length].iter().rev().fold(0, |word, &byte| word >> 8 | u64::from(byte) << 56),
    }
}

/// Appends the string of these pieces, each with its bits.
pub(crate) fn write(pieces: impl Iterator<Item = (u64, u32)>, longest: usize, out: &mut Vec<u8>) {
    let start = out.len();
    for (piece, bits) in pieces {
        match out.len() - start {
            written if written < longest => out.extend_from_slice(&piece.to_be_bytes()[8 - bits as usize / 8..]),
            _ => out.truncate(start + piece as usize),
        }
    }
}
