//! Warns when a condition may match nothing because a column has a different charset than the command line.

use crate::printable;
use crate::render::{exact_format, render};
use brc_core::{Progress, Result, Table};
use brc_query::{Expression, Query, SelectItem};
use std::collections::HashMap;

/// The number of first values of a column that are checked.
const SAMPLED_ROWS: u64 = 1 << 14;

/// Notes on standard error which columns are compared with a non-ASCII string but are not UTF-8. Reads nothing if there
/// is no such comparison.
pub(crate) fn note_mismatches(query: &Query, table: &dyn Table) {
    let mut known: HashMap<&str, bool> = HashMap::new();
    for (column, text) in query.comparisons_beyond_ascii() {
        if *known.entry(column).or_insert_with(|| can_be_read_again(table) && is_not_utf8(table, column)) {
            // Only text has an unknown number of rows before it is read.
            let what = if table.rows().is_none() { "read the text" } else { "convert the text again" };
            let note = format!(
                "'{column}' is not UTF-8, so '{text}' may not match; {what} with --charset latin1 (or windows-1252)"
            );
            message!("note: {}", printable::line(note.as_bytes()));
        }
    }
}

/// Whether the table is a file rather than a stream, which can be read only once.
fn can_be_read_again(table: &dyn Table) -> bool {
    std::fs::metadata(table.path()).is_ok_and(|found| found.is_file())
}

/// Whether the first values of a column are in another charset than UTF-8, rather than UTF-8 with some other bytes.
/// Errors are ignored, since the query has reported them.
fn is_not_utf8(table: &dyn Table, column: &str) -> bool {
    let values = || -> Result<Vec<u8>> {
        let item = SelectItem::Expression { expression: Expression::column(column), alias: None };
        let query = Query { select: Some(vec![item]), limit: Some(SAMPLED_ROWS), ..Query::everything() };
        let (plan, rows) = query.ask(table, 1, &Progress::default())?;
        let mut values = Vec::new();
        render(exact_format(), &plan, &rows, &mut values)?;
        Ok(values)
    };
    values().is_ok_and(|values| {
        let (mut characters, mut others) = (0, 0);
        for chunk in values.utf8_chunks() {
            characters += chunk.valid().chars().filter(|character| !character.is_ascii()).count();
            others += chunk.invalid().len();
        }
        others > characters
    })
}
