//! A query that groups nothing shows rows of the table. How they are found depends on which are wanted: the first ones
//! end the scan early, the last ones and samples need one pass and little memory, sorted ones need all keys but few
//! other columns.
//!
//! In: a plan that groups nothing, and a table. Out: an answer, or a table of selected rows.
//!
//! Where to look:
//!
//! - the first rows: `first.rs`
//! - the last rows, or a random sample: `picked.rs`
//! - sorted rows, in memory or in sorted runs (`SortedRows`): `sorted.rs`
//! - the scan for keys alone that spares most rows of a top-k query: `top_k_prefilter.rs`
//! - selected rows as a table, nothing sorted (`SelectedRows`): `selected.rs`

pub(crate) mod first;
pub(crate) mod picked;
pub(crate) mod selected;
pub(crate) mod sorted;
mod top_k_prefilter;
