//! Whether the first row is a header.
//!
//! Names differ from the values below: a word above numbers, a text that does not recur. If all columns are text, the
//! decision is a guess; most files have a header.

mod dates;
mod numbers;
mod text;

use super::columns::{Columns, Comparison, ROWS};
use super::comments::is_ruler;
use super::kind::{Kind, are_bands, is_limit, is_placeholder};
use super::report::count;
use super::rows::{Cell, SampleRows};
use super::shape::is_empty;
use crate::dialect::Delimiter;
use numbers::NumberNames;
pub(in crate::sniff) use text::Likeness;

/// Whether there is a header, and the evidence.
pub(super) struct Header {
    /// The strength of the evidence for a header, or against one if negative. From [`CERTAIN`] on it is more than the
    /// prior probability.
    weight: i32,
    pub(super) evidence: String,
    /// The fields of the first row.
    pub(super) cells: Option<Vec<String>>,
    /// The number of columns that the first row does not name.
    pub(super) unnamed: usize,
    /// The number of rows below that seem to describe the columns, such as their units, or to be the header instead.
    pub(super) described: usize,
    /// Whether the decision may well be wrong.
    pub(super) is_doubtful: bool,
}

/// The minimum weight of evidence from the fields themselves.
const CERTAIN: i32 = 2;

/// The number of rows below dates that leaves no doubt that they are no values.
const MANY: usize = 4;

/// The weight of the evidence, and the evidence, as in [`Header`].
struct Verdict {
    weight: i32,
    evidence: String,
    is_doubtful: bool,
}

impl Verdict {
    fn new(weight: i32, evidence: impl Into<String>) -> Self {
        Self { weight, evidence: evidence.into(), is_doubtful: false }
    }
}

impl Header {
    pub(super) fn is_there(&self) -> bool {
        self.weight > 0
    }

    /// The same of a row that is below the names.
    pub(super) fn without_names(self) -> Self {
        let evidence = "the names are above a line of dashes".to_owned();
        Self { weight: -CERTAIN, evidence, is_doubtful: false, ..self }
    }

    /// Whether the evidence, for or against a header, is more than the prior probability.
    pub(super) fn is_certain(&self) -> bool {
        self.weight.abs() >= CERTAIN
    }
}

