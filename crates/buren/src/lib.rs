//! buren: a columnar file of any table, small and fast to ask, whose rows come back in their order.
//!
//! Each column of each row group is stored by the scheme that makes it smallest. Tables that a key answers are *clustered*:
//! inside a row group the rows are stably partitioned by the key, so every other column lies in runs, one run a key. The runs
//! of the rows in their original order are the *order stream*. A group-by on the key folds contiguous runs and never reads
//! the order stream; walking the order stream gives back the original rows.
//!
//! How values lie in blocks is decided by pure functions between slices and bytes ([`integers`], [`floats`], [`strings`],
//! [`validity`]); row groups, chunks, statistics and checksums are the business of `file`.
//!
//! [`Writer`] makes such a file out of batches, [`Reader`] lends batches from one; both through the traits of
//! [`brc_core::table`]. `SPEC.md` beside this crate describes every byte.

#![forbid(unsafe_code)]

mod array;
mod block;
mod description;
mod envelope;
mod file;
pub mod floats;
mod integer_buffer;
pub mod integers;
mod malformed;
mod place;
mod run_statistics;
mod slots;
pub mod strings;
mod trailer;
pub mod validity;

#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
mod buren_capnp;

pub use description::{BlockTotals, Bounds, ChunkDescription, ColumnDescription, FileDescription, RowGroupDescription};
pub use file::{Key, Reader, Verified, Writer, WriterOptions};
pub use malformed::Malformed;
pub use trailer::{MAGIC, VERSION, check_magic};

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
