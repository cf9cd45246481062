//! Encoding of strings in blocks.
//!
//! Most strings in real tables are short and have more in common than a general compressor can exploit without giving
//! up random access. So a block stores once what all its values have in common (`template`) and the rest in the
//! smallest of several schemes (`schemes`): addresses and numbers as integers, values over a small alphabet in few
//! bits, and text as codes of tokens trained on it. Each group of 1,024 rows can be decoded on its own.
//!
//! The sorted values of a dictionary have their own kind of block (`sorted`).

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

/// The number of rows that are decoded together; decoding starts at a multiple of it.
pub const GROUP: usize = 1024;

/// The error for lengths that contradict the stored values.
const LENGTHS: Malformed = Malformed("the lengths of its values do not fit what is stored of them");

/// Buffers of a decoder, reused for the next block.
#[derive(Debug, Default)]
pub struct Scratch {
    lengths: Vec<u32>,
    codes: Vec<i16>,
    integers: Vec<i64>,
    left: StringBuffer,
}
