//! Says when a condition may find nothing because the bytes of a column are of another charset than the command line.

use crate::printable;
use crate::render::{exact_format, render};
use brc_core::{Progress, Result, Table};
use brc_query::{Expression, Query, SelectItem};
use std::collections::HashMap;

/// So many first values of a column are looked at.
const SAMPLED_ROWS: u64 = 1 << 14;

/// Says on standard error which columns are compared with a string beyond ASCII but are not UTF-8. Reads nothing where there
/// is no such string.
pub(crate) fn note_mismatches(query: &Query, table: &dyn Table) {
    let mut known: HashMap<&str, bool> = HashMap::new();
    for (column, text) in query.comparisons_beyond_ascii() {
        if *known.entry(column).or_insert_with(|| can_be_read_again(table) && is_not_utf8(table, column)) {
            // A text tells its number of rows only by being read.
            let what = if table.rows().is_none() { "read the text" } else { "convert the text again" };
            let note = format!(
                "'{column}' is not UTF-8, so '{text}' may not match; {what} with --charset latin1 (or windows-1252)"
            );
            message!("note: {}", printable::line(note.as_bytes()));
        }
    }
}

/// Whether a table is a file, and no stream that is gone once it was read.
fn can_be_read_again(table: &dyn Table) -> bool {
    std::fs::metadata(table.path()).is_ok_and(|found| found.is_file())
}

/// Whether a value among the first ones of a column is not UTF-8. What goes wrong was said by the query.
fn is_not_utf8(table: &dyn Table, column: &str) -> bool {
    let values = || -> Result<Vec<u8>> {
        let item = SelectItem::Expression { expression: Expression::column(column), alias: None };
        let query = Query { select: Some(vec![item]), limit: Some(SAMPLED_ROWS), ..Query::everything() };
        let (plan, rows) = query.ask(table, 1, &Progress::default())?;
        let mut values = Vec::new();
        render(exact_format(), &plan, &rows, &mut values)?;
        Ok(values)
    };
    values().is_ok_and(|values| str::from_utf8(&values).is_err())
}
