//! A plan computes several aggregates of several columns. This folder keeps the states of all of them together, so
//! that a batch is filtered once for each column, and states that only add up share a row of slots for each group.
//!
//! In: a batch, a selection and the group of each row. Out: a `Partial`: the keys, row counts and states of all
//! groups, as plain data that merges and may travel.
//!
//! Where to look:
//!
//! - states during a scan (`Accumulators`), and their update by (value, count) rows: `accumulators/mod.rs`,
//!   `accumulators/weighted.rs`
//! - values that are wanted and not null, with their groups (`FilteredValues`): `filtered_values.rs`
//! - groups after a scan, and how two partials become one (`Partial`): `partial.rs`
//! - a partial without rows: `empty.rs`
//! - partials cut by key hash, for several processes: `scatter.rs`

pub(crate) mod accumulators;
mod empty;
pub(crate) mod filtered_values;
pub(crate) mod partial;
mod scatter;
