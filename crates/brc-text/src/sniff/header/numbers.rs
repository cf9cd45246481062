//! Whether numbers in the first row are column names.
//!
//! Tables of one value per year, month or hour have numbers for names, which look like values. What tells them apart is
//! their order, the name beside them, and that no row below is ordered alike.

use super::super::columns::Columns;
use super::super::kind::{Kind, is_year};
use super::super::rows::Cell;
use super::{Likeness, are_distinct, begin_distinct, is_like_a_name, recurs};

/// How likely the numbers of the first row are column names; with the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberNames {
    Unlikely,
    /// As likely as not.
    Possible,
    Likely(&'static str),
    Certain(&'static str),
}

/// The minimum number of ascending numbers that are hardly so by chance, if none has more than four digits; others need
/// one more.
const MIN_SORTED: usize = 5;
const MAX_DIGITS: usize = 4;
/// The minimum number of evenly spaced numbers that are hardly so by chance.
const MIN_EVEN: usize = 3;
/// The minimum number of rows below that tell names from values.
const MIN_ROWS: usize = 3;

/// The minimum number of fractions below that tell whole numbers from values.
const MIN_FRACTIONS: usize = 9;

/// Judges the numbers of the row above `below`, whose columns are `columns`.
pub(super) fn judge(row: &[Cell<'_>], below: &[&[Cell<'_>]], columns: &Columns) -> NumberNames {
    let filled = (0..row.len()).filter(|index| !row[*index].is_empty());
    let (numbers, names): (Vec<usize>, Vec<usize>) = filled.partition(|index| Kind::of(&row[*index]).is_typed());
    let Some(steps) = steps(numbers.iter().map(|index| &row[*index])).filter(|_| !numbers.is_empty()) else {
        return NumberNames::Unlikely;
    };
    if numbers.last() >= Some(&columns.width()) {
        return NumberNames::Unlikely;
    }
    let recurs = |index: &usize| recurs(&row[*index], below, *index);
    let names_rows = names.is_empty() && row[0].is_empty() && begins_with_names(below);
    if names.is_empty() && !names_rows {
        return judge_numbers(row, below, &numbers, &steps);
    }
    if !are_distinct(row.iter().map(|cell| cell.bytes)) || names.iter().any(recurs) {
        return NumberNames::Unlikely;
    }
    let ascends = steps.iter().all(|step| *step > 0.0) && !steps.is_empty();
    let are_years = numbers.iter().all(|index| is_year(row[*index].bytes.trim_ascii()));
    let over_numbers = |index: &usize| columns.kind(*index) == Some(Kind::Number) && is_like_a_name(&row[*index]);
    if names.iter().any(over_numbers) && (are_years || is_even(&steps) || ascends && steps.len() > 1) {
        return NumberNames::Certain("a name above numbers, and numbers in sequence");
    }
    if are_years {
        let follow = steps.len() > 1 || steps.iter().all(|step| step.abs() == 1.0);
        let is_typed = numbers.iter().any(|index| columns.kind(*index).is_some());
        return match share_of_years(below, &numbers) {
            half if half > 0.5 => NumberNames::Unlikely,
            some if some > 0.1 => NumberNames::Possible,
            _ if is_sorted(&steps) && (follow || is_typed) => {
                NumberNames::Certain("years above other values, next to a name")
            }
            _ => NumberNames::Possible,
        };
    }
    if !ascends || are_mixed(below, &numbers, columns) {
        return NumberNames::Unlikely;
    }
    judge_sequence(row, below, &numbers, &names, is_even(&steps))
}

/// Judges a row of only numbers in sequence: successive years above other values are names, and 0, 1, 2 … may be those of
/// a matrix, or its first row.
fn judge_numbers(row: &[Cell<'_>], below: &[&[Cell<'_>]], numbers: &[usize], steps: &[f64]) -> NumberNames {
    let follow = steps.len() + 1 >= MIN_EVEN && steps.iter().all(|step| *step == 1.0);
    if !follow || numbers.len() < row.len() || below.len() < MIN_ROWS || ordered(below, numbers, is_even) > 0 {
        return NumberNames::Unlikely;
    }
    let are_years = numbers.iter().all(|index| is_year(row[*index].bytes.trim_ascii()));
    if are_years && share_of_years(below, numbers) == 0.0 {
        NumberNames::Likely("successive years above other numbers")
    } else {
        NumberNames::Possible
    }
}

