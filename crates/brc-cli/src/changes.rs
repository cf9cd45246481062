//! Messages about values that differ from the text they were read from.

use crate::printable;
use brc_core::decimal::counted;
use brc_core::{
    AssumedSeparator, ColumnChanges, DoubtfulText, LogicalType, Progress, Table, TextReason, current_schema, identifier,
};
use brc_query::Query;
use std::sync::atomic::Ordering::Relaxed;

/// The number of columns that messages list.
const MAX_COLUMNS: usize = 5;

/// The maximum length of an example of a string.
const MAX_EXAMPLE: usize = 40;

/// The name of each column, and how its values differ from the text.
type Column<'t> = (&'t str, ColumnChanges);

fn columns(table: &dyn Table) -> Vec<Column<'_>> {
    table.schema().fields().iter().map(|field| field.name.as_str()).zip(table.changes()).collect()
}

/// How ambiguous values were read: which became null, and which stayed text.
pub(crate) fn read(table: &dyn Table) -> Vec<String> {
    let columns = columns(table);
    let kinds = [nulled, undecided, unfit, pointed, separated, short_years, not_utf8];
    kinds.iter().flat_map(|kind| kind(&columns)).collect()
}

/// The columns that are text because of a few values: one line each. Which values that are is found by reading the text
/// again, unless that takes long. A text that cannot be read again has no such lines.
pub(crate) fn text(table: &dyn Table) -> Vec<String> {
    let mut doubtful = table.doubtful_text().unwrap_or_default();
    doubtful.retain(|it| it.has_slips);
    let lines = reasons(table, &doubtful, TextReason::is_slip);
    let more = doubtful.len().saturating_sub(MAX_COLUMNS) as u64;
    let rest = (more > 0).then(|| format!("{} may be text because of a few values, too", counted(more, "more column")));
    lines.into_iter().chain(rest).collect()
}

/// Why the first of these columns are text, as far as the reasons are wanted.
fn reasons(table: &dyn Table, doubtful: &[DoubtfulText], is_wanted: fn(&TextReason) -> bool) -> Vec<String> {
    let schema = current_schema(table);
    let read_again = table.bytes().map_or(0, |bytes| (MAX_BYTES / bytes.max(1)) as usize);
    let reason = |(index, DoubtfulText { column, expected, has_slips, may_reject }): (usize, &DoubtfulText)| {
        let name = &schema.fields().get(*column)?.name;
        if index < read_again {
            return table.why_text(*column).ok()?.filter(is_wanted).map(|reason| reason.of(name));
        }
        let (named, part) = (identifier::in_option(name), if *has_slips { "nearly all" } else { "most" });
        let remedy = match may_reject {
            true => format!("--type '{named}={expected}' --rejects FILE sets the rows of the others aside"),
            false => format!("try_cast({} as {expected}) makes the others null", identifier::in_sql(name)),
        };
        Some(format!("'{name}' is text, but {part} of its first values are {expected}; {remedy}"))
    };
    doubtful.iter().enumerate().take(MAX_COLUMNS).filter_map(reason).collect()
}

/// Notes on standard error why columns are text that the query compares by size or sorts by, if they may be meant as
/// numbers or dates.
pub(crate) fn note_sizes_of_text(query: &Query, table: &dyn Table) {
    let (schema, sized) = (current_schema(table), query.sized_columns());
    let is_sized = |column: usize| {
        let field = schema.fields().get(column);
        field.is_some_and(|it| it.logical_type == LogicalType::String && sized.contains(it.name.as_str()))
    };
    if !(0..schema.fields().len()).any(is_sized) {
        return;
    }
    let known = columns(table).into_iter().enumerate().filter(|(column, _)| is_sized(*column));
    let undecided = undecided(&known.map(|(_, column)| column).collect::<Vec<_>>());
    let mut doubtful = table.doubtful_text().unwrap_or_default();
    doubtful.retain(|it| is_sized(it.column));
    for line in undecided.into_iter().chain(reasons(table, &doubtful, |reason| !reason.is_code())) {
        message!("note: {}", printable::line(line.as_bytes()));
    }
}

/// How many bytes are read again to find the values that make columns text.
const MAX_BYTES: u64 = 64 << 20;

