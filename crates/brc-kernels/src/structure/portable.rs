//! Blocks in plain Rust: eight bytes at a time.

use super::blocks::{BLOCK, Blocks, Masks, Needles};
use crate::isa::Portable;

const ONES: u64 = u64::from_le_bytes([1; 8]);

/// A bit for each byte of the block that equals `needle`.
#[inline(always)]
pub(crate) fn equal_bytes(words: &[u64; BLOCK / 8], needle: u8) -> u64 {
    const LOW: u64 = 0x7f * ONES;
    let pattern = ONES * u64::from(needle);
    let mut mask = 0;
    for (word, index) in words.iter().zip(0..) {
        let difference = word ^ pattern;
        // The highest bit of each byte that is 0, moved to the lowest; no carry leaves a byte.
        let equal = !(((difference & LOW) + LOW) | difference | LOW) >> 7;
        // The multiplication puts the eight bits side by side into the highest byte.
        let bits = equal.wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * index);
    }
    mask
}

impl Blocks for Portable {
    #[inline(always)]
    unsafe fn masks(needles: &Needles, block: &[u8; BLOCK]) -> Masks {
        let mut words = [0; BLOCK / 8];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Masks {
            delimiters: equal_bytes(&words, needles.delimiter),
            line_ends: equal_bytes(&words, needles.line_end),
            quotes: equal_bytes(&words, needles.quote),
            comments: if needles.comments == 0 { 0 } else { equal_bytes(&words, needles.comment) },
            returns: equal_bytes(&words, b'\r') & needles.returns,
        }
    }
}
