//! The usual width of the rows of a sample, and where the table starts.

use super::columns::Columns;
use super::header::are_distinct;
use super::kind::Kind;
use super::rows::{Cell, SampleRows};
use super::samples::Samples;
use crate::unquote::within_blanks;
use std::collections::BTreeMap;

/// The usual width of the rows, and where the table starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of rows that are not empty.
    pub(super) rows: usize,
    /// The number of these from the first row of the table on; without the footer if the table is apart.
    pub(super) of_table: usize,
    /// The number of these of the usual width.
    pub(super) usual: usize,
    /// The usual number of fields.
    pub(super) width: usize,
    /// The first row of the table in the sample of the file's start. The rows before it have other widths: titles, or
    /// ragged rows.
    pub(super) first: usize,
    /// Whether an empty line separates the table from keys and values before it.
    is_apart: bool,
}

/// The number of columns that blanks align, of which the last may contain blanks: the smallest width of all rows that
/// are wider than `narrow`.
pub(super) fn aligned_columns(samples: &Samples<'_>, tables: &[SampleRows<'_>], narrow: usize) -> Option<usize> {
    let filled = tables.iter().flat_map(SampleRows::iter).filter(|row| !is_empty(row)).map(<[Cell<'_>]>::len);
    let least = filled.filter(|width| *width > narrow).min()?;
    (least >= MIN_ALIGNED_COLUMNS && samples.are_aligned()).then_some(least)
}

/// The minimum number of columns of a table that is recognised by its alignment: lines of prose have as many words.
const MIN_ALIGNED_COLUMNS: usize = 4;

/// The number of rows at the end of the samples that determine the width of the table below any number of titles.
const LAST_ROWS: usize = 20;
/// The minimum number of rows of a table that starts after other rows.
const MIN_ROWS_AFTER_TITLES: usize = 2;

impl Shape {
    /// The shape of the rows of several samples, without the first `skip` rows of the file.
    pub(super) fn of(tables: &[SampleRows<'_>], skip: usize) -> Shape {
        let widths = |rows: &SampleRows<'_>| -> Vec<(usize, usize)> {
            let filled = rows.iter().enumerate().filter(|(_, row)| !is_empty(row));
            filled.map(|(index, row)| (index, row.len())).collect()
        };
        let mut beginning = tables.first().map(widths).unwrap_or_default();
        beginning.retain(|(row, _)| *row >= skip);
        let elsewhere: Vec<usize> = tables.iter().skip(1).flat_map(widths).map(|(_, width)| width).collect();
        let all = || beginning.iter().map(|(_, width)| *width).chain(elsewhere.iter().copied());
        let count = beginning.len() + elsewhere.len();
        let common = most_common(all());
        let last = most_common(all().skip(count.saturating_sub(LAST_ROWS)));
        if let Some(table) = tables.first().filter(|_| elsewhere.is_empty())
            && let Some(shape) = Self::below_keys(table, &beginning)
        {
            return shape;
        }
        let below = Self::below_titles(&beginning, &elsewhere, last).filter(|_| last > common);
        below.or_else(|| Self::below_titles(&beginning, &elsewhere, common)).unwrap_or_else(|| {
            let first = beginning.iter().find(|(_, width)| *width == common).map_or(0, |(index, _)| *index);
            let is_wide = |(_, width): &&(usize, usize)| common == 1 || *width > 1 && width * 2 > common;
            let first = beginning.iter().find(is_wide).map_or(first, |(index, _)| *index);
            let usual = all().filter(|width| *width == common).count();
            Shape { rows: count, of_table: count, usual, width: common, first, is_apart: false }
        })
    }

    /// The shape of a table of this width that starts after rows of other widths, if there is one: after its first row
    /// nearly all rows have the width, and before it hardly any. It starts where it gains most rows of the width for
    /// the fewest others.
    fn below_titles(beginning: &[(usize, usize)], elsewhere: &[usize], width: usize) -> Option<Shape> {
        let (mut of_table, rows) = (elsewhere.len(), elsewhere.len() + beginning.len());
        let mut usual = elsewhere.iter().filter(|other| **other == width).count();
        let all = usual + beginning.iter().filter(|(_, other)| *other == width).count();
        let mut best: Option<(i64, usize, Shape)> = None;
        for (position, (index, other)) in beginning.iter().enumerate().rev() {
            of_table += 1;
            usual += usize::from(*other == width);
            let gain = 4 * usual as i64 - 3 * of_table as i64;
            if *other == width && best.is_none_or(|(most, ..)| gain >= most) {
                best = Some((gain, position, Shape { rows, of_table, usual, width, first: *index, is_apart: false }));
            }
        }
        let (_, position, shape) = best?;
        // Titles may have as many fields by chance, but only few of them if the table has few rows.
        let before = (all - shape.usual) * if shape.of_table < LAST_ROWS { 10 } else { 2 };
        let is_table = shape.of_table >= MIN_ROWS_AFTER_TITLES && shape.usual * 10 >= shape.of_table * 9;
        (width > 1 && is_table && before <= position).then_some(shape)
    }

    /// The shape of a short table with values below an empty line, if all rows above are keys and their values, which are
    /// narrower, and only few narrow ones follow.
    fn below_keys(table: &SampleRows<'_>, filled: &[(usize, usize)]) -> Option<Shape> {
        let mut below_gaps = (1..filled.len()).filter(|at| filled[*at].0 > filled[at - 1].0 + 1);
        below_gaps.find_map(|at| {
            let (above, below) = filled.split_at(at);
            let (first, width) = below[0];
            let are_narrow = |rows: &[(usize, usize)]| rows.iter().all(|(_, other)| *other * 2 <= width + 1);
            if width < 3 || !are_narrow(above) {
                return None;
            }
            let usual = below.iter().take_while(|(_, other)| *other == width).count();
            let (rows, footer) = below.split_at(usual);
            let cells =
                |rows: &[(usize, usize)]| -> Vec<&[Cell<'_>]> { rows.iter().map(|(row, _)| table.row(*row)).collect() };
            let columns = Columns::of(cells(&rows[1..]).into_iter(), width);
            let is_table = usual >= MIN_ROWS_AFTER_TITLES
                && footer.len() <= usual
                && are_narrow(footer)
                && (0..width).any(|column| columns.kind(column).is_some())
                && are_keys(&cells(above));
            let shape = Shape { rows: filled.len(), of_table: usual, usual, width, first, is_apart: true };
            is_table.then_some(shape)
        })
    }

    /// The number of columns of a table whose last column takes the rest of the line: the usual width. It is the number
    /// of aligned columns if most rows do not have the usual width, or if the first row, which may be a header, and
    /// another one have that number.
    pub(super) fn width_with_rest(self, samples: &Samples<'_>, tables: &[SampleRows<'_>]) -> usize {
        let Some(aligned) = aligned_columns(samples, tables, self.width / 2) else { return self.width };
        let mut widths = tables.iter().flat_map(SampleRows::iter).filter(|row| !is_empty(row)).map(<[Cell<'_>]>::len);
        let is_of_header = widths.next() == Some(aligned) && widths.any(|width| width == aligned);
        if self.usual * 2 > self.of_table && !is_of_header { self.width } else { aligned }
    }

    /// Whether several rows at the end have the same width of several columns, and others before them have not.
    pub(super) fn is_even_at_the_end(self) -> bool {
        self.width > 2 && self.of_table < self.rows && self.usual == self.of_table && self.usual > 2
    }

    /// The pattern score, from 0 to 1. A few uniform rows after others may be a coincidence.
    pub(super) fn consistency(self) -> f64 {
        let [rows, of_table, usual] = [self.rows, self.of_table, self.usual].map(|rows| rows.max(1) as f64);
        let least = if self.is_apart { 0.5 } else { 0.0 };
        let certainty = (of_table / rows).max(of_table / 10.0).clamp(least, 1.0);
        let certainty = if of_table == rows { 1.0 } else { 0.8 * certainty };
        (usual / of_table) * (usual / of_table) * certainty
    }
}

/// Whether rows start with distinct words, and some have more, unless they look like a table: numbers below a name.
fn are_keys(rows: &[&[Cell<'_>]]) -> bool {
    let is_number = |row: &&[Cell<'_>]| row.get(1).is_some_and(|value| Kind::of(value) == Kind::Number);
    let are_values = rows.len() > 2 && !is_number(&rows[0]) && rows[1..].iter().all(is_number);
    !are_values
        && rows.iter().any(|row| row.len() > 1)
        && rows.iter().all(|row| !row[0].is_empty() && !Kind::of(&row[0]).is_typed())
        && are_distinct(rows.iter().map(|row| row[0].bytes))
}

/// The most common width; the greater of equally common ones, because titles are narrow.
pub(super) fn most_common(widths: impl Iterator<Item = usize>) -> usize {
    let mut counts = BTreeMap::new();
    for width in widths {
        *counts.entry(width).or_insert(0_usize) += 1;
    }
    counts.iter().max_by_key(|(width, count)| (**count, **width)).map_or(1, |(width, _)| *width)
}

/// Whether a row has nothing but blanks.
pub(super) fn is_empty(row: &[Cell<'_>]) -> bool {
    row.len() == 1 && !row[0].is_quoted && within_blanks(row[0].bytes).is_empty()
}
