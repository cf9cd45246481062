//! Rows of text as typed columns.
//!
//! A [`TableParser`] takes the [rows](crate::rows) of a text column by column, so that nothing is decided about types row by
//! row, and delivers batches. Columns whose types are inferred are parsed optimistically: where a value does not fit, what
//! it [demands](crate::infer::Seen) is kept, and with it that the rows have to be parsed again.

mod column;
mod fields;
mod nulls;
mod parser;
mod strings;
mod values;

pub use nulls::NullTokens;
pub use parser::{BadRow, ColumnType, Output, Ragged, TableParser, TextFormat, fault_of};
