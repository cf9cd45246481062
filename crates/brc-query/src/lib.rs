//! Group-by questions over any [`brc_core::Table`], whatever its encoding.
//!
//! A [`Query`] is what a user asks, by names. [`Query::plan`] binds it to the columns of a table; the [`Plan`] that comes
//! out is plain serialisable data. [`Plan::run`] scans the table with several threads and gives an [`Answer`]. Who runs
//! parts of a scan elsewhere uses the halves of it: [`Plan::partial`] for one table, and [`Plan::answer`] for the
//! [`Partial`]s of all.
//!
//! ```
//! use brc_query::{Aggregate, Expression, OrderBy, Query, Value};
//! # fn ask(table: &dyn brc_core::Table) -> brc_core::Result<()> {
//! let query = Query {
//!     aggregates: Some(Aggregate::parse_list("mean(temperature),count()")?),
//!     filter: Some(Expression::parse("station in ('Abha', 'Hamburg')")?),
//!     order_by: OrderBy::parse_list("mean(temperature) desc")?,
//!     ..Query::default()
//! };
//! let plan = query.plan(table.schema())?;
//! let answer = plan.run(table, 4, &brc_core::Progress::default())?;
//! for row in answer.rows() {
//!     for (column, value) in answer.columns().iter().zip(row) {
//!         match value {
//!             Value::Text(bytes) => println!("{} = {}", column.name, bytes.escape_ascii()),
//!             Value::Number { value, scale } => {
//!                 println!("{} = {}", column.name, brc_core::decimal::to_string(value, scale));
//!             }
//!             Value::Null => println!("{} has no value", column.name),
//!         }
//!     }
//! }
//! println!("{} rows read", answer.totals().rows);
//! # Ok(())
//! # }
//! ```
//!
//! Everything here that a user can get wrong is [`brc_core::Error::Usage`]; a [`SyntaxError`] turns into one.

#![forbid(unsafe_code)]

mod aggregate;
mod answer;
mod columns;
mod expression;
mod filter;
mod group;
mod index;
mod keys;
mod partial;
mod plan;
mod query;

pub use aggregate::{Aggregate, FUNCTIONS, Function, FunctionInfo, OrderBy};
pub use answer::{Answer, OutputColumn, Row, ScanTotals, Value};
pub use expression::{Expression, SyntaxError};
pub use partial::Partial;
pub use plan::{Output, Plan, SortKey};
pub use query::Query;

#[cfg(test)]
mod tests;

/// The example of the README is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
