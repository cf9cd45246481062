//! Messages about values that differ from the text they were read from.

use crate::printable;
use brc_core::decimal::counted;
use brc_core::{ColumnChanges, Progress, Table, identifier};
use std::sync::atomic::Ordering::Relaxed;

/// The number of columns that messages list.
const MAX_COLUMNS: usize = 5;

/// The columns with changes, those with most changed values first.
fn by_column(table: &dyn Table, changed: fn(&ColumnChanges) -> u64) -> Vec<(&str, ColumnChanges)> {
    let names = table.schema().fields().iter().map(|field| field.name.as_str());
    let mut columns: Vec<_> = names.zip(table.changes()).filter(|(_, changes)| changed(changes) > 0).collect();
    columns.sort_by_key(|(_, changes)| std::cmp::Reverse(changed(changes)));
    columns
}

/// How ambiguous values were read: which became null, and which stayed text.
pub(crate) fn read(table: &dyn Table) -> Vec<String> {
    [nulled(table), undecided(table), unfit(table), pointed(table)].concat()
}

/// The null tokens that were recognised although no option names them: one line per column.
fn nulled(table: &dyn Table) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let them = if changes.nulled == 1 { "it" } else { "them" };
        let values = counted(changes.nulled, "value");
        format!("{} in '{name}' read as null ({values}; --null '' keeps {them} as text)", tokens(changes))
    };
    lines(&by_column(table, |changes| changes.nulled), line, "read as null")
}

/// The columns that are text because the query compares their null tokens: one line each.
fn compared(table: &dyn Table) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let (tokens, nulls) = (tokens(changes), Vec::from_iter(changes.null_tokens.iter().copied()).join(","));
        format!("'{name}' is text in this query, which compares null tokens; --null {nulls} reads {tokens} as null")
    };
    lines(&by_column(table, |changes| changes.nulls_are_text.into()), line, "compared as text")
}

/// The columns that stay text because their values are ambiguous: one line each.
fn undecided(table: &dyn Table) -> Vec<String> {
    let names = table.schema().fields().iter().map(|field| field.name.as_str());
    let reasons = names.zip(table.changes()).filter_map(|(name, changes)| Some((name, changes.undecided?)));
    reasons.take(MAX_COLUMNS).map(|(name, reason)| reason.of(name)).collect()
}

/// The columns that are not read in the format set for them: one line each.
fn unfit(table: &dyn Table) -> Vec<String> {
    let names = table.schema().fields().iter().map(|field| field.name.as_str());
    let formats = names.zip(table.changes()).filter_map(|(name, changes)| Some((name, changes.unfit_format?)));
    let line = |(name, format): (&str, String)| {
        let column = identifier::in_list(name);
        format!(
            "'{name}' is not read in the format '{format}', because some values do not fit it; with --type '{column}=…' \
             they are errors, and --rejects FILE leaves them out"
        )
    };
    formats.take(MAX_COLUMNS).map(line).collect()
}

/// The columns whose points may separate thousands: one line each.
fn pointed(table: &dyn Table) -> Vec<String> {
    let line = |name: &str, _: &ColumnChanges| {
        format!(
            "'{name}' is read with decimal points, but other columns have decimal commas; --decimal , reads its points as \
             thousands separators"
        )
    };
    lines(&by_column(table, |changes| changes.points_beside_commas.into()), line, "may have points between thousands")
}

/// The values that will be written differently than in the input: one line per column.
pub(crate) fn altered(table: &dyn Table) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let example = changes.example.as_ref().map(|example| {
            let [old, new] = [&example.0, &example.1].map(|text| String::from_utf8_lossy(text));
            format!(" ({old} → {new})")
        });
        let (values, example) = (counted(changes.altered, "value"), example.unwrap_or_default());
        format!("{values} of '{name}' will be written differently{example}; --exact-text keeps the spelling")
    };
    lines(&by_column(table, |changes| changes.altered), line, "written differently")
}

/// One line for each of the first columns, and one for all others.
fn lines(columns: &[(&str, ColumnChanges)], line: impl Fn(&str, &ColumnChanges) -> String, what: &str) -> Vec<String> {
    let mut lines: Vec<String> = columns.iter().take(MAX_COLUMNS).map(|(name, changes)| line(name, changes)).collect();
    if columns.len() > MAX_COLUMNS {
        lines.push(format!("values of {} {what}", counted((columns.len() - MAX_COLUMNS) as u64, "more column")));
    }
    lines
}

/// Notes on standard error how the rows that were read differ from the text: how many are missing, and which null tokens
/// were recognised.
pub(crate) fn note_read(table: &dyn Table, progress: &Progress) {
    note_left_out(progress);
    note_nulled(table);
}

/// Notes on standard error which null tokens were recognised.
pub(crate) fn note_nulled(table: &dyn Table) {
    for line in nulled(table).into_iter().chain(compared(table)).chain(unfit(table)).chain(pointed(table)) {
        message!("note: {}", printable::line(line.as_bytes()));
    }
}

/// Notes on standard error how many malformed rows and comments were left out.
pub(crate) fn note_left_out(progress: &Progress) {
    let comments = progress.comment_lines.load(Relaxed);
    if comments > 0 {
        message!("note: skipped {} (--comment sets the prefix, or none)", counted(comments, "comment line"));
    }
    let rejected = progress.rejected_rows.load(Relaxed);
    if rejected > 0 {
        message!("note: rejected {} with the wrong number of columns", counted(rejected, "row"));
    }
}

/// The null tokens that were found, as a list for a message.
fn tokens(changes: &ColumnChanges) -> String {
    changes.null_tokens.iter().map(|token| quoted(token)).collect::<Vec<_>>().join(" and ")
}

fn quoted(token: &str) -> String {
    if token.is_empty() { "\"\"".to_owned() } else { format!("'{token}'") }
}
