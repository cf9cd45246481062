//! What follows the table at the end of a file.

use super::rows::{Cell, SampleRows};
use super::shape::is_empty;

/// What follows the last row of the usual width at the end of a file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trailing {
    /// The number of narrow rows.
    pub(super) rows: usize,
    /// The number of lines, with the empty ones.
    pub(super) lines: usize,
    /// The width of the only row if it counts the rows.
    pub(super) count_width: Option<usize>,
}

/// A row such as `(3 rows affected)` at the end of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowCount {
    width: usize,
    /// The number of lines from it to the end.
    lines: usize,
}

impl RowCount {
    /// The same in a table whose last column, the `width`th, takes the rest of the line.
    pub(super) fn within(self, width: usize) -> Self {
        Self { width: self.width.min(width), ..self }
    }
}

impl Trailing {
    /// What follows a table of this width, above a count of its rows if there is one. `lines` counts those from a row
    /// on.
    pub(super) fn of(
        table: &SampleRows<'_>,
        width: usize,
        count: Option<RowCount>,
        lines: impl Fn(usize) -> usize,
    ) -> Self {
        let counted =
            count.map_or(Self::default(), |count| Self { rows: 1, lines: count.lines, count_width: Some(count.width) });
        if width == 1 {
            return counted;
        }
        let rows: Vec<&[Cell<'_>]> = table.iter().collect();
        let wide = rows.iter().rposition(|row| !is_empty(row) && row.len() * 2 > width).map_or(0, |last| last + 1);
        let after = &rows[wide..];
        match after.iter().position(|row| !is_empty(row)) {
            Some(first) => Self {
                rows: after.iter().filter(|row| !is_empty(row)).count() + counted.rows,
                lines: lines(wide + first),
                count_width: None,
            },
            None => counted,
        }
    }
}

/// Removes the last row, and what is below it, if it counts the rows, as database clients write it.
pub(super) fn take_row_count(table: &mut SampleRows<'_>) -> Option<RowCount> {
    let is_apart = |row: &usize| is_empty(table.row(row - 1));
    let filled = || (1..table.len()).rev().filter(|row| !is_empty(table.row(*row)));
    // Another remark may follow, apart from the count: when the query was completed.
    let remark = filled().next().filter(is_apart);
    let counts = |row: &usize| counts_rows(table.row(*row), is_apart(row));
    let found = filled().take(if remark.is_some() { 2 } else { 1 }).find(counts)?;
    let count = RowCount { width: table.row(found).len(), lines: table.len() - found };
    table.truncate(found);
    Some(count)
}

/// Whether a row is like `(3 rows affected)`, `3 rows in set (0.01 sec)`, or `3 rows` if it is apart from the others.
fn counts_rows(row: &[Cell<'_>], is_apart: bool) -> bool {
    let is_between_others = row.len() > 1 && row.iter().any(|cell| cell.bytes.contains(&b' '));
    if is_between_others && row.iter().filter(|cell| !cell.is_empty()).count() > 1 {
        return false;
    }
    let words = row.iter().flat_map(|cell| cell.bytes.split(|byte| *byte == b' '));
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let [number, noun, rest @ ..] = words.as_slice() else { return false };
    let is = |word: &[u8], one_of: &[&str]| {
        let letters = word.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |last| last + 1);
        one_of.iter().any(|one| word[..letters].eq_ignore_ascii_case(one.as_bytes()))
    };
    let digits = number.strip_prefix(b"(").unwrap_or(number);
    let is_closed = digits.len() < number.len() && words[words.len() - 1].contains(&b')');
    let says_so = match rest {
        [] => is_closed || is_apart,
        [word, set, ..] if is(word, &["in"]) => is(set, &["set"]),
        [verb, ..] => is(verb, &["affected", "selected", "returned", "fetched", "found"]),
    };
    !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
        && is(noun, &["row", "rows", "row(s", "record", "records", "record(s"])
        && says_so
}
