//! Text tables.
//!
//! [`rows`] finds the fields of CSV-like text, row by row, and says what is not a row of the table.

#![forbid(unsafe_code)]

pub mod rows;
pub mod unquote;
