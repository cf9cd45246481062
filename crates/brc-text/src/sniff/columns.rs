//! The kinds of the columns of sampled rows, and the comparison of a row with them.

use super::kind::Kind;
use super::rows::Cell;
use super::shape::is_empty;

/// The maximum number of rows that are examined.
pub(super) const ROWS: usize = 200;

/// The kinds of the columns of some rows.
pub(super) struct Columns {
    kinds: Vec<Option<Kind>>,
}

/// The number of fields of a row that match typed columns, and that do not. Nulls count as neither, and nor do numbers in
/// columns of dates: they are no names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) alike: usize,
    pub(super) unlike: usize,
}

impl Columns {
    /// The kinds of the columns of the first rows of this width.
    pub(super) fn of<'r, 'a: 'r>(rows: impl Iterator<Item = &'r [Cell<'a>]>, width: usize) -> Self {
        let rows: Vec<_> = rows.filter(|row| row.len() == width && !is_empty(row)).take(ROWS).collect();
        Self { kinds: (0..width).map(|column| typed_column(&rows, column)).collect() }
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.kinds.len()
    }

    /// The kind of a column, if it is typed.
    pub(super) fn kind(&self, column: usize) -> Option<Kind> {
        self.kinds.get(column).copied().flatten()
    }

    /// Compares the fields of a row, of any width, with the columns at the same indexes.
    pub(super) fn compare(&self, row: &[Cell<'_>]) -> Comparison {
        self.compare_from(0, row)
    }

    /// The same, without the fields and columns before `first`.
    pub(super) fn compare_from(&self, first: usize, row: &[Cell<'_>]) -> Comparison {
        let mut comparison = Comparison::default();
        for (cell, kind) in row.iter().zip(&self.kinds).skip(first) {
            match (kind, Kind::of(cell)) {
                (None, _) | (_, Kind::Null) | (Some(Kind::Time), Kind::Number) => {}
                (Some(kind), own) if own == *kind => comparison.alike += 1,
                (Some(_), _) => comparison.unlike += 1,
            }
        }
        comparison
    }
}

/// The kind of a typed column: that of at least nine tenths of its fields.
fn typed_column(rows: &[&[Cell<'_>]], column: usize) -> Option<Kind> {
    let kinds = rows.iter().filter_map(|row| row.get(column)).map(Kind::of).filter(|kind| *kind != Kind::Null);
    let kinds: Vec<Kind> = kinds.collect();
    let first = *kinds.iter().find(|kind| kind.is_typed())?;
    let same = kinds.iter().filter(|kind| **kind == first).count();
    (same * 10 >= kinds.len() * 9).then_some(first)
}
