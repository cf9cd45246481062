//! Detects comments, among the rows and before the first one.
//!
//! Bytes that start a comment in one file start a value in another (`#fff`, `--`). Lines count as comments only if they
//! are unlike rows of the table: by their width, or by text in columns of numbers.

use super::columns::Columns;
use super::header::{self, Header, are_distinct, is_like_a_name};
use super::kind::Kind;
use super::rows::{Cell, SampleRows};
use super::samples::Samples;
use super::shape::{Shape, is_empty};
use crate::dialect::{Delimiter, Dialect};
use crate::unquote::is_blank;
use brc_core::RowFault;
use std::cmp::Ordering;

/// The comment prefixes, the commonest first.
pub(crate) const PREFIXES: &[&str] = &["#", "##", "//", "%", "--"];

/// Begins the lines of a box that database clients draw around tables, `+----+----+`, whose rows begin with a bar.
pub(super) const BOX: &str = "+";

/// Adds the comment prefix that a bad row starts with to its fault, since the line was probably not meant as a row.
/// Faults in columns other than the first are unrelated to the prefix.
#[must_use]
pub fn fault_in_line(fault: RowFault, column: Option<usize>, line: &[u8]) -> RowFault {
    match comment_prefix(line) {
        Some(prefix) if column.unwrap_or(0) == 0 => RowFault::LikeComment { prefix, fault: Box::new(fault) },
        _ => fault,
    }
}

/// The comment prefix that a line starts with, if any.
pub(crate) fn comment_prefix(line: &[u8]) -> Option<&'static str> {
    PREFIXES.iter().copied().find(|prefix| line.starts_with(prefix.as_bytes()))
}

/// Comments that cannot be confused with rows of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comments {
    /// The prefix.
    pub(super) prefix: String,
    /// The number of comment lines in the sample of the file's start.
    pub(super) rows: usize,
    /// The column names that one of them before the first row holds.
    pub(super) names: Option<CommentNames>,
}

/// Detects comments among the rows, and with `with_leading` also before them.
pub(super) fn find(samples: &Samples<'_>, dialect: &Dialect, with_leading: bool) -> Option<Comments> {
    let tables = samples.split(&Dialect { comment: None, ..dialect.clone() });
    let table = tables.first()?;
    let of_box = is_boxed(samples, dialect).then_some(BOX);
    prefixes(dialect.delimiter).chain(of_box).find_map(|prefix| {
        let rows: Vec<usize> = (0..table.len()).filter(|row| begins(samples, table, *row, prefix)).collect();
        if rows.is_empty() {
            return None;
        }
        let others = samples.split(&Dialect { comment: Some(prefix.to_owned()), ..dialect.clone() });
        let width = Shape::of(&others, 0).width;
        // The first row may be a header.
        let columns = Columns::of(others.iter().flat_map(SampleRows::iter).filter(|row| !is_empty(row)).skip(1), width);
        let first = (0..table.len()).find(|row| table.row(*row).len() == width && !rows.contains(row))?;
        let are_several = rows.len() > 1;
        let role = |row: &usize| match *row > first {
            true => Role::among_rows(samples, table, *row, prefix, &columns),
            false if is_like_row(samples, table, *row, prefix, &columns, are_several) => Role::Row,
            false => Role::Comment,
        };
        let roles: Vec<Role> = rows.iter().map(role).collect();
        let found = width > 1
            && !roles.contains(&Role::Row)
            && roles.contains(&Role::Comment)
            && (rows.last()? > &first || with_leading || are_rulers(table, &rows));
        let leading = found.then(|| leading(samples, &tables, dialect))?;
        let is_header = leading.header.is_some_and(|header| rows.contains(&header));
        let is_signed = samples.start()[table.start(first)..].starts_with(prefix.as_bytes());
        // Comments are skipped, and with them a row of names like `#Date;#Amount`.
        let names =
            if is_signed { Some(CommentNames::of(table.row(first), NamesPlace::Comment)) } else { leading.names };
        (!is_header).then(|| Comments { prefix: prefix.to_owned(), rows: rows.len(), names })
    })
}

