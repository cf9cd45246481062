//! How a column chunk of integers is stored.
//!
//! Bools, dates, times, decimals, integers and the codes of dictionaries are all integers of up to 64 bits here. A [`Plan`]
//! picks the scheme that makes a chunk smallest and encodes it block by block; a [`Chunk`] decodes any part of any block
//! into integers as narrow as the caller likes. What all blocks share, such as a dictionary, is in the chunk's
//! *parameters*. `SPEC.md` beside this crate describes every byte.
//!
//! Nothing that is decoded is trusted: lengths are checked before they are used, and whatever else the bytes say leads to
//! some integers or to [`Malformed`], never to a panic or to more memory than the values need.
//!
//! [`Malformed`]: super::Malformed

mod chunk;
mod constant;
mod delta;
mod dictionary;
mod difference;
mod divisor;
mod facts;
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

pub use crate::integer_buffer::IntegerSlice;
pub use chunk::{Block, Chunk, Decodable};
pub use difference::DIFFERENCE;
pub use plan::{Candidate, Plan};
pub use scheme::scheme_name;

/// How many rows a block has; the last one of a chunk takes the rest.
///
/// Large enough that the 16 to 32 bytes a block needs for itself are nothing, small enough that a position fits in 16 bits
/// and that a block stays in the second-level cache.
pub const BLOCK_ROWS: usize = 65_536;

/// How many rows are packed together; blocks are decoded from any multiple of it on.
pub const GROUP_ROWS: usize = brc_kernels::bitpack::GROUP;
