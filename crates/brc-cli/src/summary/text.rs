//! Formats a summary for people: a few lines per column, at most as wide as the terminal.

use super::{ColumnSummary, TableSummary};
use crate::render::{cut, width_of};
use crate::{printable, quantity};
use brc_core::decimal::counted;

/// The indentation of the lines of a column.
const INDENT: &str = "  ";

/// The space between two facts.
const GAP: &str = "   ";

/// The width in terminal columns to which minimum, maximum and quartiles are cut.
const EXTREME_WIDTH: usize = 30;

/// The minimum width to which the most frequent values are cut.
const MIN_VALUE_WIDTH: usize = 16;

/// The maximum length of a bar, and the minimum space for bars to be shown.
const BAR_WIDTH: usize = 20;
const MIN_BAR_WIDTH: usize = 8;

/// The summary as lines of at most `width`, unless a single fact is wider.
pub(crate) fn text(summary: &TableSummary, width: usize) -> String {
    let mut out = format!("{}, {}\n", counted(summary.rows, "row"), counted(summary.columns.len() as u64, "column"));
    for column in &summary.columns {
        out.push('\n');
        let name = printable::line(column.name.as_bytes());
        let head = format!("{}{GAP}{}", shortened(&name, width), column.logical_type);
        out.push_str(&head);
        out.push('\n');
        let [counts, range] = facts(column, summary.rows);
        wrap(&counts, width, &mut out);
        wrap(&range, width, &mut out);
        frequent(column, summary.rows, width, &mut out);
    }
    out
}

/// The facts about a column: counts and moments; then minimum, quartiles and maximum.
fn facts(column: &ColumnSummary, rows: u64) -> [Vec<String>; 2] {
    let values = &column.values;
    let mut counts = vec![match column.nulls {
        0 => "no nulls".to_owned(),
        nulls => format!("{} ({})", counted(nulls, "null"), percent(nulls, rows)),
    }];
    counts.push(format!("{} distinct", quantity::count(values.distinct)));
    let moments = [("mean", column.mean), ("stddev", column.deviation)];
    counts.extend(moments.iter().filter_map(|(name, value)| Some(format!("{name} {}", significant((*value)?)))));
    let quartiles = ["25 %", "50 %", "75 %"].into_iter().zip(&values.quartiles);
    let order =
        values.min.iter().map(|min| ("min", min)).chain(quartiles).chain(values.max.iter().map(|max| ("max", max)));
    [counts, order.map(|(name, value)| format!("{name} {}", shown(value, EXTREME_WIDTH))).collect()]
}

/// Appends the most frequent values, each with a bar; nothing if no value occurs twice.
fn frequent(column: &ColumnSummary, rows: u64, width: usize, out: &mut String) {
    let frequent: Vec<_> = column.values.frequent.iter().filter(|(_, rows)| *rows > 1).collect();
    let Some(most) = frequent.iter().map(|(_, rows)| *rows).max() else { return };
    let counts: Vec<_> = frequent.iter().map(|(_, count)| (quantity::count(*count), percent(*count, rows))).collect();
    let count_width = counts.iter().map(|(count, _)| count.len()).max().unwrap_or(0);
    let share_width = counts.iter().map(|(_, share)| share.len()).max().unwrap_or(0);
    let left = width.saturating_sub(INDENT.len() + count_width + share_width + 3 * GAP.len());
    let value_width = left.saturating_sub(MIN_BAR_WIDTH).max(MIN_VALUE_WIDTH);
    let values: Vec<_> = frequent.iter().map(|(value, _)| shown(value, value_width)).collect();
    let value_width = values.iter().map(|value| width_of(value)).max().unwrap_or(0);
    let bar_width = BAR_WIDTH.min(left.saturating_sub(value_width));
    for ((value, (count, share)), (_, rows)) in values.iter().zip(counts).zip(frequent) {
        let padding = " ".repeat(value_width - width_of(value));
        out.push_str(&format!("{INDENT}{value}{padding}{GAP}{count:>count_width$}{GAP}{share:>share_width$}"));
        if bar_width >= MIN_BAR_WIDTH {
            out.push_str(GAP);
            out.push_str(&"█".repeat(length_of_bar(*rows, most, bar_width)));
        }
        out.push('\n');
    }
}

/// The length of the bar of `rows`, if that of `most` has length `longest`.
fn length_of_bar(rows: u64, most: u64, longest: usize) -> usize {
    let length = (rows as f64 / most as f64 * longest as f64).round() as usize;
    length.clamp(1, longest)
}

/// Appends facts, as many per line as fit.
fn wrap(facts: &[String], width: usize, out: &mut String) {
    let mut used = 0;
    for fact in facts {
        let wide = width_of(fact);
        let fits = used > 0 && used + GAP.len() + wide <= width;
        if used > 0 && !fits {
            out.push('\n');
        }
        out.push_str(if fits { GAP } else { INDENT });
        used = if fits { used + GAP.len() } else { INDENT.len() } + wide;
        out.push_str(fact);
    }
    if !facts.is_empty() {
        out.push('\n');
    }
}

/// A value on one line, with control characters escaped.
fn shown(value: &[u8], width: usize) -> String {
    if value.is_empty() {
        return "''".to_owned();
    }
    shortened(&printable::line(value), width)
}

fn shortened(text: &str, width: usize) -> String {
    if width_of(text) > width { cut(text, width) } else { text.to_owned() }
}

fn percent(part: u64, of: u64) -> String {
    let share = part as f64 / of.max(1) as f64 * 100.0;
    match share {
        _ if part == of => "100 %".to_owned(),
        ..0.1 => "<0.1 %".to_owned(),
        ..10.0 => format!("{share:.1} %"),
        _ => format!("{share:.0} %"),
    }
}

/// A number with six significant digits.
fn significant(number: f64) -> String {
    const DIGITS: i32 = 6;
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let magnitude = number.abs().log10().floor() as i32;
    if !(-5..15).contains(&magnitude) {
        return format!("{number:.5e}");
    }
    let decimals = usize::try_from(DIGITS - 1 - magnitude).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (10.5, "10.5"),
            (2.160_246_899, "2.16025"),
            (-1234.5678, "-1234.57"),
            (123_456_789.2, "123456789"),
            (0.000_123_456_78, "0.000123457"),
            (1e300, "1.00000e300"),
        ] {
            assert_eq!(significant(number), text);
        }
    }

    #[test]
    fn shares_are_short() {
        let shares = [(0, 0), (1, 10_000), (99, 1000), (2, 3), (3, 3)];
        let shares = shares.map(|(part, of)| percent(part, of));
        assert_eq!(shares, ["100 %", "<0.1 %", "9.9 %", "67 %", "100 %"]);
    }

    #[test]
    fn facts_are_wrapped_and_never_cut() {
        let facts = ["one 1", "two 22", "three 333"].map(str::to_owned);
        let mut out = String::new();
        wrap(&facts, 18, &mut out);
        assert_eq!(out, "  one 1   two 22\n  three 333\n");
    }
}
