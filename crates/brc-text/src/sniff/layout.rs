//! The parts of a file other than the rows of its table: line ends, titles, notes, comments.

use super::Preamble;
use super::columns::{Columns, Comparison, ROWS};
use super::comments::{self, CommentNames, Comments, Leading, NamesPlace};
use super::footer::{self, RowCount, Trailing};
use super::header::{self, Header};
use super::kind::Kind;
use super::preamble;
use super::rows::{Cell, SampleRows};
use super::samples::Samples;
use super::shape::{Shape, is_empty};
use crate::dialect::{Delimiter, Dialect, DialectOverrides, LineEnd};
use crate::unquote::is_blank;
use std::ops::Range;

/// The parts of a file other than the rows of its table.
pub(super) struct Layout {
    /// The comments among the rows.
    pub(super) comments: Option<Comments>,
    /// The number of lines before the table.
    pub(super) preamble_lines: u64,
    /// Whether the first row is a header.
    pub(super) header: Header,
    /// The column names in a comment before the table, unless there is certainly a header.
    pub(super) names: Option<CommentNames>,
    /// The number of fields of the rows of the table.
    pub(super) width: usize,
    /// What seems not to belong to the table at the end of the file.
    pub(super) trailing: Trailing,
    /// The number of rows whose last field, the rest of the line, has runs of blanks, if only few rows or the first one
    /// have them: a value with a blank may have shifted their fields.
    pub(super) shifted: usize,
    /// The first column of text with an unquoted `\N` as a field, which MySQL and PostgreSQL write for null.
    pub(super) null_marks: Option<usize>,
    /// Whether the quotes of some field enclose whole rows.
    pub(super) has_rows_in_quotes: bool,
    /// Whether every second column is empty, as if the delimiter had two bytes.
    pub(super) is_doubled: bool,
    /// The number of rows of the table in the sample of the file's start.
    pub(super) rows: usize,
    /// Whether comments are among the lines before the table.
    pub(super) are_comments_skipped: bool,
    /// The lines of the last row below the first one that describes the columns, if there is one.
    pub(super) last_description: Option<Range<u64>>,
    /// The number of lines up to an empty one above a row that may be the header of another table.
    pub(super) lines_before_other: Option<u64>,
}

/// Whether most lines end with two carriage returns and a line feed, as if the ends of lines had been converted twice.
pub(super) fn have_two_returns(samples: &Samples<'_>) -> bool {
    let ends = |end: &'static [u8]| samples.iter().map(|sample| memchr::memmem::find_iter(sample, end).count()).sum();
    let (doubled, all): (usize, usize) = (ends(b"\r\r\n"), ends(b"\n"));
    2 * doubled > all
}

/// The possible line ends, the most frequent first, and their counts as evidence. If both lone line feeds and lone
/// carriage returns occur, those of one kind may be inside quotes.
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
    /// Detects the layout of samples that are split by `dialect`, ignoring its comment and preamble.
    pub(super) fn find(
        samples: &Samples<'_>,
        dialect: &Dialect,
        overrides: &DialectOverrides,
        preamble: Preamble,
    ) -> Layout {
        let may_skip = preamble == Preamble::Infer && overrides.preamble_lines.is_none() && overrides.header.is_none();
        let comments = comments_of(samples, dialect, overrides, may_skip);
        let (tables, row_count, shifted) = tables_of(samples, dialect, comments.as_ref());
        let leading = match &overrides.comment {
            None if may_skip => comments::leading(samples, &tables, dialect),
            _ => Leading::default(),
        };
        let shape = Shape::of(&tables, leading.end);
        let width = shape.width;
        let filled = tables.first().and_then(|table| table.iter().position(|row| !is_empty(row))).unwrap_or(0);
        let first = if may_skip { preamble::first_row(&tables, shape, &leading, dialect.delimiter) } else { filled };
        let lines_before = |table: &SampleRows<'_>, row: usize| {
            let before = &samples.start()[..table.start(row)];
            memchr::memchr_iter(dialect.line_end.last_byte(), before).count() as u64
        };
        let header = header::judge(&tables, first, width, dialect.delimiter);
        let start = tables.first().filter(|_| may_skip);
        let names_row = start
            .and_then(|table| names_above(table, first, &header).or_else(|| names_above_rule(table, first, width)));
        let (first, header) = match &names_row {
            Some((names, below)) => {
                let below_names = header::judge(&tables, *below, width, dialect.delimiter);
                let is_ruled = names.place == NamesPlace::AboveRule;
                (*below, if is_ruled { below_names.without_names() } else { below_names })
            }
            None => (first, header),
        };
        let preamble_lines = tables.first().filter(|_| first > filled).map_or(0, |table| lines_before(table, first));
        let described = first + 1..first + 1 + header.described;
        let are_next = |table: &&SampleRows<'_>| {
            described.end < table.len() && described.clone().all(|row| table.row(row).len() == width)
        };
        let described_in = tables.first().filter(|_| !described.is_empty()).filter(are_next);
        let names = comments.as_ref().filter(|_| may_skip).and_then(|comments| comments.names.clone());
        // The table may start further down.
        let names = names.or(leading.names).or(names_row.map(|(names, _)| names));
        let names = names.filter(|names| names.apply(width, &header));
        Layout {
            names,
            lines_before_other: other_header(&tables, first, width, &header)
                .and_then(|row| Some(lines_before(tables.first()?, row))),
            last_description: described_in
                .map(|table| lines_before(table, described.end - 1)..lines_before(table, described.end)),
            are_comments_skipped: preamble_lines > 0 && leading.end > 0,
            comments,
            preamble_lines,
            header,
            width,
            shifted,
            null_marks: text_with_null_marks(&tables, first, width),
            has_rows_in_quotes: tables.first().is_some_and(|table| has_rows_in_quotes(samples, table, dialect, width)),
            is_doubled: has_empty_columns_between(&tables, first, width),
            trailing: trailing(samples, &tables, width, row_count, dialect.line_end.last_byte()).unwrap_or_default(),
            rows: tables
                .first()
                .map_or(0, |table| table.iter().skip(first.max(leading.end)).filter(|row| !is_empty(row)).count()),
        }
    }
}

