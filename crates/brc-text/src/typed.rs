//! Parsing of text rows into typed columns.
//!
//! A [`TableParser`] parses the [rows](crate::rows) of a text column by column, so that types are not dispatched row by
//! row, and produces batches. Columns with inferred types are parsed optimistically: if a value does not fit, the
//! parser records what it [requires](crate::infer::Seen) of the type, and that the rows must be parsed again.

mod changes;
mod coded;
mod column;
mod column_state;
mod fields;
mod nulls;
mod parser;
mod row_faults;
mod strings;
mod values;

pub use changes::Changes;
pub use coded::CodedStrings;
pub use column_state::parse_field;
pub use nulls::NullTokens;
pub use parser::{BadRow, ColumnType, Output, Ragged, TableParser, TextFormat};
pub use row_faults::fault_of;

use crate::infer::Seen;

/// Parses a number as a float. Returns it with its requirements for a column of floats; `None` if it is written in an
/// unusual way, or may be inexact as a float.
#[must_use]
pub fn usual_float(number: &[u8]) -> Option<(f64, Seen)> {
    let text = number.into();
    let ((value, shape), _) = values::float(text).or_else(|| values::printed_float(text))?;
    Some((value, Seen::of_digits(shape.whole, shape.scale)))
}
