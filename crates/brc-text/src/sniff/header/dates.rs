//! Whether dates and times tell that the first row holds names.

use super::super::columns::Columns;
use super::super::kind::Kind;
use super::super::rows::Cell;
use super::{are_distinct, is_like_a_name};

/// The evidence if a series begins with its dates below a name, whatever the names of the other columns are: stations
/// and products have numbers.
pub(super) fn name_above(row: &[Cell<'_>], below: &[&[Cell<'_>]], columns: &Columns) -> Option<&'static str> {
    row.first().filter(|cell| is_like_a_name(cell) && Kind::of(cell) == Kind::Word)?;
    let are_dates = columns.kind(0) == Some(Kind::Time) && below.iter().all(|row| Kind::of(&row[0]) == Kind::Time);
    let are_names = row.iter().all(|cell| !cell.is_empty()) && are_distinct(row.iter().map(|cell| cell.bytes));
    (are_dates && are_names && below.len() > 1).then_some("a name above dates or times")
}

/// The evidence if dates or times are names above text: days of a roster, hours of a timetable.
pub(super) fn above_text(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> Option<&'static str> {
    let is_time = |cell: &Cell<'_>| Kind::of(cell) == Kind::Time;
    let (times, names): (Vec<usize>, Vec<usize>) = (0..row.len()).partition(|index| is_time(&row[*index]));
    let are_names = names.iter().all(|index| is_like_a_name(&row[*index]) || row[*index].is_empty());
    let has_times = |index: &usize| below.iter().any(|row| row.get(*index).is_some_and(is_time));
    let has_nulls = |index: &usize| {
        let mut cells = below.iter().filter_map(|row| row.get(*index)).filter(|cell| !cell.is_empty());
        cells.any(|cell| Kind::of(cell) == Kind::Null)
    };
    let is_filled = |index: &usize| below.iter().any(|row| row.get(*index).is_some_and(|cell| !cell.is_empty()));
    let are_above_text = !times.iter().any(|it| has_times(it) || has_nulls(it)) && times.iter().any(is_filled);
    let are_several = times.len() > 1 && below.len() > 1 && are_distinct(row.iter().map(|cell| cell.bytes));
    (are_several && are_names && are_above_text).then_some("dates or times above text")
}
