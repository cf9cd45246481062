//! Where the table begins.
//!
//! Titles, notes and key-value pairs before a table are not rows of it, but rows that are narrower than the others may
//! be: a file whose rows grew begins with narrow ones. A line is left out only if it is unlike the table. Whatever
//! could be a row stays one, so that reading it is an error that names it rather than a loss.

use super::columns::Columns;
use super::comments::Leading;
use super::header;
use super::kind::Kind;
use super::rows::{Cell, Rows};
use super::score::{Shape, is_empty};
use crate::dialect::Delimiter;

/// The first row of the table: its header, if it has one.
pub(super) fn first_row(tables: &[Rows<'_>], shape: Shape, comments: Leading, delimiter: Delimiter) -> usize {
    let Some(table) = tables.first() else { return 0 };
    let Some(begin) = (comments.end..table.len()).find(|row| !is_empty(table.row(*row))) else { return 0 };
    let body = shape.first.max(begin);
    let above: Vec<usize> = (begin..body).filter(|row| !is_empty(table.row(*row))).collect();
    let first = if above.is_empty() {
        after_titles(tables, body, shape.width, delimiter)
    } else {
        Above { tables, table, body, width: shape.width, delimiter }.first_row(&above)
    };
    if first == begin { comments.header.unwrap_or(first) } else { first }
}

/// Rows before the first one that has the usual width.
struct Above<'t, 'a> {
    tables: &'t [Rows<'a>],
    table: &'t Rows<'a>,
    body: usize,
    width: usize,
    delimiter: Delimiter,
}

impl Above<'_, '_> {
    fn first_row(&self, above: &[usize]) -> usize {
        let judge = |row: usize| header::judge(self.tables, row, self.width, self.delimiter);
        let below = judge(self.body);
        let elsewhere = self.tables[1..].iter().flat_map(Rows::iter);
        let columns = Columns::of(self.table.iter().skip(self.body + 1).chain(elsewhere), self.width);
        let is_alike = |row: &usize| self.is_alike(*row, &columns, &below);
        if let Some(alike) = above.iter().position(is_alike) {
            // From there on there are rows, though ragged ones.
            let header = alike.checked_sub(1).map(|before| above[before]);
            let header = header.filter(|row| judge(*row).is_there());
            return header.unwrap_or(above[alike]);
        }
        let last = above[above.len() - 1];
        if below.is_there() {
            self.body
        } else if self.table.row(last).len() > 1 && judge(last).is_there() {
            last
        } else if above.iter().all(|row| self.table.row(*row).len() == 1 || self.is_too_narrow(self.table.row(*row))) {
            self.body
        } else {
            above[0]
        }
    }

    /// Whether a row has far too few fields, as `total 8` above a list of files: between blanks no field is empty.
    fn is_too_narrow(&self, cells: &[Cell<'_>]) -> bool {
        self.delimiter == Delimiter::Blanks && cells.len() * 2 < self.width
    }

    /// Whether a row may be one of the table.
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

/// The first row after titles, as spreadsheets write them: rows of the usual width with a text in their first field only.
/// Where such rows are usual further down, or there are no names after them, they belong to the table.
fn after_titles(tables: &[Rows<'_>], first: usize, width: usize, delimiter: Delimiter) -> usize {
    let table = &tables[0];
    let is_title = |row: &[Cell<'_>]| {
        width > 2 && row[1..].iter().all(Cell::is_empty) && !row.first().is_some_and(|cell| Kind::of(cell).is_typed())
    };
    let titles = table.iter().skip(first).take_while(|row| is_title(row)).count();
    let after = first + titles;
    let below = table.len().saturating_sub(after);
    let again = table.iter().skip(after).filter(|row| is_title(row)).count();
    let is_table = titles > 0 && below > 0 && again * 10 < below;
    if is_table && header::judge(tables, after, width, delimiter).is_there() { after } else { first }
}
