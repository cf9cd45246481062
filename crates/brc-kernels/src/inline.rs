//! Short strings as words: their bytes, the first in the highest bits, followed by their length, so that words compare
//! like the strings.
//!
//! Millions of mostly distinct strings are grouped by such words, and splitting each string into words takes as long as
//! finding its group. Here a string is one register.

use crate::cpu::Level;
use std::ops::Range;

/// Strings of more bytes are not supported.
pub const LONGEST: usize = 64;

/// The number of bits of the length of strings of up to `longest` bytes.
fn length_bits(longest: usize) -> u32 {
    usize::BITS - longest.leading_zeros()
}

/// The number of words of strings of up to `longest` bytes.
#[must_use]
pub fn words(longest: usize) -> usize {
    (8 * longest + length_bits(longest) as usize).div_ceil(64).max(1)
}

/// Writes strings, each of which is in `bytes` from one offset to the next, to the first words of tuples of `width`
/// words: padded with zeros to `longest` bytes, then the length. Tuples of strings that are longer or not within
/// `bytes` are unchanged.
///
/// # Panics
/// If `longest` exceeds [`LONGEST`], a tuple has fewer [words] than needed, or the numbers of tuples and strings
/// differ.
pub fn write(level: Level, offsets: &[i32], bytes: &[u8], longest: usize, tuples: &mut [u64], width: usize) {
    assert!(longest <= LONGEST && words(longest) <= width, "a string fits a tuple");
    assert_eq!(offsets.len().saturating_sub(1) * width, tuples.len(), "as many tuples as strings");
    let rows = Rows { offsets, bytes, longest, width };
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::write(rows, tuples) },
        _ => rows.each(tuples, |string, tuple| {
            for (word, at) in tuple.iter_mut().zip(string.clone().step_by(8)) {
                *word = word_at(bytes, at..string.end);
            }
        }),
    }
}

/// The first eight bytes in a range that is not empty, padded with zeros.
#[inline(always)]
fn word_at(bytes: &[u8], range: Range<usize>) -> u64 {
    // Bytes after the string are masked: to copy a number of bytes that varies takes longer.
    if let Some(eight) = bytes[range.start..].first_chunk() {
        return u64::from_be_bytes(*eight) & !u64::MAX.checked_shr(8 * range.len() as u32).unwrap_or(0);
    }
    let mut eight = [0; 8];
    eight[..range.len()].copy_from_slice(&bytes[range]);
    u64::from_be_bytes(eight)
}

/// Strings and the shape of their tuples.
#[derive(Debug, Clone, Copy)]
struct Rows<'a> {
    offsets: &'a [i32],
    bytes: &'a [u8],
    longest: usize,
    width: usize,
}

impl Rows<'_> {
    /// Calls `write` with the range of each string that is not too long, and appends the length.
    #[inline(always)]
    fn each(self, tuples: &mut [u64], write: impl Fn(Range<usize>, &mut [u64])) {
        let (word, used) = (self.longest / 8, 8 * (self.longest % 8) as u32);
        let shift = 64 - used - length_bits(self.longest);
        for (pair, tuple) in self.offsets.windows(2).zip(tuples.chunks_exact_mut(self.width)) {
            let string = pair[0] as usize..pair[1] as usize;
            if string.start <= string.end && string.end <= self.bytes.len() && string.len() <= self.longest {
                write(string.clone(), tuple);
                if let Some(word) = tuple.get_mut(word) {
                    *word |= (string.len() as u64) << (shift & 63);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LONGEST, Rows};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,bmi2")]
    pub(super) fn write(rows: Rows<'_>, tuples: &mut [u64]) {
        let reversed = _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
        // The words of a string, excluding its length.
        let written = rows.longest.div_ceil(8).min(LONGEST / 8) as u32;
        let words = _bzhi_u32(0xff, written) as __mmask8;
        rows.each(tuples, |string, tuple| {
            debug_assert!(string.len() <= LONGEST && written as usize <= tuple.len());
            let inside = _bzhi_u64(u64::MAX, string.len() as u32);
            // SAFETY: only the bytes of the string are loaded, at most 64.
            let bytes = unsafe { _mm512_maskz_loadu_epi8(inside, rows.bytes[string].as_ptr().cast()) };
            let bytes = _mm512_shuffle_epi8(bytes, reversed);
            // SAFETY: a tuple has at least as many words as are stored.
            unsafe { _mm512_mask_storeu_epi64(tuple.as_mut_ptr().cast(), words, bytes) };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reference implementation, bit by bit.
    fn expected(string: &[u8], longest: usize, width: usize) -> Vec<u64> {
        let mut bits = vec![false; width * 64];
        if string.len() <= longest {
            let bit = |byte: u8, bit: usize| byte >> (7 - bit) & 1 == 1;
            string
                .iter()
                .flat_map(|&byte| (0..8).map(move |at| bit(byte, at)))
                .zip(&mut bits)
                .for_each(|(from, to)| *to = from);
            let of_length = length_bits(longest) as usize;
            (0..of_length).for_each(|at| bits[8 * longest + at] = string.len() >> (of_length - 1 - at) & 1 == 1);
        }
        let word = |bits: &[bool]| bits.iter().fold(0, |word, &bit| word << 1 | u64::from(bit));
        bits.chunks(64).map(word).collect()
    }

    fn check(strings: &[Vec<u8>], longest: usize, more: usize) {
        let mut offsets = vec![0];
        offsets.extend(strings.iter().scan(0, |end, string| {
            *end += string.len() as i32;
            Some(*end)
        }));
        let (bytes, width) = (strings.concat(), words(longest) + more);
        let expected: Vec<u64> = strings.iter().flat_map(|string| expected(string, longest, width)).collect();
        for level in Level::available() {
            let mut tuples = vec![0; strings.len() * width];
            write(level, &offsets, &bytes, longest, &mut tuples, width);
            assert_eq!(tuples, expected, "{level:?} {longest}");
        }
    }

    proptest! {
        #[test]
        fn strings_are_words(strings in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 0..20), more in 0usize..3) {
            (0..=LONGEST).for_each(|longest| check(&strings, longest, more));
        }
    }

    #[test]
    fn invalid_strings_are_skipped() {
        for level in Level::available() {
            let mut tuples = [7; 3];
            write(level, &[0, 4, 3, 9], b"abcdef", 4, &mut tuples, 1);
            assert_eq!(tuples, [u64::from(u32::from_be_bytes(*b"abcd")) << 32 | 4 << 29, 7, 7]);
        }
    }

    #[test]
    #[should_panic(expected = "a string fits a tuple")]
    fn too_few_words_are_refused() {
        write(Level::best(), &[0, 1], b"a", 8, &mut [0], 1);
    }
}
