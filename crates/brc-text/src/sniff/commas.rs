//! Commas that are decimal marks rather than delimiters.

use super::comments::{comment_prefix, may_name};
use super::kind::Kind;
use super::rows::{Cell, SampleRows};
use super::samples::Samples;
use super::shape::{Shape, is_empty};

/// Whether the file is a column of numbers with commas, such as `11,5`, below its name and comments. The name tells: it
/// would not name a second column.
pub(super) fn are_in_list(samples: &Samples<'_>) -> bool {
    let mut lines = samples.whole_lines().skip_while(|line| comment_prefix(line).is_some());
    let Some(name) = lines.next() else { return false };
    let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name);
    let is_number = |line: &[u8]| matches!(Kind::of(&Cell::plain(line.trim_ascii())), Kind::Number | Kind::Null);
    let mut has_comma = false;
    let are_numbers = lines.inspect(|line| has_comma |= line.contains(&b',')).all(is_number);
    are_numbers && has_comma && !name.contains(&b',') && may_name(&String::from_utf8_lossy(name))
}

/// Whether, by this split, all commas are in numbers, in rows of one width: below a first row without any, or next to
/// values alone. Next to values, the first row may also be a title. A single column of such numbers may as well be the
/// ends and beginnings of fields between commas, unless there are times of day beside it.
pub(super) fn are_in_numbers(tables: &[SampleRows<'_>], shape: Shape, are_typed: bool) -> bool {
    let rows = || tables.iter().flat_map(SampleRows::iter).filter(|row| !is_empty(row));
    let has_comma = |cell: &&Cell<'_>| !cell.is_quoted && cell.bytes.contains(&b',');
    let mut with_comma = rows().flatten().filter(has_comma).peekable();
    let Some(first) = rows().next() else { return false };
    let is_plain = !first.iter().any(|cell| has_comma(&cell));
    let titles = usize::from(is_plain && are_typed && first.len() != shape.width);
    let commas = |row: &'_ [Cell<'_>]| (0..row.len()).filter(|column| has_comma(&&row[*column])).collect::<Vec<_>>();
    let mut columns: Vec<usize> = rows().flat_map(commas).collect();
    columns.sort_unstable();
    columns.dedup();
    let is_clock = |cell: &Cell<'_>| cell.bytes.contains(&b':') && Kind::of(cell) == Kind::Time;
    shape.width > 1
        && (columns.len() > 1 || rows().flatten().any(is_clock))
        && shape.usual + titles == shape.rows
        && with_comma.peek().is_some()
        && (are_typed || is_plain)
        && with_comma.all(|cell| Kind::of(cell) == Kind::Number)
}
