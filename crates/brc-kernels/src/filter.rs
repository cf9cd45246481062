//! Selects rows with a mask of one bit per row, and filters values by it.
//!
//! A mask is a slice of 64-bit words: the bit of row `r` is bit `r % 64` of word `r / 64`, and bits after the last row
//! are 0.

mod changes;
mod codes;
mod compare;
mod compress;
mod numbers;
mod place;
mod range;

use crate::cpu::{Kernel, Level, run_at};

pub use changes::mark_changes;
pub use codes::{CodeSet, bytes};
pub use compare::{compare_floats, compare_integers};
pub use compress::{Lane, blend, compress, compress_runs};
pub use numbers::row_numbers;
pub use place::{fill, place};
pub use range::range;

/// The number of selected rows in a mask.
#[must_use]
pub fn count(level: Level, mask: &[u64]) -> usize {
    run_at(level, Count(mask))
}

struct Count<'a>(&'a [u64]);

impl Kernel for Count<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The number of words in a mask of `rows` rows.
#[must_use]
pub const fn words(rows: usize) -> usize {
    rows.div_ceil(64)
}

/// The bits of word `word` that represent rows, in a mask of `rows` rows.
#[must_use]
pub const fn valid_bits(rows: usize, word: usize) -> u64 {
    match rows.saturating_sub(word * 64) {
        0 => 0,
        rest @ 1..64 => (1 << rest) - 1,
        _ => u64::MAX,
    }
}

/// Collects 64 bytes that are 0 or 1 into a word, eight at a time with one multiplication.
#[inline(always)]
fn gathered(bytes: &[u8; 64]) -> u64 {
    let (eights, _) = bytes.as_chunks::<8>();
    eights.iter().rev().fold(0, |word, &eight| {
        let bits = u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word << 8 | bits
    })
}

/// The lower and upper half of each word of a mask.
#[inline(always)]
fn halves(mask: &[u64]) -> impl Iterator<Item = u32> {
    mask.iter().flat_map(|&word| [word as u32, (word >> 32) as u32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_rows_are_counted() {
        for level in Level::available() {
            for words in [0, 1, 7, 8, 64, 65] {
                let mask: Vec<u64> = (0..words).map(|word| 0x9e37_79b9_7f4a_7c15u64.rotate_left(word)).collect();
                let expected: u32 = mask.iter().map(|word| word.count_ones()).sum();
                assert_eq!(count(level, &mask), expected as usize);
            }
        }
    }
}
