//! Encoding of integer column chunks.
//!
//! Bools, dates, times, decimals, integers and dictionary codes are all integers of up to 64 bits here. A [`Plan`]
//! chooses the scheme that makes a chunk smallest and encodes it block by block; a [`Chunk`] decodes any group of any
//! block into integers as narrow as the caller wants. What all blocks share, such as a dictionary, is in the chunk's
//! *parameters*. `SPEC.md` in this crate describes every byte.
//!
//! Decoders trust nothing: lengths are checked before use, and other damage yields some integers or [`Malformed`],
//! never a panic or more memory than the values need.
//!
//! [`Malformed`]: super::Malformed

mod chunk;
mod chunk_statistics;
mod constant;
mod delta;
mod dictionary;
mod difference;
mod divisor;
mod packed;
mod periodic;
mod plain;
mod plan;
mod progression;
mod run_length;
mod scheme;
mod spread;
mod stream;
#[cfg(test)]
mod tests;
pub mod wide;

pub(crate) use packed::{PACKED, decode_in_runs};
pub(crate) use spread::positions as sample_rows;
pub(crate) use stream::patch;

pub use crate::integer_slice::IntegerSlice;
pub use chunk::{Block, Chunk, Decodable};
pub use difference::DIFFERENCE;
pub use plan::{Candidate, Plan};
pub use scheme::scheme_name;

/// The number of rows of a block; the last block of a chunk has the rest.
///
/// Large enough that the 16 to 32 bytes of overhead per block are negligible, small enough that a row number fits 16
/// bits and a block stays in the second-level cache.
pub const BLOCK_ROWS: usize = 65_536;

/// The number of rows that are packed together; decoding can start at any multiple of it.
pub const GROUP_ROWS: usize = brc_kernels::bitpack::GROUP;
