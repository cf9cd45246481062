//! All of SQL over every file that brc reads: joins, windows, subqueries and `with` come from DataFusion, the rows from
//! brc.
//!
//! A [`FileTable`] is a file, or several files, as a table of DataFusion. It has as many partitions as there are splits
//! and threads, and conditions prune row groups. Where a query groups the rows of one such table, [`AggregateInFile`]
//! lets brc compute that part; the rest of the query is left to DataFusion. [`session()`] sets everything up.

#![forbid(unsafe_code)]

mod aggregate;
mod answer;
pub mod cluster;
mod error;
mod format;
mod functions;
mod grouped;
mod leaf;
mod scan;
mod session;
mod sql;
mod statistics;
mod table;
mod write;

pub use aggregate::AggregateInFile;
pub use format::{option_words, register_formats};
pub use functions::register_functions;
pub use session::{AGGREGATE_OPTION, CLUSTER_OPTION, session, session_within};
pub use table::{FileTable, Resources};
pub use write::write_rows;

/// Compiles the example of the README as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
