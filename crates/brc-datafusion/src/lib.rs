//! All of SQL over every file that brc reads: joins, windows, subqueries and `with` come from DataFusion, the rows from brc.
//!
//! A [`FileTable`] is a file, or several that are one table, as DataFusion sees it. It is read in as many parts at once as
//! there are splits and threads; conditions let it leave out row groups. Where a question groups the rows of one such table,
//! [`AggregateInFile`] has brc answer that part, which is what brc is made for; all else of the question stays DataFusion's.
//! [`session()`] puts it together.

#![forbid(unsafe_code)]

mod aggregate;
mod answer;
pub mod cluster;
mod error;
mod format;
mod grouped;
mod known;
mod leaf;
mod scan;
mod session;
mod sql;
mod table;
mod write;

pub use aggregate::AggregateInFile;
pub use format::{option_words, register_formats};
pub use session::{AGGREGATE_OPTION, CLUSTER_OPTION, session, session_within};
pub use table::{FileTable, Resources};
pub use write::write_rows;

/// The example of the README is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
