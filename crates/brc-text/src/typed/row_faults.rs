//! What is wrong with a row that is not delivered.

use super::column_state::{null_fault, null_tokens, parse_field};
use super::parser::{ColumnType, TextFormat};
use crate::rows::{IrregularRow, Piece, Reason, Rows};
use crate::sniff::fault_in_line;
use brc_core::RowFault;
use brc_kernels::structure::Syntax;

pub(super) fn without_line_end<'t>(row: &'t [u8], syntax: &Syntax) -> &'t [u8] {
    let Some(text) = row.strip_suffix(&[syntax.line_end().byte()]) else { return row };
    if syntax.line_end().byte() == b'\n' { text.strip_suffix(b"\r").unwrap_or(text) } else { text }
}

pub(super) fn has_line_end(row: &IrregularRow, text: &[u8], syntax: &Syntax) -> bool {
    text[row.bytes.clone()].ends_with(&[syntax.line_end().byte()])
}

/// The fault of a row that ends at the end of the text, without a line end.
pub(super) fn of_last_row(fault: RowFault) -> RowFault {
    match fault {
        RowFault::Columns { found, expected } if found < expected => RowFault::CutOff { found, expected },
        other => other,
    }
}

/// The fault of a row, taking into account comment prefixes if the dialect has no comments.
pub(super) fn in_line(fault: RowFault, column: Option<usize>, line: &[u8], syntax: &Syntax) -> RowFault {
    if syntax.comment().is_none() { fault_in_line(fault, column, line) } else { fault }
}

/// The fault of an irregular row; `None` for comments and empty lines.
pub(super) fn fault_of_reason(reason: Reason, expected: usize, max_row: usize) -> Option<RowFault> {
    match reason {
        Reason::Columns { found } => Some(RowFault::Columns { found, expected }),
        Reason::Malformed { .. } => Some(RowFault::TextAfterQuote),
        Reason::Unclosed => Some(RowFault::UnclosedQuote),
        Reason::QuotedTooLong => Some(RowFault::QuotedTooLong(max_row)),
        Reason::TooLong => Some(RowFault::LineTooLong(max_row)),
        Reason::Comment | Reason::Empty => None,
    }
}

/// The fault of a single row without its line end, and the column at fault.
#[must_use]
pub fn fault_of(row: &[u8], format: &TextFormat, columns: &[ColumnType]) -> Option<(Option<usize>, RowFault)> {
    if row.len() >= format.max_row {
        // It was cut there.
        return Some((None, RowFault::LineTooLong(format.max_row)));
    }
    let mut found = None;
    let take = |rows: &Rows<'_>| {
        let irregular =
            rows.irregular().first().and_then(|row| fault_of_reason(row.reason, columns.len(), format.max_row));
        found = irregular
            .map(|fault| (None, fault))
            .or_else(|| (!rows.is_empty()).then(|| fault_of_values(rows, format, columns)).flatten());
        // Stops after the first row.
        Err(())
    };
    let _ = format.scanner(columns.len()).scan(Piece { text: row, skip: false, last: true }, take);
    found.map(|(column, fault)| (column, in_line(fault, column, row, &format.syntax)))
}

fn fault_of_values(rows: &Rows<'_>, format: &TextFormat, columns: &[ColumnType]) -> Option<(Option<usize>, RowFault)> {
    columns.iter().enumerate().find_map(|(index, column)| {
        let ColumnType::Fixed { logical_type, nullable, form } = *column else { return None };
        let field = rows.field(0, index);
        let fault = match format.fields().value(field) {
            None => (!nullable).then(|| null_fault(field.bytes)),
            Some(text) => {
                let is_null = || format.infer_nulls && nullable && !null_tokens(&text, logical_type).is_empty();
                parse_field(&text, form, logical_type).err().filter(|_| !is_null())
            }
        };
        fault.map(|fault| (Some(index), fault))
    })
}
