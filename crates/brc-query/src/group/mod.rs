//! This is the inner loop of a query that groups rows: each worker takes batches, finds the group of each wanted row,
//! and updates the states of its groups.
//!
//! In: a plan, a table, and the `Partitioning` that all workers share. Out: a `WorkerResult` of each worker, with
//! groups, partitioned rows and what was spilled.
//!
//! Where to look:
//!
//! - one worker: conditions, computed columns, keys, partitions, states (`GroupTable`): `table.rs`
//! - the scan by all workers, and what they found: `scan.rs`

mod scan;
pub(crate) mod table;