/// Comments before the first row of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Leading {
    /// The first row that is not a comment.
    pub(super) end: usize,
    /// The last comment, if it is a row of column names, as in `#CHROM POS ID`.
    pub(super) header: Option<usize>,
    /// The column names in another comment.
    pub(super) names: Option<CommentNames>,
}

/// Where names are that are not in the first row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamesPlace {
    Comment,
    AboveUnits,
    AboveRule,
}

impl NamesPlace {
    /// The part of the layout, and the line, for messages.
    pub(super) fn describe(self) -> (&'static str, &'static str) {
        match self {
            Self::Comment => ("in a comment", "a comment"),
            Self::AboveUnits => ("above units", "the row above the units"),
            Self::AboveRule => ("above a line of dashes", "the row above a line of dashes"),
        }
    }
}

/// Column names in a comment, as in `#Fields: time ip` and `# Time, Temp (C)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommentNames {
    pub(super) names: Vec<String>,
    /// Whether the comment says that it holds names.
    is_declared: bool,
    pub(super) place: NamesPlace,
    /// The comment without its prefix.
    pub(super) comment: Vec<u8>,
}

impl CommentNames {
    /// The fields of a row that is not part of the table.
    pub(super) fn of(row: &[Cell<'_>], place: NamesPlace) -> Self {
        let names = row.iter().map(|cell| String::from_utf8_lossy(cell.bytes).into_owned()).collect();
        let comment = row.iter().map(|cell| cell.bytes).collect::<Vec<_>>().join(&b' ');
        Self { names, is_declared: false, place, comment }
    }

    /// Whether they name `width` columns, whose first row may be a header.
    pub(super) fn apply(&self, width: usize, header: &Header) -> bool {
        self.names.len() == width && !(header.is_there() && (header.is_certain() || !self.is_declared))
    }
}

/// Detects comments before the first row.
pub(super) fn leading(samples: &Samples<'_>, tables: &[SampleRows<'_>], dialect: &Dialect) -> Leading {
    let Some(table) = tables.first() else { return Leading::default() };
    let Some(prefix) = prefixes(dialect.delimiter).find(|prefix| {
        let first = table.iter().position(|row| !is_empty(row));
        first.is_some_and(|first| begins(samples, table, first, prefix))
    }) else {
        return Leading::default();
    };
    let is_other = |row: &usize| !is_empty(table.row(*row)) && !begins(samples, table, *row, prefix);
    let end = (0..table.len()).find(is_other).unwrap_or(table.len());
    let width = Shape::of(tables, end).width;
    let below = table.iter().skip(end).filter(|row| !is_empty(row)).skip(1);
    let columns = Columns::of(below.chain(tables[1..].iter().flat_map(SampleRows::iter)), width);
    let are_several = (0..end).filter(|row| !is_empty(table.row(*row))).count() > 1;
    let is_row = |row: usize| is_like_row(samples, table, row, prefix, &columns, are_several);
    let comments = (0..end).take_while(|row| is_empty(table.row(*row)) || !is_row(*row));
    let Some(last) = comments.filter(|row| !is_empty(table.row(*row))).last() else { return Leading::default() };
    let below = (last + 1..table.len()).find(|row| !is_empty(table.row(*row)));
    if below.is_none() && samples.is_whole() {
        return Leading::default();
    }
    let below = below.map(|below| header::judge(tables, below, width, dialect.delimiter));
    if width < 2 || below.is_some_and(|below| below.is_there() && below.is_certain()) {
        return Leading { end: last + 1, ..Leading::default() };
    }
    let row = table.row(last);
    let is_sign =
        row[0].bytes == prefix.as_bytes() && matches!(dialect.delimiter, Delimiter::Blanks | Delimiter::Byte(b' '));
    let is_header = row.len() == width && are_names(row, prefix) && (!is_sign || are_numbered(table, end, &columns));
    let texts: Vec<&[u8]> = (0..=last).map(|row| comment(samples, table, row, prefix, dialect)).collect();
    let found = names_in(&texts, width, dialect.delimiter);
    // A header that is one row of several, or begins with a blank, is not read as a row.
    let (header, names) = match found {
        Some((at, _)) if at == last && is_header && !texts[last].starts_with(b" ") => (Some(last), None),
        Some((_, names)) => (None, Some(names)),
        None => (is_header.then_some(last), None),
    };
    Leading { end: last + 1, header, names }
}

