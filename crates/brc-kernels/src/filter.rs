//! Which rows are wanted, as one bit a row, and the values of just those rows.
//!
//! A mask is a slice of 64-bit words: the bit of row `r` is bit `r % 64` of word `r / 64`, and bits behind the last row
//! are 0.

mod codes;
mod compress;
mod range;

pub use codes::{CodeSet, bytes};
pub use compress::{Lane, blend, compress, compress_runs};
pub use range::range;

/// The number of words in a mask of so many rows.
#[must_use]
pub const fn words(rows: usize) -> usize {
    rows.div_ceil(64)
}

/// The bits that stand for rows in word `word` of a mask of `rows` rows.
#[must_use]
pub const fn valid_bits(rows: usize, word: usize) -> u64 {
    match rows.saturating_sub(word * 64) {
        0 => 0,
        rest @ 1..64 => (1 << rest) - 1,
        _ => u64::MAX,
    }
}