/// Judges the row `first` of the first table by the rows of `width` fields below it.
pub(super) fn judge(tables: &[SampleRows<'_>], first: usize, width: usize, delimiter: Delimiter) -> Header {
    let Some(table) = tables.first().filter(|table| first < table.len()) else {
        let evidence = "there are no rows at the start of the file".to_owned();
        return Header { weight: 0, evidence, cells: None, unnamed: 0, described: 0, is_doubtful: false };
    };
    let below = table.iter().skip(first + 1).chain(tables[1..].iter().flat_map(SampleRows::iter));
    let below = below.take(next_table(table, first).unwrap_or(usize::MAX));
    let below: Vec<&[Cell<'_>]> = below.filter(|row| row.len() == width && !is_empty(row)).take(ROWS).collect();
    // Above row names, aligned headers are indented.
    let may_have_row_names = delimiter != Delimiter::Blanks || table.is_indented(first) || !table.is_aligned(first);
    let row = match may_have_row_names {
        true => with_row_names(table.row(first), &below, delimiter),
        false => table.row(first).to_vec(),
    };
    let described = descriptions(&below);
    let Verdict { weight, evidence, is_doubtful } = match below.is_empty() {
        true => judge_alone(&row),
        false => judge_by(&row, &below, described),
    };
    let text = |cell: &Cell<'_>| String::from_utf8_lossy(cell.bytes).replace("\"\"", "\"");
    let mut cells: Vec<String> = row.iter().map(text).collect();
    let unnamed = width.saturating_sub(row.len());
    cells.resize(width.max(row.len()), String::new());
    Header { weight, evidence, cells: Some(cells), unnamed, described, is_doubtful }
}

/// The number of rows between a row that may be a header and an empty one above another such row.
fn next_table(table: &SampleRows<'_>, first: usize) -> Option<usize> {
    let is_next = |row: &usize| is_empty(table.row(row - 1)) && are_names(table.row(*row));
    let next = (first + 3..table.len()).take(ROWS).find(is_next).filter(|_| are_names(table.row(first)))?;
    Some(next - first - 1)
}

/// The maximum number of rows that describe the columns: loggers write units, and how values were processed.
const MAX_DESCRIPTIONS: usize = 3;

/// The number of first rows without any value in the number or date columns of the rows after them, but with text: the
/// first of them in several, unless it is a line of dashes or the like.
fn descriptions(rows: &[&[Cell<'_>]]) -> usize {
    let describe = |count: &usize| match rows.split_at_checked(*count) {
        Some((above, below)) if below.len() > 1 => {
            let columns = Columns::of(below.iter().copied(), below[0].len());
            let least = if is_ruler(above[0]) { 1 } else { 2 };
            has_only_text(columns.compare(above[0]), least)
                && above.iter().all(|row| has_only_text(columns.compare(row), 1))
        }
        _ => false,
    };
    (1..=MAX_DESCRIPTIONS).rev().find(describe).unwrap_or(0)
}

/// Whether a row has no value in the typed columns, and text in at least some.
fn has_only_text(comparison: Comparison, some: usize) -> bool {
    comparison.alike == 0 && comparison.unlike >= some
}

/// The fields of a header, with an empty one added in front if it lacks a name for the row names.
fn with_row_names<'a>(row: &[Cell<'a>], below: &[&[Cell<'a>]], delimiter: Delimiter) -> Vec<Cell<'a>> {
    let mut cells = row.to_vec();
    if lacks_row_names(row, below, delimiter) {
        cells.insert(0, Cell { bytes: b"", is_quoted: true, is_padded: false, is_beside_tab: false });
    }
    cells
}

/// Whether a header names all columns but the row names, as in tables written by R: one field short, above rows that
/// start with distinct strings.
fn lacks_row_names(row: &[Cell<'_>], below: &[&[Cell<'_>]], delimiter: Delimiter) -> bool {
    let is_short = below.len() > 1 && below.iter().all(|other| other.len() == row.len() + 1);
    let is_blank = matches!(delimiter, Delimiter::Blanks | Delimiter::Byte(b' ' | b'\t'));
    let are_quoted = || row.iter().all(|cell| cell.is_quoted) && below.iter().all(|other| other[0].is_quoted);
    let ends_empty = || below.iter().all(|other| other[other.len() - 1].is_empty());
    is_short && (is_blank || are_quoted()) && !ends_empty() && begin_distinct(below)
}

/// Whether the first row lacks a name for the row names, which are words, above columns most of which are typed.
pub(super) fn is_above_row_names(tables: &[SampleRows<'_>], width: usize, delimiter: Delimiter) -> bool {
    let mut rows = tables.iter().flat_map(SampleRows::iter).filter(|row| !is_empty(row));
    let is_short = |first: &&[Cell<'_>]| first.len() + 1 == width && first.iter().all(is_like_a_name);
    let Some(first) = rows.next().filter(is_short) else { return false };
    let below: Vec<&[Cell<'_>]> = rows.collect();
    let columns = Columns::of(below.iter().copied(), width);
    let typed = (0..width).filter(|column| columns.kind(*column).is_some()).count();
    typed * 2 >= width && columns.kind(0).is_none() && lacks_row_names(first, &below, delimiter)
}

/// Whether all fields are distinct.
pub(super) fn are_distinct<'a>(fields: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut values: Vec<&[u8]> = fields.collect();
    values.sort_unstable();
    values.windows(2).all(|pair| pair[0] != pair[1])
}

/// Whether the first fields of the rows are distinct and not empty.
fn begin_distinct(rows: &[&[Cell<'_>]]) -> bool {
    rows.iter().all(|row| !row[0].is_empty()) && are_distinct(rows.iter().map(|row| row[0].bytes))
}

/// Judges a row with nothing below it. Next to a name, words such as `y`, `t` and `no` are names, too.
fn judge_alone(row: &[Cell<'_>]) -> Verdict {
    let is_name = |cell: &Cell<'_>| !Kind::of(cell).is_typed() && !cell.is_empty();
    let is_flag = |cell: &Cell<'_>| Kind::of(cell) == Kind::Flag && !cell.bytes.eq_ignore_ascii_case(b"yes");
    let may_be_name = |cell: &Cell<'_>| is_name(cell) || is_flag(cell);
    let are_names = row.len() > 1 && row.iter().any(is_name) && row.iter().all(may_be_name);
    let evidence = format!("the only row {} names", if are_names { "could hold" } else { "holds more than" });
    Verdict::new(if are_names { 1 } else { -1 }, evidence)
}

/// Judges a row by those below it, of which `described` seem to describe the columns.
fn judge_by(row: &[Cell<'_>], below: &[&[Cell<'_>]], described: usize) -> Verdict {
    // The header of each of several concatenated files recurs.
    let are_names = are_names(row);
    let is_repeated =
        |other: &&&[Cell<'_>]| are_names && row.iter().map(|it| it.bytes).eq(other.iter().map(|it| it.bytes));
    let rows: Vec<&[Cell<'_>]> = below.iter().filter(|other| !is_repeated(other)).copied().collect();
    let columns = Columns::of(rows.iter().copied(), below[0].len());
    let Comparison { unlike, alike } = compare_names(row, &rows, &columns);
    let typed = unlike + alike;
    if is_quoted_over_unquoted(row, below) {
        return Verdict::new(4, "its fields are quoted; fields below are not");
    }
    if names_rows(row, below) {
        return Verdict::new(4, "its first field is empty, above row names or row numbers");
    }
    if unlike <= alike
        && let Some(evidence) = dates::name_above(row, below, &columns)
    {
        return Verdict::new(CERTAIN, evidence);
    }
    let under_descriptions =
        (described > 0).then(|| Columns::of(below[described..].iter().copied(), below[0].len()).compare(row));
    if let Some(Comparison { unlike: 1.., alike: 1.. }) = under_descriptions {
        return Verdict::new(CERTAIN, "a name above numbers or dates, and a row below it that describes the columns");
    }
    let numbers = if unlike <= alike { numbers::judge(row, below, &columns) } else { NumberNames::Unlikely };
    if let NumberNames::Certain(evidence) | NumberNames::Likely(evidence) = numbers {
        let is_doubtful = matches!(numbers, NumberNames::Likely(_));
        return Verdict { is_doubtful, ..Verdict::new(CERTAIN, evidence) };
    }
    let is_doubtful = numbers == NumberNames::Possible;
    let values = text::values(row, if typed > 0 { &rows } else { below }, &columns);
    if values >= unlike.max(1) && !text::are_usual(row, values) {
        let evidence = format!(
            "{} of the first row recur below, or have the same words with other numbers",
            count(values, "field")
        );
        return Verdict { is_doubtful: unlike > 0, ..Verdict::new(-CERTAIN, evidence) };
    }
    if typed > 0 {
        let weight = 2 * (unlike.min(4) as i32 - alike.min(4) as i32);
        let weight = if unlike > alike { weight.max(CERTAIN) } else { weight.min(-1) };
        return Verdict { is_doubtful, ..Verdict::new(weight, first_row_of(unlike, typed)) };
    }
    if under_descriptions.is_some_and(|comparison| has_only_text(comparison, 2)) {
        let rows = count(described, "row");
        let evidence = format!("in number or date columns the first row is not a value, like {rows} below it");
        return Verdict::new(CERTAIN, evidence);
    }
    if let Some(evidence) = dates::above_text(row, below) {
        return Verdict { is_doubtful: below.len() < MANY, ..Verdict::new(CERTAIN, evidence) };
    }
    let text = text::judge(row, below);
    Verdict { is_doubtful: is_doubtful || text.is_doubtful, ..text }
}

/// Compares a row that may be a header with the columns of the rows below. What stands for a value in a column of
/// numbers or dates is no name: `<0.05` is as good as a value, and `unknown` is nothing. A percentage above numbers is
/// a name, as in tables of quantiles.
fn compare_names(row: &[Cell<'_>], below: &[&[Cell<'_>]], columns: &Columns) -> Comparison {
    let is_typed = |index: &usize| columns.kind(*index).is_some();
    let are_bands = are_bands(row.iter().map(|cell| cell.bytes));
    let is_percentage = |cell: &Cell<'_>| Kind::of(cell) == Kind::Number && cell.bytes.ends_with(b"%");
    let is_name = |index: usize| {
        is_percentage(&row[index]) && !below.iter().any(|other| other.get(index).is_some_and(is_percentage))
    };
    let (mut limits, mut percentages, mut names) = (0, 0, row.to_vec());
    for index in (0..row.len()).filter(is_typed) {
        let is_limit = !are_bands && is_limit(row[index].bytes);
        let is_name = is_name(index);
        limits += usize::from(is_limit);
        percentages += usize::from(is_name);
        if is_limit || is_name || is_placeholder(row[index].bytes) {
            names[index].bytes = b"";
        }
    }
    let Comparison { alike, unlike } = columns.compare(&names);
    Comparison { alike: alike + limits, unlike: unlike + percentages }
}

/// Evidence: the number of typed columns in which the first row differs from the values below.
fn first_row_of(unlike: usize, typed: usize) -> String {
    match (unlike, typed) {
        (0, 1) => "in the only number or date column the first row is a value".to_owned(),
        (0, 2) => "in both number or date columns the first row is a value".to_owned(),
        (0, _) => format!("in all {typed} number or date columns the first row is a value"),
        (_, 1) => "in 1 of 1 number or date column the first row is not a value".to_owned(),
        _ => format!("in {unlike} of {typed} number or date columns the first row is not a value"),
    }
}

/// Whether all fields are quoted without need, and some column below is unquoted.
fn is_quoted_over_unquoted(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> bool {
    let is_plain = |cell: &Cell<'_>| {
        !cell.bytes.iter().any(|byte| matches!(byte, b',' | b';' | b'\t' | b'|' | b' ' | b'"' | b'\n' | b'\r'))
    };
    let is_bare = |column: usize| {
        let mut values = below.iter().map(|row| &row[column]).filter(|cell| !cell.is_empty()).peekable();
        values.peek().is_some() && values.all(|cell| !cell.is_quoted)
    };
    row.iter().all(|cell| cell.is_quoted)
        && row.iter().any(|cell| is_plain(cell) && !cell.is_empty())
        && (0..row.len().min(below[0].len())).any(is_bare)
}

/// Whether the first field is empty, as programs write it above a column of row names, and all others are names, above
/// row numbers or, if quoted, above distinct strings.
fn names_rows(row: &[Cell<'_>], below: &[&[Cell<'_>]]) -> bool {
    let Some((first, others)) = row.split_first() else { return false };
    first.is_empty()
        && !others.is_empty()
        && others.iter().all(|cell| !cell.is_empty())
        && are_distinct(others.iter().map(|cell| cell.bytes))
        && below.len() > 1
        && begin_distinct(below)
        && (first.is_quoted || begin_consecutive(below) && (are_words(others) || are_consecutive(others)))
}

/// Whether the fields are 0, 1, 2 … or 1, 2, 3 ….
fn are_consecutive(cells: &[Cell<'_>]) -> bool {
    matches!(cells[0].bytes, b"0" | b"1")
        && numbers::steps(cells.iter()).is_some_and(|steps| steps.iter().all(|step| *step == 1.0))
}

/// Whether no field is a number or a time.
fn are_words(cells: &[Cell<'_>]) -> bool {
    !cells.iter().any(|cell| matches!(Kind::of(cell), Kind::Number | Kind::Time))
}

/// Whether the first fields are 0, 1, 2 … or 1, 2, 3 ….
pub(super) fn begin_consecutive(rows: &[&[Cell<'_>]]) -> bool {
    let number = |row: &&[Cell<'_>]| std::str::from_utf8(row[0].bytes).ok()?.parse::<usize>().ok();
    let Some(first) = rows.first().and_then(number).filter(|first| *first < 2) else { return false };
    rows.iter().take(10).enumerate().all(|(index, row)| number(row) == Some(first + index))
}

fn recurs(cell: &Cell<'_>, below: &[&[Cell<'_>]], index: usize) -> bool {
    !cell.is_empty() && below.iter().any(|row| row.get(index).is_some_and(|other| other.bytes == cell.bytes))
}

/// Whether all of several fields may be names.
pub(super) fn are_names(row: &[Cell<'_>]) -> bool {
    row.len() > 1 && row.iter().all(is_like_a_name)
}

/// Whether the fields are distinct names without blanks around them.
pub(super) fn are_distinct_names(row: &[Cell<'_>]) -> bool {
    are_names(row)
        && row.iter().all(|cell| cell.bytes.trim_ascii() == cell.bytes && !cell.is_padded)
        && are_distinct(row.iter().map(|cell| cell.bytes))
}

pub(super) fn is_like_a_name(cell: &Cell<'_>) -> bool {
    let starts_well = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii();
    let begins_a_name = match cell.bytes {
        [b'%' | b'@' | b'$', word @ ..] => word.first().is_some_and(|byte| starts_well(*byte)) && !word.contains(&b' '),
        bytes => bytes.first().is_some_and(|byte| starts_well(*byte)),
    };
    begins_a_name
        && matches!(Kind::of(cell), Kind::Word | Kind::Prose | Kind::Bool | Kind::Flag)
        && cell.bytes.len() <= 60
}