/// Whether the rows from `first` on have row numbers beside text, so that a number sign may name them. In a table of only
/// numbers, it begins a comment.
fn are_numbered(table: &SampleRows<'_>, first: usize, columns: &Columns) -> bool {
    let rows: Vec<&[Cell<'_>]> = table.iter().skip(first).filter(|row| row.len() == columns.width()).collect();
    header::begin_consecutive(&rows) && (1..columns.width()).any(|column| columns.kind(column).is_none())
}

/// The text of a comment without its prefix and its line end.
fn comment<'s>(
    samples: &'s Samples<'_>,
    table: &SampleRows<'_>,
    row: usize,
    prefix: &str,
    dialect: &Dialect,
) -> &'s [u8] {
    let text = &samples.start()[table.start(row)..];
    let line = &text[..memchr::memchr(dialect.line_end.last_byte(), text).unwrap_or(text.len())];
    line.strip_prefix(prefix.as_bytes()).unwrap_or_default()
}

/// The `width` column names that the last comments hold, and the index of the comment: the one that says so, or the
/// last one that could be names, or the one above it, if the last one are their units.
fn names_in(comments: &[&[u8]], width: usize, delimiter: Delimiter) -> Option<(usize, CommentNames)> {
    let declared = |(at, text): (usize, &&[u8])| Some((at, declared_names(text, width, delimiter)?));
    if let Some((at, names)) = comments.iter().enumerate().rev().find_map(declared) {
        return Some((
            at,
            CommentNames { names, is_declared: true, place: NamesPlace::Comment, comment: comments[at].to_vec() },
        ));
    }
    let is_row = |(_, text): &(usize, &&[u8])| fields(text.trim_ascii(), delimiter).len() == width;
    let rows: Vec<(usize, &&[u8])> = comments.iter().enumerate().rev().take_while(is_row).collect();
    let names = |(at, text): &(usize, &&[u8])| {
        let names = possible_names(text, delimiter)?;
        Some((*at, CommentNames { names, is_declared: false, place: NamesPlace::Comment, comment: text.to_vec() }))
    };
    match rows.as_slice() {
        [last, above] => names(above).or_else(|| names(last)),
        rows => names(rows.first()?),
    }
}

/// The names after `Fields:` (the W3C's extended log file format) or `fields` (Zeek).
fn declared_names(comment: &[u8], width: usize, delimiter: Delimiter) -> Option<Vec<String>> {
    let (word, rest) = comment.trim_ascii_start().split_at_checked("fields".len())?;
    let (end, rest) = rest.split_first()?;
    let is_end = *end == b':' || delimiter == Delimiter::Byte(*end) || delimiter == Delimiter::Blanks && is_blank(*end);
    if !word.eq_ignore_ascii_case(b"fields") || !is_end {
        return None;
    }
    let by = |delimiter| Some(fields(rest.trim_ascii(), delimiter)).filter(|names| names.len() == width);
    by(delimiter).or_else(|| by(Delimiter::Blanks)).filter(|names| are_distinct(names.iter().map(String::as_bytes)))
}

