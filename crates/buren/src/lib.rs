//! buren: a columnar file of any table, small and fast to ask, whose rows come back in their order.
//!
//! Each column of each row group is stored by the scheme that makes it smallest (version 2, `v2`). Tables of strings and
//! numbers that one key answers are *clustered* (version 1, `v1`): inside a row group the rows are stably partitioned by the
//! key, so every other column lies in runs, one run a key. The key's own codes stay in original row order: the *order
//! stream*. A group-by on the key folds contiguous runs and never reads the order stream; walking the order stream gives
//! back the original rows.
//!
//! [`Writer`] makes such a file out of batches, [`Reader`] lends batches from one; both through the traits of
//! [`brc_core::table`]. `SPEC.md` beside this crate describes every byte.

#![forbid(unsafe_code)]

mod array;
mod block;
mod description;
mod envelope;
mod integer_buffer;
mod place;
mod reader;
mod run_statistics;
mod trailer;
mod v1;
pub mod v2;
mod writer;

#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
mod buren_capnp;

#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
mod buren2_capnp;

pub use description::{BlockTotals, Bounds, ChunkDescription, ColumnDescription, FileDescription, RowGroupDescription};
pub use reader::{Reader, Verified};
pub use trailer::{MAGIC, VERSION, check_magic};
pub use writer::{Key, Writer, WriterOptions};

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
