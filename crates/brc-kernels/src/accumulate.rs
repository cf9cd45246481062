//! Counts, sums, minima and maxima: of one run of values at the speed of the L1 cache, and of many groups at once, with
//! rows sorted by group (runs) or not.
//!
//! Sums are exact for any number of rows: accumulators are widened before they can overflow.

mod few;
pub mod floats;
mod groups;
mod largest;
mod long;
mod one_slot;
mod operands;
mod pieces;
mod rows;
mod run;
mod run_sums;
pub(crate) mod slots;
mod split;
pub mod table;

pub use groups::GroupStatistics;
pub(crate) use groups::{FULL, ROOM};
pub use largest::{keep_largest, ordered_float, ordered_floats};
pub use run::{statistics, statistics_i16, statistics_i32, statistics_i64};
pub use slots::{UnknownGroup, each_run};