/// The names if a comment could be a list of them, rather than prose.
fn possible_names(comment: &[u8], delimiter: Delimiter) -> Option<Vec<String>> {
    let names = fields(comment.trim_ascii(), delimiter);
    (names.iter().all(|name| may_name(name)) && are_distinct(names.iter().map(String::as_bytes))).then_some(names)
}

/// Whether a text could be a name, rather than prose.
pub(super) fn may_name(name: &str) -> bool {
    let cell = Cell::plain(name.as_bytes());
    is_like_a_name(&cell)
        && name.split(' ').count() <= MAX_WORDS
        && !name.ends_with(['.', ':', '!'])
        && !name.contains(": ")
}

/// The maximum number of words in a name that is not among others in a header.
pub(super) const MAX_WORDS: usize = 3;

/// The trimmed fields of a comment.
fn fields(text: &[u8], delimiter: Delimiter) -> Vec<String> {
    let field = |field: &[u8]| {
        let field = field.trim_ascii();
        let unquoted = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field);
        String::from_utf8_lossy(unquoted).into_owned()
    };
    match delimiter {
        Delimiter::Byte(delimiter) if delimiter != b' ' => text.split(|byte| *byte == delimiter).map(field).collect(),
        Delimiter::Byte(_) | Delimiter::Blanks => {
            let words = text.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty());
            words.map(field).collect()
        }
    }
}

/// The prefixes that do not start with the delimiter.
fn prefixes(delimiter: Delimiter) -> impl Iterator<Item = &'static str> {
    PREFIXES.iter().copied().filter(move |prefix| Delimiter::Byte(prefix.as_bytes()[0]) != delimiter)
}

/// Whether all lines that begin like those of a box draw one, and all others begin with a bar; at the end, other lines
/// may follow.
fn is_boxed(samples: &Samples<'_>, dialect: &Dialect) -> bool {
    let lines: Vec<&[u8]> = samples.whole_lines().collect();
    let is_drawn = |line: &[u8]| line.starts_with(b"+-") && line.trim_ascii_end().iter().all(|it| b"+-=".contains(it));
    let Some(last) = lines.iter().rposition(|line| is_drawn(line)) else { return false };
    let is_within = |line: &&[u8]| is_drawn(line) || line.starts_with(b"|");
    dialect.delimiter == Delimiter::Byte(b'|') && is_drawn(lines[0]) && lines[..last].iter().all(is_within)
}

/// Whether a line begins with the prefix, and not each of its several fields, as the names `#Date;#Amount` do.
fn begins(samples: &Samples<'_>, table: &SampleRows<'_>, row: usize, prefix: &str) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let begin = |cell: &Cell<'_>| {
        cell.bytes.strip_prefix(prefix.as_bytes()).is_some_and(|name| name.first().is_some_and(is_letter))
    };
    let filled = || table.row(row).iter().filter(|cell| !cell.is_empty());
    samples.start()[table.start(row)..].starts_with(prefix.as_bytes()) && !(filled().count() > 1 && filled().all(begin))
}

/// What a line with a comment prefix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Row,
    /// A comment, if there are others.
    PossibleComment,
    Comment,
}

impl Role {
    /// Judges a line below the first row. A row has as many fields as the table, and they do not differ from the values
    /// of typed columns; the first field is compared without the prefix.
    fn among_rows(samples: &Samples<'_>, table: &SampleRows<'_>, row: usize, prefix: &str, columns: &Columns) -> Self {
        let cells = table.row(row);
        if cells.len() != columns.width() || is_ruler(cells) {
            return Self::Comment;
        }
        let bytes = cells[0].bytes.strip_prefix(prefix.as_bytes()).unwrap_or(cells[0].bytes).trim_ascii();
        let others = columns.compare_from(1, cells);
        let first = columns.compare(&[Cell { bytes, ..cells[0] }]);
        // `//host/path` is not unlike an address, and `#VALUE!` is no comment on `VALUE!`.
        let may_be_value = columns.kind(0) == Some(Kind::Address) || Kind::of(&cells[0]) == Kind::Null;
        let is_prose = bytes.is_empty() || is_prose(samples, table, row, prefix);
        match others.alike.cmp(&others.unlike) {
            Ordering::Greater => Self::Row,
            Ordering::Less => Self::Comment,
            Ordering::Equal if first.unlike > 0 && (is_prose || !may_be_value) => Self::Comment,
            Ordering::Equal if is_prose && first.alike == 0 => Self::PossibleComment,
            Ordering::Equal => Self::Row,
        }
    }
}

