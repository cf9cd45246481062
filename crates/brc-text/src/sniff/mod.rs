//! Detects the dialect of a text table, and explains the result.
//!
//! A wrong dialect yields a wrong table without an error. Each part therefore comes with its evidence, the same samples
//! always give the same result, and if the evidence is thin, the most common choice is made: commas, and double quotes
//! that are doubled. The absence of quotes cannot be seen in a sample, and is never inferred from it alone.

mod charset;
mod columns;
mod commas;
mod comments;
mod doubts;
mod footer;
mod gaps;
mod header;
mod kind;
mod layout;
mod preamble;
mod report;
mod rows;
mod samples;
mod score;
mod shape;
mod times;

pub use charset::is_utf16;
pub use comments::fault_in_line;
pub(crate) use comments::{PREFIXES, comment_prefix};
pub use report::{Finding, Part};

use crate::dialect::{Delimiter, Dialect, DialectOverrides, LineEnd};
use brc_core::names::{self, numbered_names, unique_names};
use doubts::Found;
use layout::Layout;
use report::{Report, count, unnamed_columns};

use samples::Samples;
use score::Candidate;

/// The number of bytes worth sampling at the start of a file. More takes longer, and hardly ever changes the result.
pub const START_BYTES: usize = 64 * 1024;
/// The number of bytes worth sampling at each other position.
pub const PLACE_BYTES: usize = 16 * 1024;

/// A sample of the bytes of a file.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The raw bytes.
    pub bytes: &'a [u8],
    /// The offset in the file. The sample at 0 is needed to detect charset, preamble and header; others may start
    /// anywhere, also within a row, a field or a character.
    pub offset: u64,
    /// Whether the sample extends to the end of the file.
    pub is_end: bool,
}

impl<'a> Sample<'a> {
    /// A whole file.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Sample { bytes, offset: 0, is_end: true }
    }
}

/// A detected dialect with its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sniffed {
    /// The dialect.
    pub dialect: Dialect,
    /// The unique names of the columns: from the header, or numbered if there is none. Bytes that are not UTF-8 appear
    /// as U+FFFD here; the [charset](Dialect::charset) decides how they are decoded.
    pub names: Vec<String>,
    /// The evidence for each part, in the order of detection.
    pub findings: Vec<Finding>,
    /// What was noticed and not acted upon, because only the user can know; one sentence each.
    pub advice: Vec<String>,
    /// The fields of the first row, whether names or values.
    pub first_row: Vec<String>,
    /// The number of trailing columns that the header does not name.
    pub unnamed: usize,
    /// The comment that names the columns, without its prefix.
    pub names_comment: Option<Vec<u8>>,
    is_preamble_inferred: bool,
    /// Whether some line before the table is a comment.
    are_comments_skipped: bool,
    /// The number of sampled rows whose fields may be shifted, because blanks separate fields and a value has some.
    shifted: usize,
    /// Notes about fields that are probably not what the file's author means.
    doubts: Vec<String>,
    /// The note about narrow rows at the end.
    trailing: Option<String>,
    /// Whether most lines end with two carriage returns and a line feed.
    has_two_returns: bool,
    /// The note about a text that is not UTF-8, if the user sets no charset.
    not_utf8: Option<String>,
    /// Whether the sample of the file's start has so few whole rows that a longer sample may improve the result.
    pub needs_more: bool,
}

/// The treatment of lines before the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preamble {
    /// Lines unlike the table are skipped, unless overrides set their number or the header.
    Infer,
    /// All lines are rows.
    Keep,
}

impl Sniffed {
    /// The same, if the first row is known to be the header.
    #[must_use]
    pub fn with_header(mut self) -> Self {
        if !self.first_row.is_empty() {
            self.dialect.header = true;
            self.names = header_names(&self.first_row);
        }
        self
    }

