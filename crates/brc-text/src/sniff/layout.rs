//! What a file has besides the rows of its table: line ends, titles, notes, comments.

use super::header;
use super::kind::Kind;
use super::rows::{Cell, Rows};
use super::samples::Samples;
use super::score::{Shape, is_empty};
use crate::dialect::{Delimiter, Dialect, DialectOverrides, LineEnd};

/// What comments begin with, the commonest first.
const COMMENTS: &[&str] = &["#", "##", "//", "%", "--"];

/// What there is besides the rows of the table.
pub(super) struct Layout {
    /// What comments among the rows begin with.
    pub(super) comment: Option<String>,
    /// How many sampled rows are comments.
    pub(super) comments: usize,
    /// How many lines come before the table.
    pub(super) preamble_lines: u64,
    /// The first row of the table among those that are no comments.
    pub(super) first_row: usize,
    /// How many fields the rows of the table have.
    pub(super) width: usize,
    /// How many rows at the file's end seem to be no part of the table.
    pub(super) trailing_rows: usize,
}

/// The line ends that rows may have, the most frequent first, and what was seen of them. Where line feeds and carriage
/// returns stand alone, those of one kind may stand in quotes.
pub(super) fn line_ends(samples: &Samples<'_>) -> (Vec<LineEnd>, String) {
    let (mut lf, mut crlf, mut cr) = (0, 0, 0);
    for sample in samples.iter() {
        for at in memchr::memchr2_iter(b'\n', b'\r', sample) {
            match sample[at] {
                b'\n' if at > 0 && sample[at - 1] == b'\r' => crlf += 1,
                b'\n' => lf += 1,
                _ if sample.get(at + 1) != Some(&b'\n') => cr += 1,
                _ => {}
            }
        }
    }
    if lf + crlf + cr == 0 {
        return (vec![LineEnd::Lf], "the sample is a single line; the default".to_owned());
    }
    let counts = [(LineEnd::Lf, lf), (LineEnd::CrLf, crlf), (LineEnd::Cr, cr)];
    let seen: Vec<String> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(line_end, count)| format!("{count} {line_end}")).collect();
    let mut line_ends = vec![if crlf > lf { LineEnd::CrLf } else { LineEnd::Lf }];
    if cr > lf + crlf {
        line_ends.insert(0, LineEnd::Cr);
    } else if cr > 0 {
        line_ends.push(LineEnd::Cr);
    }
    if lf + crlf == 0 {
        line_ends.truncate(1);
    }
    (line_ends, format!("the sample has {}", seen.join(", ")))
}

impl Layout {
    /// Looks for it in samples that are read by `dialect`, but for its comment and preamble.
    pub(super) fn find(samples: &Samples<'_>, dialect: &Dialect, overrides: &DialectOverrides) -> Layout {
        let tables = samples.split(dialect);
        let width = Shape::of(&tables).width;
        let (comment, comments) = match &overrides.comment {
            Some(comment) => (comment.clone(), 0),
            None => comment(samples, &tables, width, dialect.delimiter)
                .map_or((None, 0), |(comment, comments)| (Some(comment), comments)),
        };
        let tables = samples.split(&Dialect { comment: comment.clone(), ..dialect.clone() });
        let mut layout = Layout { comment, comments, preamble_lines: 0, first_row: 0, width, trailing_rows: 0 };
        let Some(table) = tables.first() else { return layout };
        if overrides.preamble_lines.is_none() {
            layout.first_row = first_row(table, width);
            let behind = behind_titles(table, layout.first_row, width);
            let has_header = || overrides.header.unwrap_or_else(|| header::judge(&tables, behind, width).is_there);
            if behind > layout.first_row && has_header() {
                layout.first_row = behind;
            }
            if layout.first_row > 0 {
                let before = &samples.start()[..table.start(layout.first_row)];
                layout.preamble_lines = memchr::memchr_iter(dialect.line_end.last_byte(), before).count() as u64;
            }
        }
        layout.trailing_rows = samples.end(&tables).map_or(0, |table| trailing_rows(table, width));
        layout
    }
}

/// What comments begin with and how many there are: rows that all begin in the same way and have not the usual width, some
/// of them after the first row of the table. Those before it are a preamble: in this way a row that begins so is not lost.
fn comment(samples: &Samples<'_>, tables: &[Rows<'_>], width: usize, delimiter: Delimiter) -> Option<(String, usize)> {
    let table = tables.first().filter(|_| width > 1)?;
    let first = first_row(table, width);
    let is_usable = |prefix: &&&str| Delimiter::Byte(prefix.as_bytes()[0]) != delimiter;
    COMMENTS.iter().filter(is_usable).find_map(|prefix| {
        let begins_so = |index: &usize| samples.start()[table.start(*index)..].starts_with(prefix.as_bytes());
        let rows: Vec<usize> = (0..table.len()).filter(begins_so).collect();
        let is_comment = rows.iter().all(|index| table.row(*index).len() != width);
        let among_rows = rows.iter().any(|index| *index > first);
        (is_comment && among_rows).then(|| ((*prefix).to_owned(), rows.len()))
    })
}

/// The first row of the table: before it come only narrow rows.
fn first_row(table: &Rows<'_>, width: usize) -> usize {
    if width == 1 {
        return (0..table.len()).find(|index| !is_empty(table.row(*index))).unwrap_or(0);
    }
    let is_narrow = |row: &[Cell<'_>]| row.len() == 1 || row.len() * 2 <= width;
    (0..table.len()).find(|index| !is_narrow(table.row(*index))).unwrap_or(0)
}

/// The first row behind titles, as spreadsheets write them: rows of the usual width with a text in their first field only.
/// Where such rows are usual further down, or there are no names behind them, they belong to the table.
fn behind_titles(table: &Rows<'_>, first: usize, width: usize) -> usize {
    let is_title = |row: &[Cell<'_>]| {
        width > 2 && row[1..].iter().all(Cell::is_empty) && !row.first().is_some_and(|cell| Kind::of(cell).is_typed())
    };
    let titles = table.iter().skip(first).take_while(|row| is_title(row)).count();
    let below = table.len() - first - titles;
    let again = table.iter().skip(first + titles).filter(|row| is_title(row)).count();
    if below > 0 && again * 10 < below { first + titles } else { first }
}

/// How many rows after the last of the usual width are narrow.
fn trailing_rows(table: &Rows<'_>, width: usize) -> usize {
    if width == 1 {
        return 0;
    }
    let rows: Vec<&[Cell<'_>]> = table.iter().filter(|row| !is_empty(row)).collect();
    rows.iter().rev().take_while(|row| row.len() * 2 <= width).count()
}
