//! Whether a condition is true for each row of a batch, with SQL's three truth values.
//!
//! They are ordered: then `and` is the least, `or` the greatest, and `not` turns the order around.

use brc_core::{Batch, Column, Comparison, Data, Predicate, float_order};

const FALSE: u8 = 0;
const NULL: u8 = 1;
/// The condition is true.
pub(super) const TRUE: u8 = 2;

/// The truth of a predicate, whose columns are positions in the batch, for each of the rows.
///
/// # Panics
/// If the batch does not have these columns.
pub(super) fn evaluate(predicate: &Predicate, batch: &Batch<'_>) -> Vec<u8> {
    match predicate {
        Predicate::Constant(holds) => vec![truth(*holds); batch.rows],
        Predicate::Range { column, low, high } => {
            let column = &batch.columns[*column];
            or_null(in_range(column, batch.rows, *low, *high), column)
        }
        Predicate::Compare { column, comparison, value } => {
            let column = &batch.columns[*column];
            or_null(compares(column, batch.rows, *comparison, value), column)
        }
        Predicate::IsNull { column } => {
            let column = &batch.columns[*column];
            (0..batch.rows).map(|row| truth(!column.is_valid(row))).collect()
        }
        Predicate::And(parts) => folded(parts, batch, TRUE, u8::min),
        Predicate::Or(parts) => folded(parts, batch, FALSE, u8::max),
        Predicate::Not(part) => evaluate(part, batch).into_iter().map(|truth| TRUE - truth).collect(),
    }
}

fn truth(holds: bool) -> u8 {
    if holds { TRUE } else { FALSE }
}

fn folded(parts: &[Predicate], batch: &Batch<'_>, first: u8, fold: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    let mut truths = vec![first; batch.rows];
    for part in parts {
        for (truth, other) in truths.iter_mut().zip(evaluate(part, batch)) {
            *truth = fold(*truth, other);
        }
    }
    truths
}

/// The truths of a condition on a column, given those for rows that have values.
fn or_null(mut truths: Vec<u8>, column: &Column<'_>) -> Vec<u8> {
    if let Some(validity) = column.validity {
        for (truth, _) in truths.iter_mut().zip(validity.iter()).filter(|(_, valid)| !valid) {
            *truth = NULL;
        }
    }
    truths
}

fn in_range(column: &Column<'_>, rows: usize, low: i128, high: i128) -> Vec<u8> {
    let holds = |value: i128| truth((low..=high).contains(&value));
    match column.data {
        Data::Integers(values) => (0..values.len()).map(|row| holds(values.get(row))).collect(),
        Data::Floats(values) => values.iter().map(|&value| holds(float_order(value).into())).collect(),
        // No condition on numbers is about strings.
        Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => vec![FALSE; rows],
    }
}

fn compares(column: &Column<'_>, rows: usize, comparison: Comparison, other: &[u8]) -> Vec<u8> {
    let holds = |value: &[u8]| truth(comparison.holds(value.cmp(other)));
    match column.data {
        Data::Codes { codes, dictionary } => {
            // A null's code means nothing, and may not be there.
            let known =
                |&code: &u32| if (code as usize) < dictionary.len() { holds(dictionary.get(code)) } else { FALSE };
            codes.iter().map(known).collect()
        }
        Data::Runs { runs, dictionary } => {
            let mut truths = Vec::with_capacity(rows);
            for run in runs {
                let known = (run.code as usize) < dictionary.len();
                let truth = if known { holds(dictionary.get(run.code)) } else { FALSE };
                truths.resize(truths.len() + run.rows as usize, truth);
            }
            truths
        }
        Data::Bytes(strings) => strings.iter().map(holds).collect(),
        // No condition on strings is about numbers.
        Data::Integers(_) | Data::Floats(_) => vec![FALSE; rows],
    }
}
