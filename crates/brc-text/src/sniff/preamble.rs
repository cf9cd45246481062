//! Detects where the table starts.
//!
//! Titles, notes and key-value pairs before a table are not rows, but narrow rows may be: a file whose rows grew starts
//! with narrow ones. A line is skipped only if it is unlike the table. Anything that could be a row is kept, so that
//! reading it is an error that names it rather than a silent loss.

use super::columns::{Columns, ROWS};
use super::comments::Leading;
use super::header::{self, Likeness};
use super::kind::Kind;
use super::rows::{Cell, SampleRows};
use super::shape::{Shape, is_empty};
use crate::dialect::Delimiter;

/// The index of the first row of the table, which may be its header.
pub(super) fn first_row(tables: &[SampleRows<'_>], shape: Shape, comments: &Leading, delimiter: Delimiter) -> usize {
    let Some(table) = tables.first() else { return 0 };
    let Some(begin) = (comments.end..table.len()).find(|row| !is_empty(table.row(*row))) else { return 0 };
    let body = shape.first.max(begin);
    let above: Vec<usize> = (begin..body).filter(|row| !is_empty(table.row(*row))).collect();
    let first = if above.is_empty() {
        after_titles(tables, body, shape.width, delimiter)
    } else {
        LeadingRows { tables, table, body, width: shape.width, delimiter }.first_row(&above)
    };
    if first == begin { comments.header.unwrap_or(first) } else { first }
}

/// The rows before the first one of the usual width.
struct LeadingRows<'t, 'a> {
    tables: &'t [SampleRows<'a>],
    table: &'t SampleRows<'a>,
    body: usize,
    width: usize,
    delimiter: Delimiter,
}

impl LeadingRows<'_, '_> {
    fn first_row(&self, above: &[usize]) -> usize {
        let judge = |row: usize| header::judge(self.tables, row, self.width, self.delimiter);
        let elsewhere = self.tables[1..].iter().flat_map(SampleRows::iter);
        let columns = Columns::of(self.table.iter().skip(self.body + 1).chain(elsewhere), self.width);
        let may_name = |row: usize| !self.is_metadata(self.table.row(row)) && judge(row).is_there();
        let below = judge(self.body);
        let is_alike = |row: &usize| self.is_alike(*row, &columns, &below);
        if let Some(alike) = above.iter().position(is_alike) {
            // From here on there are rows, if ragged ones.
            let header = alike.checked_sub(1).map(|before| above[before]);
            let header = header.filter(|row| may_name(*row));
            return header.unwrap_or(above[alike]);
        }
        let last = above[above.len() - 1];
        let is_title = |row: &usize| {
            let cells = self.table.row(*row);
            cells.len() == 1
                || self.is_too_narrow(cells)
                || self.is_metadata(cells) && self.is_unlike_below(&cells[0], &columns)
        };
        if below.is_there() {
            self.body
        } else if self.table.row(last).len() > 1 && may_name(last) {
            last
        } else if above.iter().all(is_title) {
            self.body
        } else {
            above[0]
        }
    }

