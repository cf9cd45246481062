//! buren: a dictionary-encoded columnar file whose rows lie in runs of one key and can be put back in order.
//!
//! Inside a row group the rows are stably partitioned by the *cluster key*, so every other column lies in runs, one run
//! a key. The key's own codes stay in original row order: the *order stream*. A group-by on the key folds contiguous
//! runs and never reads the order stream; walking the order stream gives back the original rows.
//!
//! [`Writer`] makes such a file out of batches, [`Reader`] lends batches from one; both through the traits of
//! [`brc_core::table`]. `SPEC.md` beside this crate describes every byte.

#![forbid(unsafe_code)]

mod array;
mod block;
mod cluster;
mod describe;
mod dictionary_blocks;
mod encoder;
mod footer;
mod footer_check;
mod footer_message;
mod integers;
mod pieces;
mod place;
mod reader;
mod restore;
mod run_decisions;
mod run_index;
mod run_table;
mod runs;
mod scan_column;
mod scanner;
mod schemes;
mod selection;
mod trailer;
pub mod v2;
mod verify;
mod writer;

#[allow(warnings, clippy::all, clippy::pedantic, clippy::unwrap_used)]
mod buren_capnp;

pub use describe::{BlockTotals, Bounds, ChunkDescription, ColumnDescription, FileDescription, RowGroupDescription};
pub use reader::Reader;
pub use trailer::{MAGIC, VERSION, check_magic};
pub use verify::Verified;
pub use writer::{Writer, WriterOptions};

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