/// Judges `numbers` that ascend, next to `names`; without any above row names.
fn judge_sequence(
    row: &[Cell<'_>],
    below: &[&[Cell<'_>]],
    numbers: &[usize],
    names: &[usize],
    are_even: bool,
) -> NumberNames {
    let is = |index: &usize, likeness| Likeness::of(&row[*index], below, *index) == likeness;
    if names.iter().any(|name| is(name, Likeness::Alike)) {
        return NumberNames::Unlikely;
    }
    let above_names = matches!(names, [] | [0]) && begins_with_names(below);
    let fractions = if above_names && is_whole(row, numbers) { fractions(below, numbers) } else { 0 };
    let are_sorted = are_sorted(below, numbers);
    let evidence = "numbers in sequence above others, next to a name";
    match numbers.len() {
        _ if names.is_empty() && are_sorted && fractions == 0 => {
            NumberNames::Likely("numbers in sequence, above row names")
        }
        _ if names.is_empty() => NumberNames::Certain("numbers in sequence, above row names"),
        _ if fractions >= MIN_FRACTIONS => NumberNames::Certain("whole numbers in sequence above fractions"),
        MIN_EVEN.. if fractions > 0 && are_even => NumberNames::Likely("whole numbers in sequence above fractions"),
        MIN_EVEN.. if fractions > 0 => NumberNames::Possible,
        MIN_EVEN.. if are_sorted && above_names && are_even && is(&0, Likeness::Unlike) => NumberNames::Possible,
        _ if are_sorted => NumberNames::Unlikely,
        MIN_SORTED.. if are_even && below.len() >= MIN_ROWS => NumberNames::Certain(evidence),
        MIN_SORTED.. if numbers.len() > MIN_SORTED || are_short(row, numbers) => NumberNames::Likely(evidence),
        MIN_EVEN.. if are_even => NumberNames::Likely(evidence),
        MIN_EVEN.. => NumberNames::Possible,
        _ => NumberNames::Unlikely,
    }
}

/// Whether the first fields of the rows are distinct words.
fn begins_with_names(rows: &[&[Cell<'_>]]) -> bool {
    rows.len() > 1 && begin_distinct(rows) && rows.iter().all(|row| is_like_a_name(&row[0]))
}

/// Whether more than a tenth of the rows have numbers in order in these columns.
fn are_sorted(rows: &[&[Cell<'_>]], columns: &[usize]) -> bool {
    ordered(rows, columns, is_sorted) * 10 > rows.len()
}

/// The number of rows with numbers in these columns whose differences are so.
fn ordered(rows: &[&[Cell<'_>]], columns: &[usize], are_so: fn(&[f64]) -> bool) -> usize {
    let is_one =
        |row: &&&[Cell<'_>]| steps(columns.iter().map(|column| &row[*column])).is_some_and(|steps| are_so(&steps));
    rows.iter().filter(is_one).count()
}

/// Whether the fields in these columns have digits only.
fn is_whole(row: &[Cell<'_>], columns: &[usize]) -> bool {
    columns.iter().all(|column| row[*column].bytes.iter().all(u8::is_ascii_digit))
}

/// Whether the fields in these columns are whole numbers of few digits.
fn are_short(row: &[Cell<'_>], columns: &[usize]) -> bool {
    is_whole(row, columns) && columns.iter().all(|column| row[*column].bytes.len() <= MAX_DIGITS)
}

/// The number of fields in these columns, if each of them is empty or has a decimal mark or an exponent.
fn fractions(rows: &[&[Cell<'_>]], columns: &[usize]) -> usize {
    let cells = || rows.iter().flat_map(|row| columns.iter().map(|column| &row[*column]));
    let filled = || cells().filter(|cell| Kind::of(cell) != Kind::Null);
    let is_fraction = |cell: &Cell<'_>| cell.bytes.iter().any(|byte| matches!(byte, b'.' | b',' | b'e' | b'E'));
    if filled().all(is_fraction) { filled().count() } else { 0 }
}

/// Whether one of the columns is text but has numbers.
fn are_mixed(rows: &[&[Cell<'_>]], indexes: &[usize], columns: &Columns) -> bool {
    let has_numbers = |index: usize| rows.iter().any(|row| Kind::of(&row[index]) == Kind::Number);
    indexes.iter().any(|&index| columns.kind(index) != Some(Kind::Number) && has_numbers(index))
}

/// The share of the fields in these columns that are years.
fn share_of_years(rows: &[&[Cell<'_>]], columns: &[usize]) -> f64 {
    let cells = || rows.iter().flat_map(|row| columns.iter().map(|column| &row[*column]));
    let years = cells().filter(|cell| is_year(cell.bytes.trim_ascii())).count();
    years as f64 / cells().filter(|cell| !cell.is_empty()).count().max(1) as f64
}

/// The differences of successive numbers; `None` if a field is not a number.
pub(super) fn steps<'c, 'a: 'c>(numbers: impl Iterator<Item = &'c Cell<'a>>) -> Option<Vec<f64>> {
    let number = |cell: &Cell<'_>| std::str::from_utf8(cell.bytes.trim_ascii()).ok()?.parse::<f64>().ok();
    let values = numbers.map(number).collect::<Option<Vec<f64>>>()?;
    Some(values.windows(2).map(|pair| pair[1] - pair[0]).collect())
}

/// Whether all steps are equal, and there is one.
fn is_even(steps: &[f64]) -> bool {
    is_sorted(steps) && steps.iter().all(|step| (step - steps[0]).abs() <= steps[0].abs() * 1e-6)
}

/// Whether all steps go the same way, and there is one.
fn is_sorted(steps: &[f64]) -> bool {
    !steps.is_empty() && (steps.iter().all(|step| *step > 0.0) || steps.iter().all(|step| *step < 0.0))
}
