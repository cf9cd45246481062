//! Queries on any [`brc_core::Table`], whatever its encoding.
//!
//! A [`Query`] refers to columns by name. [`Query::ask`] runs it on a table in two steps: [`Query::plan`] binds it to
//! the schema, and [`Plan::run`] scans the table with several threads and returns a [`QueryResult`]. A [`Plan`] is
//! plain serialisable data. To scan parts of a table elsewhere, use [`Plan::over`] and [`Plan::partial`] for each part, and
//! [`Plan::answer`] for all [`Partial`]s; [`Partial::scatter`] lets several processes merge them.
//!
//! ```
//! use brc_query::{Expression, OrderBy, Query};
//! # fn ask(table: &dyn brc_core::Table) -> brc_core::Result<()> {
//! let query = Query {
//!     aggregates: Some(Expression::parse_list("mean(temperature),count()")?),
//!     filter: Some(Expression::parse("station in ('Abha', 'Hamburg')")?),
//!     order_by: OrderBy::parse_list("mean(temperature) desc")?,
//!     ..Query::default()
//! };
//! let (_, answer) = query.ask(table, 4, &brc_core::Progress::default())?;
//! for row in answer.rows() {
//!     for (column, value) in answer.columns().iter().zip(row) {
//!         match value {
//!             Some(value) => println!("{} = {}", column.name, value.to_text(column.logical_type)),
//!             None => println!("{} is null", column.name),
//!         }
//!     }
//! }
//! println!("{} rows read", answer.totals().rows);
//! # Ok(())
//! # }
//! ```
//!
//! Mistakes in a query are [`brc_core::Error::Usage`], or [`brc_core::Error::TypeMismatch`] if the query would be valid for
//! other column types; a [`SyntaxError`] converts into one of them.

#![forbid(unsafe_code)]

mod accumulators;
mod aggregates;
mod alternatives;
mod bind;
mod by_distinct;
mod by_source;
mod cells;
mod columns;
mod compacted;
mod computed;
mod conditions;
mod evaluate;
mod expression;
mod filter;
mod finer;
mod first_rows;
mod functions;
mod group;
mod grouped;
mod inputs;
mod interruptible;
mod key_order;
mod keys;
mod lanes;
mod lender;
mod long_answer;
mod memory;
mod narrowed;
mod node;
mod order;
mod parallel;
mod partial;
mod partitions;
mod picked_rows;
mod plan;
mod query;
mod ratio;
mod result;
mod result_table;
mod rows;
mod run;
mod runs;
mod scatter;
mod selector;
mod sorted_rows;
mod sql;
mod states;
mod suggestions;
mod totals;
mod vector;
mod wanted;

pub use aggregates::{AGGREGATES, AggregateFunction, EXAMPLE_TABLE, Form};
pub use expression::{Expression, OrderBy, SelectItem};
pub use functions::{CONSTRUCTS, Construct, FUNCTIONS, Function, OPERATORS};
pub use lanes::{Lane, Lanes};
pub use long_answer::LongAnswer;
pub use memory::Memory;
pub use partial::Partial;
pub use plan::Plan;
pub use query::{Pick, Query};
pub use result::{OutputColumn, QueryResult, Row};
pub use result_table::ResultTable;
pub use rows::SelectedRows;
pub use run::Answered;
pub use sql::{Action, Statement, SyntaxError, TableName};
pub use totals::ScanTotals;

#[cfg(test)]
mod tests;

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
