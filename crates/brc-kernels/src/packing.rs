//! Unpacks words without their zero bytes, in the packed encoding of Cap'n Proto.
//!
//! A word is stored as a tag, with a bit for each of its nonzero bytes, followed by those bytes. A word of zeros is
//! followed by the number of further such words; a word without zero bytes by the number of words that follow unpacked.

use crate::cpu::Level;

/// The size of a word in bytes.
pub const WORD: usize = 8;

/// Why words cannot be unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The input ends before the last word.
    CutOff,
    /// A run of words continues beyond the last word.
    Overrun,
}

/// Unpacks as many words as fit in `out`; returns the number of bytes consumed. After an error, the contents of `out`
/// are unspecified.
///
/// # Errors
/// If the input is not a sequence of at least that many packed words.
///
/// # Panics
/// If the length of `out` is not a multiple of [`WORD`].
pub fn unpack(level: Level, packed: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    assert_eq!(out.len() % WORD, 0, "whole words");
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx2 | Level::Avx512 => unsafe { x86::unpack_bmi2(packed, out) },
        _ => unpack_with(packed, out, spread),
    }
}

/// `spread` moves successive bytes, starting with the lowest, to the positions where the tag has bits.
#[inline(always)]
fn unpack_with(packed: &[u8], out: &mut [u8], spread: impl Fn(u8, u64) -> u64) -> Result<usize, Fault> {
    let mut packed = Packed { bytes: packed, at: 0 };
    let mut rest = out;
    while let Some((word, tail)) = rest.split_first_chunk_mut::<WORD>() {
        rest = tail;
        let (tag, bytes) = packed.word()?;
        *word = spread(tag, bytes).to_le_bytes();
        if tag == 0 || tag == u8::MAX {
            let length = WORD * usize::from(packed.take(1)?[0]);
            let (run, tail) = rest.split_at_mut_checked(length).ok_or(Fault::Overrun)?;
            match tag {
                0 => run.fill(0),
                _ => run.copy_from_slice(packed.take(length)?),
            }
            rest = tail;
        }
    }
    Ok(packed.at)
}

struct Packed<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Packed<'a> {
    /// A tag and its bytes, the first one lowest; the bytes above them are unspecified.
    #[inline(always)]
    fn word(&mut self) -> Result<(u8, u64), Fault> {
        // Fast path: most words are far enough from the end for a full-size load.
        if let Some(&[tag, ref bytes @ ..]) = self.bytes[self.at..].first_chunk::<{ 1 + WORD }>() {
            self.at += 1 + tag.count_ones() as usize;
            return Ok((tag, u64::from_le_bytes(*bytes)));
        }
        let tag = self.take(1)?[0];
        let mut bytes = [0; WORD];
        let present = self.take(tag.count_ones() as usize)?;
        bytes[..present.len()].copy_from_slice(present);
        Ok((tag, u64::from_le_bytes(bytes)))
    }

    #[inline(always)]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let taken = self.bytes[self.at..].get(..count).ok_or(Fault::CutOff)?;
        self.at += count;
        Ok(taken)
    }
}

fn spread(tag: u8, bytes: u64) -> u64 {
    let mut word = 0;
    let mut bytes = bytes;
    for bit in 0..u8::BITS {
        let present = u64::from(tag >> bit & 1);
        word |= (bytes & (0xff * present)) << (8 * bit);
        bytes >>= 8 * present;
    }
    word
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Fault, unpack_with};
    use std::arch::x86_64::_pdep_u64;

    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    pub(super) fn unpack_bmi2(packed: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
        unpack_with(packed, out, |tag, bytes| {
            let present = _pdep_u64(tag.into(), 0x0101_0101_0101_0101) * 0xff;
            _pdep_u64(bytes, present)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unpacked(level: Level, packed: &[u8], words: usize) -> Result<(usize, Vec<u8>), Fault> {
        let mut out = vec![1; words * WORD];
        unpack(level, packed, &mut out).map(|taken| (taken, out))
    }

    #[test]
    fn words_are_what_the_specification_says() {
        let words = [&[0, 0, 12, 0, 0, 34, 0, 0][..], &[0; 24], &[1, 3, 2, 4, 5, 7, 6, 8], &[9; 16]].concat();
        let packed = [&[0x24, 12, 34, 0, 2, 0xff, 1, 3, 2, 4, 5, 7, 6, 8, 2][..], &[9; 16]].concat();
        for level in Level::available() {
            assert_eq!(unpacked(level, &packed, 7), Ok((packed.len(), words.clone())));
            assert_eq!(unpacked(level, &packed, 6), Err(Fault::Overrun));
            assert_eq!(unpacked(level, &packed, 8), Err(Fault::CutOff));
            assert_eq!(unpacked(level, &packed, 1), Ok((3, words[..8].to_vec())));
            for cut in 0..packed.len() {
                assert_eq!(unpacked(level, &packed[..cut], 7), Err(Fault::CutOff));
            }
        }
    }

    proptest! {
        #[test]
        fn all_levels_agree(packed in prop::collection::vec(prop_oneof![any::<u8>(), 0u8..3], 0..300), words in 0usize..40) {
            let portable = unpacked(Level::Portable, &packed, words);
            for level in Level::available() {
                prop_assert_eq!(unpacked(level, &packed, words), portable.clone());
            }
        }
    }
}
