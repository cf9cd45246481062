//! A table can skip rows and decode columns one by one if its scan knows what a query needs. This folder requests that,
//! and tests the rows that the scan delivers.
//!
//! In: a `Plan` and batches. Out: `ScanOptions` for the table; for each batch the wanted rows, and the columns
//! computed of them.
//!
//! Where to look:
//!
//! - columns, predicates, order and statistics that are requested: `options.rs`
//! - conditions, tested in the order of their costs, column by column where the table can (`Conditions`):
//!   `conditions.rs`
//! - columns computed of rows for keys and aggregates (`ComputedColumns`): `computed.rs`
//! - batches of which few rows are wanted (`FilteredBatch`): `filtered_batch.rs`
//! - rows and values of queries that group nothing (`Selector`): `selector.rs`
//! - what a scan did (`ScanTotals`): `totals.rs`

pub(crate) mod computed;
pub(crate) mod conditions;
pub(crate) mod filtered_batch;
mod options;
pub(crate) mod selector;
pub(crate) mod totals;