    /// Whether the samples are UTF-8, unless the user sets the charset.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.not_utf8.is_none()
    }

    /// The note about narrow rows at the end of the file, which are errors unless bad rows are left out.
    #[must_use]
    pub fn trailing_note(&self) -> Option<&str> {
        self.trailing.as_deref()
    }

    /// What was inferred and the user may have to correct; one sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let preamble = self.is_preamble_inferred.then(|| {
            let lines = self.dialect.preamble_lines;
            let place = if self.dialect.header { "header" } else { "first row" };
            let them = if lines == 1 { "it" } else { "them" };
            let keeps = if self.are_comments_skipped { "--comment none --skip 0" } else { "--skip 0" };
            format!("{} before the {place} skipped ({keeps} keeps {them})", count(lines as usize, "line"))
        });
        let unnamed = (self.unnamed > 0).then(|| match self.dialect.delimiter {
            Delimiter::Byte(_) => unnamed_columns(self.unnamed),
            Delimiter::Blanks => {
                format!("{}: a name or a value with a blank may have shifted the others", unnamed_columns(self.unnamed))
            }
        });
        let shifted = (self.shifted > 0).then(|| {
            let rows = count(self.shifted, "sampled row");
            format!("{rows} with runs of blanks in the last column: a value with a blank may have shifted the others")
        });
        let own = self.first_row.iter().zip(&self.names).map(|(cell, name)| match cell.trim() {
            "" => name.as_str(),
            own => own,
        });
        let renamed = if self.dialect.header { names::renamed(own, &self.names) } else { None };
        let notes = preamble.into_iter().chain(unnamed).chain(renamed).chain(shifted).chain(self.doubts.clone());
        let returns = self.has_two_returns.then(|| {
            "lines end with two carriage returns and a line feed: the last column keeps one of them, which tr -d '\\r' \
             removes from the text"
                .to_owned()
        });
        notes.chain(returns).chain(self.not_utf8.clone()).collect()
    }
}

/// The number of rows that suffices for detection, and the number for a sample of at least `MANY_BYTES` bytes.
const ENOUGH_ROWS: usize = 20;
const ENOUGH_LONG_ROWS: usize = 3;
const MANY_BYTES: usize = 1 << 20;