/// The null tokens that were recognised although no option names them: one line per column.
fn nulled(columns: &[Column<'_>]) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let them = if changes.nulled == 1 { "it" } else { "them" };
        let values = counted(changes.nulled, "value");
        format!("{} in '{name}' read as null ({values}; --null '' keeps {them} as text)", tokens(changes))
    };
    lines(columns, |changes| changes.nulled, line, "read as null")
}

/// The columns that are text because the query compares their null tokens: one line each.
fn compared(columns: &[Column<'_>]) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let (tokens, nulls) = (tokens(changes), Vec::from_iter(changes.null_tokens.iter().copied()).join(","));
        format!("'{name}' is text in this query, which compares null tokens; --null '{nulls}' reads {tokens} as null")
    };
    lines(columns, |changes| changes.nulls_are_text.into(), line, "compared as text")
}

/// The columns that stay text because their values are ambiguous: one line each.
fn undecided(columns: &[Column<'_>]) -> Vec<String> {
    let reasons = columns.iter().filter_map(|(name, changes)| Some((name, changes.undecided.as_ref()?)));
    reasons.take(MAX_COLUMNS).map(|(name, reason)| reason.of(name)).collect()
}

/// The columns that are not read in the format set for them: one line each.
fn unfit(columns: &[Column<'_>]) -> Vec<String> {
    let formats = columns.iter().filter_map(|(name, changes)| Some((name, changes.unfit_format.as_ref()?)));
    let line = |(name, format): (&&str, &String)| {
        let column = identifier::in_option(name);
        format!(
            "'{name}' is not read in the format '{format}', because some values do not fit it; with --type '{column}=…' \
             they are errors, and --rejects FILE leaves them out"
        )
    };
    formats.take(MAX_COLUMNS).map(line).collect()
}

/// The columns whose points may separate thousands: one line each.
fn pointed(columns: &[Column<'_>]) -> Vec<String> {
    let line = |name: &str, _: &ColumnChanges| {
        format!(
            "'{name}' is read with decimal points; if they separate thousands, so that 1.234 is 1234, --decimal , reads \
             them so"
        )
    };
    lines(columns, |changes| changes.doubtful_points.into(), line, "may have points between thousands")
}

/// The columns with separators in numbers whose meaning is assumed: one line each.
fn separated(columns: &[Column<'_>]) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let column = identifier::in_option(name);
        let (reading, other) = match changes.assumed_separator {
            Some(AssumedSeparator::CommaOfList) => {
                return format!(
                    "'{name}' is text, because its commas may separate the values of lists; if they are decimal marks, \
                     --type '{column}=decimal(2)' reads them"
                );
            }
            None | Some(AssumedSeparator::PointOfThousands) => {
                ("points between thousands (1.234 as 1234), because of decimal commas", "are decimal points")
            }
            Some(AssumedSeparator::CommaOfThousands) => {
                ("commas between thousands (123,456 as 123456)", "separate several numbers")
            }
            Some(AssumedSeparator::DecimalComma) => ("decimal commas (12,34 as 12.34)", "separate several numbers"),
        };
        format!("'{name}' is read with {reading}; if they {other}, --type '{column}=string' keeps the text")
    };
    lines(columns, |changes| changes.assumed_separator.is_some().into(), line, "are read with separators in numbers")
}

/// The columns of dates with years of two digits: one line each.
fn short_years(columns: &[Column<'_>]) -> Vec<String> {
    let line = |name: &str, _: &ColumnChanges| {
        let column = identifier::in_option(name);
        format!("the years of '{name}' have two digits, read as 1969 to 2068; --type '{column}=string' keeps the text")
    };
    lines(columns, |changes| changes.has_short_years.into(), line, "have years of two digits")
}

/// The columns with strings that are not UTF-8: one line each.
fn not_utf8(columns: &[Column<'_>]) -> Vec<String> {
    let line = |name: &str, changes: &ColumnChanges| {
        let example = printable::line(changes.not_utf8.as_deref().unwrap_or_default());
        let example = match example.char_indices().nth(MAX_EXAMPLE) {
            Some((end, _)) => format!("{}…", &example[..end]),
            None => example.into_owned(),
        };
        format!("'{name}' has strings that are not UTF-8 ({example}); --charset latin1 (or windows-1252) decodes them")
    };
    lines(columns, |changes| changes.not_utf8.is_some().into(), line, "are not UTF-8")
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
    lines(&columns(table), |changes| changes.altered, line, "written differently")
}

/// One line for each of the first columns with changes, those with most changed values first, and one for all others.
fn lines(
    columns: &[Column<'_>],
    changed: fn(&ColumnChanges) -> u64,
    line: impl Fn(&str, &ColumnChanges) -> String,
    what: &str,
) -> Vec<String> {
    let mut columns: Vec<&Column<'_>> = columns.iter().filter(|(_, changes)| changed(changes) > 0).collect();
    columns.sort_by_key(|(_, changes)| std::cmp::Reverse(changed(changes)));
    let mut lines: Vec<String> = columns.iter().take(MAX_COLUMNS).map(|(name, changes)| line(name, changes)).collect();
    if columns.len() > MAX_COLUMNS {
        lines.push(format!("values of {} {what}", counted((columns.len() - MAX_COLUMNS) as u64, "more column")));
    }
    lines
}

/// Notes on standard error how the rows that were read differ from the text: how many are missing, and which values were
/// read by a guess.
pub(crate) fn note_read(table: &dyn Table, progress: &Progress) {
    note_left_out(progress);
    note_guesses(table);
}

/// Notes on standard error which values were read by a guess: which null tokens were recognised, and which formats were
/// not.
pub(crate) fn note_guesses(table: &dyn Table) {
    let columns = columns(table);
    let kinds = [nulled, compared, unfit, pointed, separated, short_years, not_utf8];
    for line in kinds.iter().flat_map(|kind| kind(&columns)) {
        message!("note: {}", printable::line(line.as_bytes()));
    }
}

/// Notes on standard error which numbers in the query may be meant as columns.
pub(crate) fn note_numbers(query: &Query, table: &dyn Table) {
    for number in query.numbers_for_columns(&current_schema(table)) {
        message!("note: {number} is a number; the column is \"{number}\"");
    }
}

/// Notes on standard error which columns of the file are not read. Those that are found by reading are noted by the
/// table.
pub(crate) fn note_unread(table: &dyn Table) {
    if table.inferred().is_some() {
        return;
    }
    let unsupported_columns = table.schema().unsupported_columns();
    for column in unsupported_columns.iter().take(MAX_COLUMNS) {
        message!("note: {}; it is left out", printable::line(column.to_string().as_bytes()));
    }
    if unsupported_columns.len() > MAX_COLUMNS {
        let more = counted((unsupported_columns.len() - MAX_COLUMNS) as u64, "more column");
        message!("note: {more} of types that brc does not read; brc schema lists them");
    }
}

/// A row that is left out because it repeats the header.
pub(crate) const REPEATED_HEADER: &str = "repeated header";

/// Notes on standard error how many malformed rows, comments and repeated headers were left out.
pub(crate) fn note_left_out(progress: &Progress) {
    let comments = progress.comment_lines.load(Relaxed);
    if comments > 0 {
        message!("note: skipped {} (--comment sets the prefix, or none)", counted(comments, "comment line"));
    }
    let headers = progress.repeated_headers.load(Relaxed);
    if headers > 0 {
        let them = if headers == 1 { "it" } else { "them" };
        message!("note: skipped {} (--header yes keeps {them})", counted(headers, REPEATED_HEADER));
    }
    if let Some(line) = renamings(progress.renamings.load(Relaxed)) {
        message!("note: {line}");
    }
    let rejected = progress.rejected_rows.load(Relaxed);
    if rejected > 0 {
        message!("note: rejected {} with the wrong number of columns", counted(rejected, "row"));
    }
}

/// What is said of comments that name other columns.
pub(crate) fn renamings(comments: u64) -> Option<String> {
    (comments > 0).then(|| {
        let them = if comments == 1 { "names" } else { "name" };
        format!(
            "{} {them} other columns than the first, so rows below have wrong names; split the file there",
            counted(comments, "comment")
        )
    })
}

/// The null tokens that were found, as a list for a message.
fn tokens(changes: &ColumnChanges) -> String {
    changes.null_tokens.iter().map(|token| quoted(token)).collect::<Vec<_>>().join(" and ")
}

fn quoted(token: &str) -> String {
    if token.is_empty() { "\"\"".to_owned() } else { format!("'{token}'") }
}
