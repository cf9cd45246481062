//! Blocks with the baseline instruction set: on x86-64 that is SSE2, elsewhere plain Rust, eight bytes at a time.

use super::blocks::{BLOCK, Blocks};
use crate::isa::Portable;

/// A mask of the bytes of the block that equal `needle`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn equal_bytes(words: &[u64; BLOCK / 8], needle: u8) -> u64 {
    use std::arch::x86_64::*;
    let mut mask = 0;
    for (part, index) in words.as_chunks::<2>().0.iter().zip(0..) {
        // SAFETY: every processor of the target has SSE2, and two words are sixteen bytes.
        let bits = unsafe {
            let bytes = _mm_loadu_si128(part.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(needle as i8)))
        };
        mask |= (bits as u64) << (16 * index);
    }
    mask
}

/// The number of bytes of the block that equal `needle`. There is no instruction to count the bits of a mask.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn count_bytes(words: &[u64; BLOCK / 8], needle: u8) -> usize {
    use std::arch::x86_64::*;
    // SAFETY: every processor of the target has SSE2, and two words are sixteen bytes.
    unsafe {
        let mut counts = _mm_setzero_si128();
        for part in words.as_chunks::<2>().0 {
            let bytes = _mm_loadu_si128(part.as_ptr().cast());
            // A comparison yields -1.
            counts = _mm_sub_epi8(counts, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(needle as i8)));
        }
        let two = _mm_sad_epu8(counts, _mm_setzero_si128());
        _mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))) as usize
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn count_bytes(words: &[u64; BLOCK / 8], needle: u8) -> usize {
    equal_bytes(words, needle).count_ones() as usize
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn equal_bytes(words: &[u64; BLOCK / 8], needle: u8) -> u64 {
    equal_in_words(words, needle)
}

/// The same in plain Rust.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(always)]
fn equal_in_words(words: &[u64; BLOCK / 8], needle: u8) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const LOW: u64 = 0x7f * ONES;
    let pattern = ONES * u64::from(needle);
    let mut mask = 0;
    for (word, index) in words.iter().zip(0..) {
        let difference = word ^ pattern;
        // The highest bit of each byte that is 0, moved to the lowest; no carry leaves its byte.
        let equal = !(((difference & LOW) + LOW) | difference | LOW) >> 7;
        // The multiplication collects the eight bits in the highest byte.
        let bits = equal.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * index);
    }
    mask
}

impl Blocks for Portable {
    #[inline(always)]
    unsafe fn positions(block: &[u8; BLOCK], needle: u8) -> u64 {
        let mut words = [0; BLOCK / 8];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        equal_bytes(&words, needle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_bytes_are_found(bytes in prop::collection::vec(0u8..4, BLOCK), high in any::<bool>()) {
            let byte = |at: usize| bytes[at] ^ if high { 0x80 } else { 0 };
            let word = |word| u64::from_le_bytes(std::array::from_fn(|at| byte(8 * word + at)));
            let words: [u64; BLOCK / 8] = std::array::from_fn(word);
            let expected = (0..BLOCK).fold(0, |mask, at| mask | u64::from(byte(at) == 0x81) << at);
            prop_assert_eq!(equal_bytes(&words, 0x81), expected);
            prop_assert_eq!(equal_in_words(&words, 0x81), expected);
            prop_assert_eq!(count_bytes(&words, 0x81), expected.count_ones() as usize);
        }
    }
}