/// Detects the dialect of the file that the samples are from. `overrides` are taken as given, and the rest is detected
/// accordingly. The time is proportional to the number of bytes times the number of delimiters that occur: milliseconds
/// for [`START_BYTES`].
///
/// Lines before the table that are unlike it are skipped, unless `overrides` set their number or the header.
pub fn sniff(samples: &[Sample<'_>], overrides: &DialectOverrides) -> Sniffed {
    find(samples, overrides, Preamble::Infer)
}

/// Like [`sniff`], for callers that know the columns or how to treat ragged rows: all lines are rows, except for those
/// that `overrides` skip, comments, and a line that declares the delimiter.
pub fn sniff_rows(samples: &[Sample<'_>], overrides: &DialectOverrides) -> Sniffed {
    find(samples, overrides, Preamble::Keep)
}

fn find(samples: &[Sample<'_>], overrides: &DialectOverrides, preamble: Preamble) -> Sniffed {
    let mut report =
        Report { overrides, findings: Vec::new(), advice: Vec::new(), not_utf8: None, trailing: None, row_count: None };
    let charset = report.charset(samples);
    let samples = Samples::decode(samples, charset);
    let declared = declared_delimiter(samples.start()).filter(|_| overrides.preamble_lines.is_none());
    let known = &with_declared(overrides, declared);
    let mut dialect = known.apply(Dialect::default());
    dialect.charset = charset;
    let (line_ends, seen) = match overrides.line_end {
        Some(line_end) => (vec![line_end], String::new()),
        None => layout::line_ends(&samples),
    };
    let (samples, ranked) = best_line_end(&samples, &line_ends, &dialect, known);
    let best = &ranked[0];
    let has_two_returns = best.dialect.line_end != LineEnd::Cr && layout::have_two_returns(&samples);
    report.line_end(best.dialect.line_end, &line_ends, seen);
    let is_list = known.delimiter.is_none() && known.header != Some(false) && commas::are_in_list(&samples);
    report.syntax(&ranked, declared, is_list);
    dialect = Dialect { comment: dialect.comment, ..best.dialect.clone() };

    // A line that declares the delimiter does not prevent the detection of titles below it.
    let below = &DialectOverrides { preamble_lines: overrides.preamble_lines, ..known.clone() };
    let layout = Layout::find(&samples, &dialect, below, preamble);
    let lines = layout.preamble_lines + u64::from(declared.is_some());
    dialect.comment = layout.comments.as_ref().map(|comments| comments.prefix.clone());
    dialect.preamble_lines = overrides.preamble_lines.unwrap_or(lines);
    report.layout(&layout, dialect.preamble_lines);
    dialect.header = report.header(&layout);
    dialect.trim = report.trim(best);
    dialect.padded_quotes = dialect.trim && best.quotes.malformed == 0;

    let names = column_names(&layout, dialect.header, best.shape.rows);
    let has_other_line_ends = line_ends.len() > 1 && !has_two_returns;
    let found = Found { samples: &samples, ranked: &ranked, layout: &layout, dialect: &dialect, names: &names };
    let doubts = found.doubts(overrides, known, report.row_count.take(), is_list, has_other_line_ends);
    report.advice.extend_from_slice(&doubts);
    Sniffed {
        needs_more: !samples.is_whole() && has_too_few_rows(&samples, &ranked, layout.rows, overrides),
        unnamed: if dialect.header { layout.header.unnamed } else { 0 },
        is_preamble_inferred: layout.preamble_lines > 0,
        are_comments_skipped: layout.are_comments_skipped,
        shifted: layout.shifted,
        doubts,
        trailing: report.trailing.filter(|_| preamble == Preamble::Infer),
        has_two_returns,
        not_utf8: report.not_utf8,
        names_comment: layout.names.map(|names| names.comment),
        first_row: layout.header.cells.unwrap_or_default(),
        dialect,
        names,
        findings: report.findings,
        advice: report.advice,
    }
}

/// The names of the columns: those of a comment or the header, or numbers if there are rows.
fn column_names(layout: &Layout, has_header: bool, rows: usize) -> Vec<String> {
    match (&layout.names, &layout.header.cells) {
        (Some(names), _) => header_names(&names.names),
        (None, Some(cells)) if has_header => header_names(cells),
        _ if rows == 0 => Vec::new(),
        _ => numbered_names(layout.width),
    }
}

/// Whether the sample of the start has too few `rows`, or ends within quotes.
fn has_too_few_rows(samples: &Samples<'_>, ranked: &[Candidate], rows: usize, overrides: &DialectOverrides) -> bool {
    let are_many = samples.start().len() >= MANY_BYTES;
    let enough = if are_many { ENOUGH_LONG_ROWS } else { ENOUGH_ROWS };
    let likely = 0.5 * ranked[0].score;
    let may_be_in_quotes = |candidate: &Candidate| {
        candidate.quotes.unended > 0
            && (!are_many && candidate.score > likely || has_usual_quotes(&candidate.dialect, overrides))
    };
    rows < enough || ranked.iter().any(may_be_in_quotes) || samples.are_comments()
}

/// Whether a quote that is not closed is probably one. Lines in quotes may look like a better table than the one that
/// they are in, so the score does not tell.
fn has_usual_quotes(dialect: &Dialect, overrides: &DialectOverrides) -> bool {
    let is_usual = matches!(dialect.delimiter, Delimiter::Byte(b',' | b';' | b'\t' | b'|'));
    dialect.quote != Some(b'\'') && (is_usual || overrides.delimiter.is_some())
}

/// What is known of a text whose first line declares its delimiter, or does not.
fn with_declared(overrides: &DialectOverrides, declared: Option<Delimiter>) -> DialectOverrides {
    match declared {
        Some(delimiter) => DialectOverrides {
            delimiter: overrides.delimiter.or(Some(delimiter)),
            preamble_lines: Some(1),
            ..overrides.clone()
        },
        None => overrides.clone(),
    }
}

/// The delimiter that a first line such as `sep=;` declares for spreadsheets.
fn declared_delimiter(start: &[u8]) -> Option<Delimiter> {
    let line = &start[..memchr::memchr2(b'\n', b'\r', start)?];
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line.split_at_checked(4)? {
        (name, [delimiter]) if name.eq_ignore_ascii_case(b"sep=") => Some(Delimiter::Byte(*delimiter)),
        (name, br"\t") if name.eq_ignore_ascii_case(b"sep=") => Some(Delimiter::Byte(b'\t')),
        _ => None,
    }
}

/// Tries each line end. Returns the samples without the lines to skip, and the ranked candidates of the line end with
/// the best candidate; the first of equal ones.
fn best_line_end<'a>(
    samples: &Samples<'a>,
    line_ends: &[LineEnd],
    base: &Dialect,
    overrides: &DialectOverrides,
) -> (Samples<'a>, Vec<Candidate>) {
    let by = |line_end: &LineEnd| {
        let samples = samples.without_lines(base.preamble_lines, line_end.last_byte());
        let ranked = score::rank(&samples, &Dialect { line_end: *line_end, ..base.clone() }, overrides);
        (samples, ranked)
    };
    // Rows that end in a CR have line feeds only in quotes.
    let is_sound = |(samples, ranked): &(Samples<'a>, Vec<Candidate>)| {
        let dialect = &ranked[0].dialect;
        dialect.line_end != LineEnd::Cr || !samples.split(dialect).iter().any(|rows| rows.have_unquoted(b'\n'))
    };
    let better = |best: (Samples<'a>, Vec<Candidate>), other: (Samples<'a>, Vec<Candidate>)| {
        if other.1[0].score > best.1[0].score && is_sound(&other) { other } else { best }
    };
    line_ends[1..].iter().map(by).fold(by(&line_ends[0]), better)
}

/// Unique column names from the cells of a header, trimmed.
fn header_names(cells: &[String]) -> Vec<String> {
    unique_names(cells.iter().map(|cell| cell.trim()))
}