/// The rows of the samples without a count of the rows at the end of the file, that count, and the number of rows with
/// runs of blanks in their last field.
fn tables_of<'a>(
    samples: &'a Samples<'_>,
    dialect: &Dialect,
    comments: Option<&Comments>,
) -> (Vec<SampleRows<'a>>, Option<RowCount>, usize) {
    let prefix = comments.map(|comments| comments.prefix.clone());
    let mut tables = samples.split(&Dialect { comment: prefix, ..dialect.clone() });
    let end = samples.end().and_then(|end| tables.get_mut(end));
    let row_count = end.and_then(footer::take_row_count);
    if dialect.delimiter != Delimiter::Blanks {
        return (tables, row_count, 0);
    }
    let width = Shape::of(&tables, 0).width_with_rest(samples, &tables);
    tables.iter_mut().zip(samples.iter()).for_each(|(table, text)| table.take_rest(width, text));
    let shifted = few_with_runs_of_blanks(&tables, width);
    (tables, row_count.map(|count| count.within(width)), shifted)
}

/// What follows the table at the end of the file, if that is sampled.
fn trailing(
    samples: &Samples<'_>,
    tables: &[SampleRows<'_>],
    width: usize,
    row_count: Option<RowCount>,
    line_end: u8,
) -> Option<Trailing> {
    let end = samples.end()?;
    let (table, text) = (tables.get(end)?, samples.iter().nth(end)?);
    let lines = |row: usize| {
        let text = &text[table.start(row)..];
        memchr::memchr_iter(line_end, text).count() + usize::from(!text.ends_with(&[line_end]))
    };
    Some(Trailing::of(table, width, row_count, lines))
}

/// The comments that are set or found; with `may_skip`, those before the first row may name the columns.
fn comments_of(
    samples: &Samples<'_>,
    dialect: &Dialect,
    overrides: &DialectOverrides,
    may_skip: bool,
) -> Option<Comments> {
    match &overrides.comment {
        Some(None) => None,
        Some(Some(prefix)) => {
            let tables = || samples.split(&Dialect { comment: None, ..dialect.clone() });
            let names = if may_skip { comments::leading(samples, &tables(), dialect).names } else { None };
            Some(Comments { prefix: prefix.clone(), rows: 0, names })
        }
        None => comments::find(samples, dialect, !may_skip),
    }
}

/// The names of all columns in the row above an indented one that lacks some, and so has their units; and the row below
/// that.
fn names_above(table: &SampleRows<'_>, units: usize, header: &Header) -> Option<(CommentNames, usize)> {
    let filled = |row: &usize| !is_empty(table.row(*row));
    let above = (0..units).rev().find(filled).filter(|_| header.is_there() && header.unnamed > 0)?;
    let names = table.row(above);
    let below = (units + 1..table.len()).find(filled)?;
    let are_names = names.len() == table.row(below).len() && header::are_distinct_names(names);
    (are_names && table.is_indented(units)).then(|| (CommentNames::of(names, NamesPlace::AboveUnits), below))
}

/// The names in a row above a line of dashes that is a row, too, because it begins with the delimiter; and the row below
/// that.
fn names_above_rule(table: &SampleRows<'_>, names: usize, width: usize) -> Option<(CommentNames, usize)> {
    let (rule, below) = (names + 1, names + 2);
    let is_there = below < table.len() && table.row(names).len() == width && table.row(rule)[0].is_empty();
    let is_rule = is_there && comments::is_ruler(table.row(rule));
    is_rule.then(|| (CommentNames::of(table.row(names), NamesPlace::AboveRule), below))
}

/// The number of rows of `width` fields whose last one has two blanks in a row; 0 if most rows have them, unless the
/// first one does, which may be a header, or they are between numbers, which are hardly one value.
fn few_with_runs_of_blanks(tables: &[SampleRows<'_>], width: usize) -> usize {
    let is_row = |row: &&[Cell<'_>]| row.len() == width && comments::comment_prefix(row[0].bytes).is_none();
    let last = tables.iter().flat_map(SampleRows::iter).filter(is_row).filter_map(<[_]>::last);
    let has_run =
        |cell: &Cell<'_>| !cell.is_quoted && cell.bytes.windows(2).any(|pair| pair.iter().all(|byte| is_blank(*byte)));
    let last: Vec<&Cell<'_>> = last.collect();
    let runs: Vec<&[u8]> = last.iter().filter(|cell| has_run(cell)).map(|cell| cell.bytes).collect();
    let is_number = |word: &[u8]| word.is_empty() || Kind::of(&Cell::plain(word)) == Kind::Number;
    let are_numbers = |rest: &&[u8]| rest.split(|byte| is_blank(*byte)).all(is_number);
    let is_header = last.first().is_some_and(|cell| has_run(cell));
    if runs.len() * 2 < last.len() || is_header || runs.iter().all(are_numbers) { runs.len() } else { 0 }
}

/// The rows of the table that have `width` fields.
fn rows_of<'t, 'a>(tables: &'t [SampleRows<'a>], first: usize, width: usize) -> impl Iterator<Item = &'t [Cell<'a>]> {
    let start = tables.first().into_iter().flat_map(move |table| table.iter().skip(first));
    start.chain(tables.iter().skip(1).flat_map(SampleRows::iter)).filter(move |row| row.len() == width)
}

/// The first row below a header and an empty line that has names above typed columns, none of them a value of its column.
fn other_header(tables: &[SampleRows<'_>], first: usize, width: usize, header: &Header) -> Option<usize> {
    let table = tables.first().filter(|_| width > 1 && header.is_there())?;
    let rows = (first + 2)..table.len();
    let is_header = |row: &usize| {
        let cells = table.row(*row);
        let columns = || Columns::of(table.iter().skip(row + 1), cells.len()).compare(cells);
        is_empty(table.row(row - 1))
            && header::are_names(cells)
            && matches!(columns(), Comparison { alike: 0, unlike: 1.. })
    };
    rows.take(ROWS).find(is_header)
}

/// Whether a quoted field goes on over lines each of which would be a row if the quotes were text.
fn has_rows_in_quotes(samples: &Samples<'_>, table: &SampleRows<'_>, dialect: &Dialect, width: usize) -> bool {
    let (Delimiter::Byte(delimiter), end) = (dialect.delimiter, dialect.line_end.last_byte()) else { return false };
    let text = samples.start();
    let spans_rows = |row: &usize| {
        let lines = text[table.start(*row)..table.end(*row)].trim_ascii_end().split(|byte| *byte == end);
        lines.clone().count() > 1
            && lines.into_iter().all(|line| memchr::memchr_iter(delimiter, line).count() + 1 == width)
    };
    let is_long = |cell: &Cell<'_>| cell.is_quoted && memchr::memchr(end, cell.bytes).is_some();
    // A single delimiter in each line may be chance.
    width > 2 && (0..table.len()).filter(|row| table.row(*row).iter().any(is_long)).any(|row| spans_rows(&row))
}

/// The first column that has `\N` without quotes among text.
fn text_with_null_marks(tables: &[SampleRows<'_>], first: usize, width: usize) -> Option<usize> {
    let is_mark = |cell: &Cell<'_>| !cell.is_quoted && cell.bytes == br"\N";
    let is_text = |cell: &Cell<'_>| !Kind::of(cell).is_typed() && Kind::of(cell) != Kind::Null;
    let below = || rows_of(tables, first + 1, width);
    (0..width).find(|&column| below().any(|row| is_mark(&row[column])) && below().any(|row| is_text(&row[column])))
}

/// Whether there are several rows, whose every second field is empty in all of them, and no other.
fn has_empty_columns_between(tables: &[SampleRows<'_>], first: usize, width: usize) -> bool {
    let is_doubled =
        |row: &[Cell<'_>]| row.iter().enumerate().all(|(column, cell)| cell.is_empty() == (column % 2 == 1));
    let rows = || rows_of(tables, first, width);
    width > 3 && width % 2 == 1 && rows().nth(1).is_some() && rows().all(is_doubled)
}
