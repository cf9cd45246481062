//! How an answer is printed: one file for each format, and the list of all of them.

mod csv;
mod json;
mod one_brc;
mod table;

pub(crate) use csv::quote as quote_csv;
pub(crate) use json::json_string;
pub(crate) use table::STYLE;

use brc_core::{LogicalType, Result, Value};
use brc_query::{Plan, QueryResult};

/// A way to print an answer.
pub(crate) trait Format: Sync {
    /// Its name, as in `--format`.
    fn name(&self) -> &'static str;

    /// One line on what it is, for help texts.
    fn about(&self) -> &'static str;

    /// Appends the answer to that plan.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if the format cannot express it.
    fn render(&self, plan: &Plan, answer: &QueryResult, out: &mut Vec<u8>) -> Result<()>;
}

/// All formats, in the order in which help texts show them.
pub(crate) static FORMATS: &[&dyn Format] = &[&one_brc::OneBrc, &table::Table, &csv::Csv, &json::Json];

/// What is printed if nothing else is asked for: the official line where it fits, else a table.
pub(crate) fn default_format(plan: &Plan) -> &'static dyn Format {
    if plan.is_one_brc() { &one_brc::OneBrc } else { &table::Table }
}

/// The format that tells answers apart: it is lossless, for any question and any bytes.
pub(crate) fn exact_format() -> &'static dyn Format {
    &csv::Csv
}

/// Appends the text form of a value of that type; nothing for a null.
fn plain(value: Option<Value<'_>>, logical_type: LogicalType, out: &mut Vec<u8>) {
    if let Some(value) = value {
        value.write(logical_type, out);
    }
}
