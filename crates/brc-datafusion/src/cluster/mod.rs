//! Tables as engines on several machines see them.
//!
//! Such engines cut a plan into tasks, and of the leaves of plans they know how to cut scans of files only: of any other one each
//! task would read all rows. So a table is a scan of files here, of which each is a part of the splits ([`source`]); it travels as
//! plain data and is opened where it is read, if the files there are the same ([`origin`]). What is grouped of one table is asked
//! of each part, and DataFusion puts the answers together ([`combine`]): that is decided in the logical plan, which every planner
//! keeps. [`codec`] makes bytes of all that.

#[cfg(feature = "ballista")]
pub mod ballista;
#[cfg(feature = "codec")]
pub mod codec;
mod combine;
mod origin;
mod part_table;
mod source;
mod told;

pub(crate) use combine::{combined, with_exact_sums};
pub(crate) use origin::{Origin, SentTable};
pub(crate) use part_table::PartTable;
pub use source::limit_memory;
pub(crate) use source::{Asked, Dealt, scan_in_parts};
pub use told::{failure_of, heard, own_error};
