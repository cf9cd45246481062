//! Queries on any [`brc_core::Table`], whatever its encoding.
//!
//! A [`Query`] refers to columns by name. [`Query::ask`] runs it on a table in two steps: [`Query::plan`] binds it to
//! the schema, and [`Plan::run`] scans the table with several threads and returns an [`Answer`]. A [`Plan`] is
//! plain serialisable data. To scan parts of a table elsewhere, use [`Plan::over`] and [`Plan::partial`] for each part,
//! and [`Plan::answer`] for all [`Partial`]s; [`Partial::scatter`] lets several processes merge them.
//!
//! ```
//! use brc_query::{Expression, OrderBy, Query};
//! # use brc_core::Table;
//! # fn ask(table: &dyn Table) -> brc_core::Result<()> {
//! let query = Query {
//!     aggregates: Some(Expression::parse_list("mean(temperature),count()")?),
//!     filter: Some(Expression::parse("station in ('Abha', 'Hamburg')")?),
//!     order_by: OrderBy::parse_list("mean(temperature) desc")?,
//!     ..Query::default()
//! };
//! let (_, answer) = query.ask(table, 4, &brc_core::Progress::default())?;
//! for block in answer.blocks() {
//!     for row in block?.rows() {
//!         for (column, value) in answer.schema().fields().iter().zip(row) {
//!             match value {
//!                 Some(value) => println!("{} = {}", column.name, value.to_text(column.logical_type)),
//!                 None => println!("{} is null", column.name),
//!             }
//!         }
//!     }
//! }
//! println!("{} rows read", answer.totals().rows);
//! # Ok(())
//! # }
//! ```
//!
//! # Stages
//!
//! A query passes through one folder after the other. A folder imports only from those before it in this list, which
//! `tests/stages.rs` checks.
//!
//! What the stages share:
//!
//! 1. `runtime`: memory limits, work on several threads, sorts that Ctrl-C interrupts.
//! 2. `values`: columns that expressions and answers own, selections of rows, errors in batches.
//! 3. `functions`: scalar functions, a file for each, and the typed expressions that they are part of.
//! 4. `keys`: from key columns to group ids, and keys encoded as words that sort as the keys do.
//! 5. `evaluate`: expressions and predicates over batches.
//! 6. `states`: accumulators, columns of state with an entry for each group.
//! 7. `aggregates`: aggregate functions, a file for each, and the states that they are computed from.
//!
//! From a text to a plan:
//!
//! 8. `sql`: a text becomes a [`Query`] of [`Expression`]s.
//! 9. `bind`: names become columns, expressions get types.
//! 10. `plan`: a query and a schema become a [`Plan`].
//!
//! From a plan to an answer:
//!
//! 11. `scan`: what a plan requests of a table's scan; which rows of a batch it selects, and what is computed of them.
//! 12. `accumulate`: the states of all groups of a worker, and the [`Partial`] that they become.
//! 13. `finish`: groups become sorted rows.
//! 14. `partitions`: many groups are radix-partitioned, merged partition by partition, and spilled if memory is short.
//! 15. `group`: a worker takes batches, finds groups and updates their states.
//! 16. `answer`: an [`Answer`], whose rows are in memory or are made while they are read.
//! 17. `rows`: queries that group nothing, with first, last, random and sorted rows.
//! 18. `run`: chooses how to execute a plan on a table, and does so.
//!
//! Mistakes in a query are [`brc_core::Error::Usage`], or [`brc_core::Error::TypeMismatch`] if the query would be valid
//! for other column types; a [`SyntaxError`] converts into one of them.

#![forbid(unsafe_code)]

mod accumulate;
mod aggregates;
mod answer;
mod bind;
mod evaluate;
mod finish;
mod functions;
mod group;
mod keys;
mod partitions;
mod plan;
mod rows;
mod run;
mod runtime;
mod scan;
mod sql;
mod states;
mod values;

pub use accumulate::partial::Partial;
pub use aggregates::{AGGREGATES, AggregateFunction, EXAMPLE_TABLE, Form};
pub use answer::Answer;
pub use answer::rows::{Row, RowBlock};
pub use functions::{CONSTRUCTS, Construct, FUNCTIONS, Function, OPERATORS};
pub use keys::access_path::{AccessPath, RowsByAccessPath};
pub use plan::Plan;
pub use rows::selected::SelectedRows;
pub use runtime::memory::Memory;
pub use scan::totals::ScanTotals;
pub use sql::expression::{Expression, OrderBy, SelectItem};
pub use sql::query::{Pick, Query};
pub use sql::{Action, Statement, SyntaxError, TableName};

#[cfg(test)]
mod tests;

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