    /// Whether a row has far too few fields, such as `total 8` above a file listing: if blanks delimit, no field is
    /// empty.
    fn is_too_narrow(&self, cells: &[Cell<'_>]) -> bool {
        self.delimiter == Delimiter::Blanks && cells.len() * 2 < self.width
    }

    /// Whether a row holds a key and its value, as instruments write them above a table: `Interval,10`, `Site:,Oslo`,
    /// or `@SQ`, `SN:chr1` and `LN:9`; but not if only the last column is missing, which a delimiter at the end of all
    /// rows makes.
    fn is_metadata(&self, cells: &[Cell<'_>]) -> bool {
        let Some((key, values)) = cells.split_first() else { return false };
        let is_typed =
            |cell: &Cell<'_>| Kind::of(cell).is_typed() && !matches!(Kind::of(cell), Kind::Bool | Kind::Flag);
        let is_pair = |cell: &Cell<'_>| cell.bytes.iter().skip(1).any(|byte| matches!(byte, b':' | b'='));
        let is_value = values.iter().filter(|cell| is_typed(cell)).count() == 1;
        let is_key = key.bytes.ends_with(b":") || is_value || !values.is_empty() && values.iter().all(is_pair);
        is_key && !(cells.len() + 1 == self.width && self.ends_empty())
    }

    /// Whether a field is unlike those of the first column.
    fn is_unlike_below(&self, key: &Cell<'_>, columns: &Columns) -> bool {
        match columns.kind(0) {
            Some(_) => columns.compare(&[*key]).unlike > 0,
            None => {
                let below: Vec<&[Cell<'_>]> = self.rows_below().collect();
                matches!(Likeness::of(key, &below, 0), Likeness::Unlike)
            }
        }
    }

    /// Whether the last field of all rows is empty.
    fn ends_empty(&self) -> bool {
        self.rows_below().all(|row| row.last().is_some_and(Cell::is_empty))
    }

    /// The rows of the table, as far as they are examined.
    fn rows_below(&self) -> impl Iterator<Item = &[Cell<'_>]> {
        self.table.iter().skip(self.body).filter(|row| row.len() == self.width).take(ROWS)
    }

    /// Whether a row may belong to the table.
    fn is_alike(&self, row: usize, columns: &Columns, below: &header::Header) -> bool {
        let cells = self.table.row(row);
        if self.is_too_narrow(cells) {
            return false;
        }
        let comparison = columns.compare(cells);
        if comparison.alike + comparison.unlike > 0 {
            return comparison.alike > comparison.unlike;
        }
        let is_apart = (row..self.body).any(|row| is_empty(self.table.row(row)));
        let is_title = match cells {
            [cell] => matches!(Kind::of(cell), Kind::Prose | Kind::Other) || below.is_there(),
            _ => below.is_there() && below.is_certain(),
        };
        !is_apart && !is_title
    }
}

/// The first row after titles as spreadsheets write them: rows of the usual width with text only in the first field, or
/// with a key and its value in a table of several other columns. Above two columns, an empty row follows them. If such
/// rows are common among those below, or no header follows them, they belong to the table. A few at its end are notes
/// if the header is certain.
fn after_titles(tables: &[SampleRows<'_>], first: usize, width: usize, delimiter: Delimiter) -> usize {
    let table = &tables[0];
    let of_title = if width > 3 { 2 } else { 1 };
    let is_title = |row: &[Cell<'_>]| {
        row.iter().skip(of_title).all(Cell::is_empty) && !row.first().is_some_and(|cell| Kind::of(cell).is_typed())
    };
    let titles = table.iter().skip(first).take_while(|row| is_title(row)).count();
    let after = first + titles;
    let end = (after..table.len()).rev().find(|row| !is_title(table.row(*row))).map_or(after, |last| last + 1);
    let is_blank = |row: &[Cell<'_>]| row.iter().all(Cell::is_empty);
    let (below, notes) = (end - after, table.iter().skip(end).filter(|row| !is_blank(row)).count());
    let is_apart = || table.iter().skip(first).take(titles).any(is_blank);
    // Rows without any value are no titles.
    let again = table.iter().take(end).skip(after).filter(|row| is_title(row) && !row[0].is_empty()).count();
    let is_table = titles > 0 && below > notes && again * 10 < below && (width > 2 || width == 2 && is_apart());
    if !is_table {
        return first;
    }
    let has_header = if notes == 0 {
        header::judge(tables, after, width, delimiter).is_there()
    } else {
        let mut above_notes = table.clone();
        above_notes.truncate(end);
        let header = header::judge(&[above_notes], after, width, delimiter);
        header.is_there() && header.is_certain()
    };
    if has_header { after } else { first }
}
