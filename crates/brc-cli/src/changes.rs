//! Messages about values that differ from the text that they were read from.

use crate::quantity::count;
use brc_core::{ColumnChanges, Table};

/// How many columns a message names.
const MAX_COLUMNS: usize = 5;

/// The columns of which something changed, those with most values first.
fn by_column<'t>(table: &'t dyn Table, changed: fn(&ColumnChanges) -> u64) -> Vec<(&'t str, ColumnChanges)> {
    let names = table.schema().fields().iter().map(|field| field.name.as_str());
    let mut columns: Vec<_> = names.zip(table.changes()).filter(|(_, changes)| changed(changes) > 0).collect();
    columns.sort_by_key(|(_, changes)| std::cmp::Reverse(changed(changes)));
    columns
}

/// Which words for missing values were read as null although no option says so: a line for each column.
pub(crate) fn nulled(table: &dyn Table) -> Vec<String> {
    let columns = by_column(table, |changes| changes.nulled);
    let line = |(name, changes): &(&str, ColumnChanges)| {
        let tokens: Vec<String> = changes.null_tokens.iter().map(|token| quoted(token)).collect();
        let (values, them) = (values(changes.nulled), if changes.nulled == 1 { "it" } else { "them" });
        format!("{} in '{name}' read as null ({values}; --null '' keeps {them} as text)", tokens.join(" and "))
    };
    let mut lines: Vec<String> = columns.iter().take(MAX_COLUMNS).map(line).collect();
    if columns.len() > MAX_COLUMNS {
        let rest = &columns[MAX_COLUMNS..];
        let total = values(rest.iter().map(|(_, changes)| changes.nulled).sum());
        lines.push(format!("the same in {} ({total})", plural(rest.len() as u64, "more column")));
    }
    lines
}

fn quoted(token: &str) -> String {
    if token.is_empty() { "\"\"".to_owned() } else { format!("'{token}'") }
}

/// In which columns values will be written differently than in the input, if there are any.
pub(crate) fn altered(table: &dyn Table) -> Option<String> {
    let columns = by_column(table, |changes| changes.altered);
    let named = columns.iter().take(MAX_COLUMNS);
    let mut named: Vec<_> = named.map(|(name, changes)| format!("'{name}' ({})", values(changes.altered))).collect();
    if columns.len() > MAX_COLUMNS {
        named.push(plural((columns.len() - MAX_COLUMNS) as u64, "more column"));
    }
    let named = (!named.is_empty()).then(|| named.join(", "))?;
    Some(format!(
        "text form of values changed, as from 1.5 to 1.50, in {named}; --exact-text keeps such columns as strings"
    ))
}

fn values(number: u64) -> String {
    plural(number, "value")
}

/// A number with a noun.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}
