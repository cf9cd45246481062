//! Notes about what was found, where it is probably not what the file's author means, or where another reading is about as
//! likely.

use super::gaps;
use super::layout::Layout;
use super::report;
use super::samples::Samples;
use super::score::Candidate;
use crate::dialect::{Delimiter, Dialect, DialectOverrides, LineEnd};

/// What was found in the samples.
pub(super) struct Found<'f, 's> {
    pub(super) samples: &'f Samples<'s>,
    /// All candidates, the best first.
    pub(super) ranked: &'f [Candidate],
    pub(super) layout: &'f Layout,
    pub(super) dialect: &'f Dialect,
    /// The names of the columns.
    pub(super) names: &'f [String],
}

impl Found<'_, '_> {
    /// The notes. `known` is what the user sets or the first line declares; `row_count` the note about a row that counts
    /// the rows; and `is_list` tells whether the text is a list of numbers with decimal commas.
    pub(super) fn doubts(
        &self,
        overrides: &DialectOverrides,
        known: &DialectOverrides,
        row_count: Option<String>,
        is_list: bool,
        has_other_line_ends: bool,
    ) -> Vec<String> {
        let Self { samples, ranked, layout, dialect, names } = *self;
        let best = &ranked[0].dialect;
        let mut doubts = doubtful_fields(layout, dialect, overrides, names);
        doubts.extend(row_count);
        doubts.extend(rows_at_the_end(samples, ranked, known).filter(|_| !is_list));
        doubts.extend(columns_between_gaps(samples, best, layout.width, known));
        doubts.extend(is_list.then(report::list_of_numbers));
        if has_other_line_ends {
            doubts.extend(other_line_ends(samples, best));
        }
        let skipped = known.preamble_lines.unwrap_or(0);
        doubts.extend(match dialect.header {
            true => doubtful_rows(layout, skipped, names),
            false => doubtful_header(layout, skipped, known),
        });
        doubts
    }
}

/// Notes about fields that are probably not what the file's author means.
fn doubtful_fields(layout: &Layout, dialect: &Dialect, overrides: &DialectOverrides, names: &[String]) -> Vec<String> {
    let marked = layout.null_marks.filter(|_| dialect.escape.is_none() && overrides.null_tokens.is_none());
    let marked = marked.and_then(|column| names.get(column)).map(|name| {
        format!("the \\N in '{name}' is text; --null ',\\N' reads it as null, as MySQL and PostgreSQL mean it")
    });
    let doubled = match dialect.delimiter {
        Delimiter::Byte(byte) if layout.is_doubled && overrides.delimiter.is_none() => {
            let byte = char::from(byte);
            let escape = if matches!(byte, '^' | '*' | '/') { "\\" } else { "" };
            Some(format!(
                "every second column is empty; if the delimiter is '{byte}{byte}', make it a single one: \
                 sed 's/{escape}{byte}{escape}{byte}/\\t/g'"
            ))
        }
        _ => None,
    };
    let header = if let Some(names) = &layout.names {
        Some(format!("{} names the columns; --names sets other names", names.place.describe().1))
    } else if layout.header.is_doubtful && overrides.header.is_none() {
        Some(report::doubtful_header(dialect.header, layout.width))
    } else {
        None
    };
    let in_quotes = (layout.has_rows_in_quotes && overrides.quote.is_none()).then(|| {
        "a field contains whole rows in its quotes; if these are part of the text, use --quote none".to_owned()
    });
    marked.into_iter().chain(doubled).chain(header).chain(in_quotes).collect()
}

/// The note about line ends of another kind within fields without quotes.
fn other_line_ends(samples: &Samples<'_>, dialect: &Dialect) -> Option<String> {
    let (byte, name) = match dialect.line_end {
        LineEnd::Cr => (b'\n', "line feeds"),
        LineEnd::Lf | LineEnd::CrLf => (b'\r', "carriage returns"),
    };
    samples.split(dialect).iter().any(|rows| rows.have_unquoted(byte)).then(|| {
        format!("{name} alone do not end lines here, but are parts of values; tr '\\r' '\\n' makes all line ends alike")
    })
}

/// Notes about rows below the header that are probably none; `skipped` lines are known to be before the table.
fn doubtful_rows(layout: &Layout, skipped: u64, names: &[String]) -> Vec<String> {
    let described = layout.header.described;
    let descriptions =
        layout.last_description.as_ref().map(|lines| report::descriptions(described, skipped + lines.end, names));
    let other = layout.lines_before_other.map(|lines| report::other_table(skipped + lines));
    descriptions.into_iter().chain(other).collect()
}

/// The note about a row that may be the header, below a first row that is not.
fn doubtful_header(layout: &Layout, skipped: u64, known: &DialectOverrides) -> Vec<String> {
    let lines = layout.last_description.iter().filter(|_| known.header.is_none());
    lines.map(|lines| report::header_below(skipped + lines.start)).collect()
}

/// The wholeness of rows of words with hardly any numbers.
const WHOLENESS_OF_WORDS: f64 = 0.85;

/// The note about lines at the end that a delimiter splits evenly into what is hardly prose, if none is found.
fn rows_at_the_end(samples: &Samples<'_>, ranked: &[Candidate], known: &DialectOverrides) -> Option<String> {
    let is_one_column = ranked[0].shape.width == 1 && known.delimiter.is_none();
    let is_hardly_prose = |other: &Candidate| match other.dialect.delimiter {
        Delimiter::Byte(b';' | b'\t' | b'|') => true,
        Delimiter::Blanks | Delimiter::Byte(b' ') => other.wholeness > WHOLENESS_OF_WORDS,
        Delimiter::Byte(_) => false,
    };
    let is_even = |other: &&Candidate| other.shape.is_even_at_the_end() && is_hardly_prose(other);
    let other = ranked.iter().filter(|_| is_one_column).find(is_even)?;
    let tables = samples.split(&other.dialect);
    let before = &samples.start()[..tables.first()?.start(other.shape.first)];
    let lines = memchr::memchr_iter(other.dialect.line_end.last_byte(), before).count() as u64;
    let skip = lines + known.preamble_lines.unwrap_or(0);
    Some(report::rows_at_the_end(other.dialect.delimiter, other.shape.usual, other.shape.width, skip))
}

/// The note about columns at fixed positions, if blanks within their values were taken for delimiters, or nothing was.
fn columns_between_gaps(
    samples: &Samples<'_>,
    dialect: &Dialect,
    width: usize,
    known: &DialectOverrides,
) -> Option<String> {
    if known.delimiter.is_some() || width > 1 && dialect.delimiter != Delimiter::Blanks {
        return None;
    }
    let columns = gaps::columns(samples).filter(|columns| *columns != width)?;
    let is_split = width == 1 && !samples.start().starts_with(b"|") || gaps::has_names_with_blanks(samples, columns);
    is_split.then(|| report::columns_between_gaps(columns))
}
