//! How strings lie in blocks.
//!
//! Most strings of real tables are short, and have more in common than a general compressor can use without giving up
//! access to each of them. So a block takes out what all its values share (`template`) and stores the rest in the
//! smallest of a few schemes (`schemes`): addresses and numbers as integers, values of few symbols in as few bits, and
//! text as codes of tokens that were trained on it. Each group of 1,024 rows can be decoded by itself.
//!
//! The values of a dictionary, which are sorted, lie in blocks of their own kind (`sorted`).

mod block;
mod buffers;
mod numbers;
mod sample;
mod schemes;
mod section;
mod sorted;
mod template;
#[cfg(test)]
mod tests;
mod tokens;
mod train;

use super::Malformed;

pub use block::{Candidate, Choice, Estimate, KnownTokens, StringBlock, encode, estimate, untrained_bytes};
pub use buffers::{StringBuffer, Strings};
pub use numbers::{NumberFormat, Numbers};
pub use sorted::{SortedBlock, encode_sorted, train_sorted};
pub use tokens::{Tokenizer, Tokens};
pub use train::train;

/// Rows that are decoded together: decoding starts at a multiple of them.
pub const GROUP: usize = 1024;

/// What is wrong where lengths and what is stored of values contradict each other.
const LENGTHS: Malformed = Malformed("the lengths of its values do not fit what is stored of them");

/// Buffers of a decoder, used again for the next block.
#[derive(Debug, Default)]
pub struct Scratch {
    lengths: Vec<u32>,
    codes: Vec<i16>,
    integers: Vec<i64>,
    left: StringBuffer,
}