/// Whether a row is a line of dashes or equals signs below a header, as database clients and documents draw it: `---|---`,
/// `|:---|---:|`, `|----+----|`.
pub(super) fn is_ruler(cells: &[Cell<'_>]) -> bool {
    let cells = match cells {
        [first, inner @ .., last] if first.is_empty() && last.is_empty() => inner,
        _ => cells,
    };
    let is_line = |cell: &Cell<'_>| {
        let ends = cell.bytes.strip_prefix(b":").unwrap_or(cell.bytes);
        let inner = ends.strip_suffix(b":").unwrap_or(ends);
        inner
            .first()
            .is_some_and(|first| matches!(first, b'-' | b'=') && inner.iter().all(|it| it == first || *it == b'+'))
    };
    !cells.is_empty() && cells.iter().all(is_line) && cells.iter().any(|cell| cell.bytes.len() > MAX_NULL_DASHES)
}

/// Whether all of these rows are lines of dashes or the like below a first one, which may have fewer fields than the rows
/// of the table.
fn are_rulers(table: &SampleRows<'_>, rows: &[usize]) -> bool {
    rows.iter().all(|row| *row > 0 && is_ruler(table.row(*row)))
}

/// The maximum number of dashes that stand for a missing value.
const MAX_NULL_DASHES: usize = 2;

/// Whether a blank follows the comment prefix of a line.
fn is_prose(samples: &Samples<'_>, table: &SampleRows<'_>, row: usize, prefix: &str) -> bool {
    samples.start()[table.start(row) + prefix.len()..].starts_with(b" ")
}

/// Whether a line with a comment prefix above the first row may be a row of the table, such as `#fff,1`; but not one of
/// several like `# colours, red and green` in a table of only text.
fn is_like_row(
    samples: &Samples<'_>,
    table: &SampleRows<'_>,
    row: usize,
    prefix: &str,
    columns: &Columns,
    are_several: bool,
) -> bool {
    let cells = table.row(row);
    let likeness = columns.compare(cells);
    let is_prose = are_several && is_prose(samples, table, row, prefix);
    let is_alike = likeness.alike > likeness.unlike || (likeness.unlike == likeness.alike && !is_prose);
    cells.len() == columns.width() && is_alike
}

/// Whether the fields of a line with a comment prefix may name columns. A prefix alone, as in `#,Full name`, names a
/// column of numbers; a comment does not begin so, and other names beside it may have blanks.
fn are_names(row: &[Cell<'_>], prefix: &str) -> bool {
    let Some((first, others)) = row.split_first() else { return false };
    let bytes = first.bytes.strip_prefix(prefix.as_bytes()).unwrap_or(first.bytes).trim_ascii();
    let is_number_sign = bytes.len() < first.bytes.len() && matches!(bytes, b"" | b".");
    let is_name = |cell: &Cell<'_>| is_like_a_name(cell) && !cell.bytes.contains(&b' ');
    // Beside it, signs such as `+/-` and `%` are names, too.
    let may_be_name = |cell: &Cell<'_>| !cell.is_empty() && !Kind::of(cell).is_typed();
    match is_number_sign {
        true => others.iter().any(is_like_a_name) && others.iter().all(may_be_name),
        false => is_name(&Cell { bytes, ..*first }) && others.iter().all(is_name),
    }
}
