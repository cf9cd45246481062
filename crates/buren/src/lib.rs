//! buren: a compact columnar file format for tables, fast to query, that restores the original row order.
//!
//! A file consists of row groups; a row group has one column chunk per column; a chunk is stored in blocks of up to
//! 65,536 rows, and a block is decoded in groups of 1,024 rows.
//!
//! Each chunk is stored by the scheme that makes it smallest. Row groups can be *clustered*: their rows are stably
//! partitioned by a key, so every other column lies in runs, one run per key value. The sequence of the rows' runs in
//! original order is the *order stream*. A group-by on the key merges contiguous runs and never reads the order stream;
//! walking the order stream restores the original rows.
//!
//! Values are encoded into blocks by pure functions on slices and bytes ([`integers`], [`floats`], [`strings`],
//! [`validity`]). The module `file` handles row groups, chunks, statistics and checksums.
//!
//! [`Writer`] writes a file from batches, [`Reader`] reads batches from a file; both implement the traits of
//! [`brc_core::table`]. `SPEC.md` in this crate describes every byte.

#![forbid(unsafe_code)]

mod array;
mod block;
mod description;
mod envelope;
mod file;
pub mod floats;
mod integer_buffer;
mod integer_slice;
pub mod integers;
mod location;
mod malformed;
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

/// Compiles and runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
