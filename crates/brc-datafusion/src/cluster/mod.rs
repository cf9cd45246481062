//! Tables for engines that run on several machines.
//!
//! Such engines divide a plan into tasks, and the only leaves they can divide are file scans; of any other leaf, each
//! task would read all rows. A table is therefore a file scan here, with a subset of the splits as each file
//! ([`source`]). It is sent as plain data and opened where it is read, if the files there are the same ([`origin`]).
//! Grouping of one table is computed per partition, and DataFusion combines the results ([`combine`]); this is decided
//! in the logical plan, which every planner preserves. [`codec`] serialises all of that.

#[cfg(feature = "ballista")]
pub mod ballista;
#[cfg(feature = "codec")]
pub mod codec;
mod combine;
mod origin;
mod partial_groups;
mod remote_error;
mod source;

pub(crate) use combine::combined;
pub(crate) use origin::{FileReference, Origin};
pub(crate) use partial_groups::PartialGroups;
pub use remote_error::{decode_failure, failure_of, own_error};
pub use source::limit_memory;
pub(crate) use source::{PartitionQuery, SplitAssignment, scan_partitioned};
