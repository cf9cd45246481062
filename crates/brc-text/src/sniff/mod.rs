//! Detects the dialect of a text table, and explains the result.
//!
//! A wrong dialect yields a wrong table without an error. Each part therefore comes with its evidence, the same samples
//! always give the same result, and if the evidence is thin, the most common choice is made: commas, and double quotes
//! that are doubled. The absence of quotes cannot be seen in a sample, and is never inferred from it alone.

mod charset;
mod columns;
mod comments;
mod header;
mod kind;
mod layout;
mod preamble;
mod rows;
mod samples;
mod score;

pub use charset::is_utf16;
pub use comments::fault_in_line;

use crate::dialect::{Delimiter, Dialect, DialectOverrides, LineEnd};
use brc_core::decimal;
use brc_core::names::{self, numbered_names, unique_names};
use comments::Comments;
use layout::{Layout, Trailing};
use rows::SampleRows;
use samples::Samples;
use score::Candidate;
use std::fmt;

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
    is_preamble_inferred: bool,
    /// The number of sampled rows whose fields may be shifted, because blanks separate fields and a value has some.
    shifted: usize,
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

    /// What was inferred and the user may have to correct; one sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let preamble = self.is_preamble_inferred.then(|| {
            let lines = self.dialect.preamble_lines;
            let place = if self.dialect.header { "header" } else { "first row" };
            let them = if lines == 1 { "it" } else { "them" };
            format!("{} before the {place} skipped (--skip 0 keeps {them})", count(lines as usize, "line"))
        });
        let unnamed = (self.unnamed > 0).then(|| unnamed_columns(self.unnamed));
        let shifted = (self.shifted > 0).then(|| {
            let rows = count(self.shifted, "sampled row");
            format!("{rows} with runs of blanks in the last column: a value with a blank may have shifted the others")
        });
        let own = self.first_row.iter().zip(&self.names).map(|(cell, name)| match cell.trim() {
            "" => name.as_str(),
            own => own,
        });
        let renamed = if self.dialect.header { names::renamed(own, &self.names) } else { None };
        let notes = preamble.into_iter().chain(unnamed).chain(renamed).chain(shifted);
        notes.chain(self.not_utf8.clone()).collect()
    }
}

/// A part of a dialect and the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part.
    pub part: Part,
    /// The value: `';'`, `3 lines`, `none`.
    pub value: String,
    /// The evidence: `21 of 21 sampled rows have 4 fields with it`.
    pub evidence: String,
}

/// `delimiter ';' - 21 of 21 sampled rows have 4 fields with it`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} - {}", self.part, self.value, self.evidence)
    }
}

/// The parts of a dialect that are detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// [`Dialect::charset`].
    Charset,
    /// [`Dialect::line_end`].
    LineEnd,
    /// [`Dialect::delimiter`].
    Delimiter,
    /// [`Dialect::quote`] and [`Dialect::doubled_quotes`].
    Quote,
    /// [`Dialect::escape`].
    Escape,
    /// [`Dialect::brackets`].
    Brackets,
    /// [`Dialect::comment`].
    Comment,
    /// [`Dialect::preamble_lines`].
    Preamble,
    /// [`Dialect::header`].
    Header,
    /// [`Dialect::trim`].
    Trim,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Charset => "charset",
            Part::LineEnd => "line end",
            Part::Delimiter => "delimiter",
            Part::Quote => "quote",
            Part::Escape => "escape",
            Part::Brackets => "brackets",
            Part::Comment => "comment",
            Part::Preamble => "preamble",
            Part::Header => "header",
            Part::Trim => "blanks around fields",
        })
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
    let mut report = Report { overrides, findings: Vec::new(), advice: Vec::new(), not_utf8: None };
    let charset = report.charset(samples);
    let samples = Samples::decode(samples, charset);
    let declared = declared_delimiter(samples.start()).filter(|_| overrides.preamble_lines.is_none());
    let known = &match declared {
        Some(delimiter) => DialectOverrides {
            delimiter: overrides.delimiter.or(Some(delimiter)),
            preamble_lines: Some(1),
            ..overrides.clone()
        },
        None => overrides.clone(),
    };
    let mut dialect = known.apply(Dialect::default());
    dialect.charset = charset;
    let (line_ends, seen) = match overrides.line_end {
        Some(line_end) => (vec![line_end], String::new()),
        None => layout::line_ends(&samples),
    };
    let (samples, ranked) = best_line_end(&samples, &line_ends, &dialect, known);
    let best = &ranked[0];
    report.line_end(best.dialect.line_end, &line_ends, seen);
    report.syntax(&ranked, declared);
    dialect = Dialect { comment: dialect.comment, ..best.dialect.clone() };

    // A line that declares the delimiter does not prevent the detection of titles below it.
    let below = &DialectOverrides { preamble_lines: overrides.preamble_lines, ..known.clone() };
    let layout = Layout::find(&samples, &dialect, below, preamble);
    let lines = layout.preamble_lines + u64::from(declared.is_some());
    dialect.comment = layout.comments.as_ref().map(|comments| comments.prefix.clone());
    dialect.preamble_lines = overrides.preamble_lines.unwrap_or(lines);
    report.layout(&layout, dialect.preamble_lines);
    dialect.header = report.header(&layout.header);
    dialect.trim = report.trim(best);
    dialect.padded_quotes = dialect.trim && best.quotes.malformed == 0;

    let names = match &layout.header.cells {
        Some(cells) if dialect.header => header_names(cells),
        _ if ranked[0].shape.rows == 0 => Vec::new(),
        _ => numbered_names(layout.width),
    };
    let enough = if samples.start().len() < MANY_BYTES { ENOUGH_ROWS } else { ENOUGH_LONG_ROWS };
    Sniffed {
        needs_more: !samples.is_whole() && (layout.rows < enough || samples.are_comments()),
        unnamed: if dialect.header { layout.header.unnamed } else { 0 },
        is_preamble_inferred: layout.preamble_lines > 0,
        shifted: layout.shifted,
        not_utf8: report.not_utf8,
        first_row: layout.header.cells.unwrap_or_default(),
        dialect,
        names,
        findings: report.findings,
        advice: report.advice,
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
        dialect.line_end != LineEnd::Cr || !samples.split(dialect).iter().any(SampleRows::have_unquoted_line_feed)
    };
    let better = |best: (Samples<'a>, Vec<Candidate>), other: (Samples<'a>, Vec<Candidate>)| {
        if other.1[0].score > best.1[0].score && is_sound(&other) { other } else { best }
    };
    line_ends[1..].iter().map(by).fold(by(&line_ends[0]), better)
}

/// Collects findings and advice for the user.
struct Report<'a> {
    overrides: &'a DialectOverrides,
    findings: Vec<Finding>,
    advice: Vec<String>,
    not_utf8: Option<String>,
}

impl Report<'_> {
    fn add(&mut self, part: Part, value: impl fmt::Display, is_given: bool, evidence: impl Into<String>) {
        let evidence = if is_given { "given".to_owned() } else { evidence.into() };
        self.findings.push(Finding { part, value: value.to_string(), evidence });
    }

    fn charset(&mut self, samples: &[Sample<'_>]) -> crate::Charset {
        let found = charset::find(samples);
        let charset = self.overrides.charset.unwrap_or(found.charset);
        self.add(Part::Charset, charset, self.overrides.charset.is_some(), found.evidence);
        if self.overrides.charset.is_none() {
            self.advice.extend(found.advice.clone());
            self.not_utf8 = found.advice;
        }
        charset
    }

    fn line_end(&mut self, line_end: LineEnd, tried: &[LineEnd], mut evidence: String) {
        if line_end != tried[0] {
            evidence += "; rows are more uniform with it";
        }
        self.add(Part::LineEnd, line_end, self.overrides.line_end.is_some(), evidence);
    }

    /// Reports delimiter, quote, escape and brackets, which are detected together.
    fn syntax(&mut self, ranked: &[Candidate], declared: Option<Delimiter>) {
        let Candidate { dialect, shape, quotes, .. } = &ranked[0];
        let mut evidence = match shape.width {
            _ if declared == Some(dialect.delimiter) => "the first line says so".to_owned(),
            1 if dialect.delimiter == Dialect::default().delimiter => {
                format!("no delimiter found in {}; the default", count(shape.rows, "sampled row"))
            }
            1 => format!("{} of {} sampled rows have a single field with it", shape.usual, shape.rows),
            width => format!("{} of {} sampled rows have {width} fields with it", shape.usual, shape.rows),
        };
        let next = ranked.iter().find(|other| other.dialect.delimiter != dialect.delimiter && other.shape.width > 1);
        let next = next.filter(|_| declared.is_none());
        if let Some(next) = next.filter(|_| shape.width > 1) {
            let (delimiter, shape) = (next.dialect.delimiter.quoted(), next.shape);
            evidence +=
                &format!("; next best is {delimiter}: {} of {} have {} fields", shape.usual, shape.rows, shape.width);
        }
        self.add(Part::Delimiter, dialect.delimiter.quoted(), self.overrides.delimiter.is_some(), evidence);

        let quote = dialect.quote.map_or("none".to_owned(), |quote| Delimiter::Byte(quote).quoted().to_string());
        let mut evidence = match quotes.sound {
            0 => "no sampled field is quoted; the default".to_owned(),
            1 => "1 sampled field is quoted with it".to_owned(),
            sound => format!("{sound} sampled fields are quoted with it"),
        };
        for (number, text) in [
            (quotes.doubled, "contain doubled quotes"),
            (quotes.malformed, "more begin with it but do not end with it"),
        ] {
            if number > 0 {
                evidence += &format!(", {number} {text}");
            }
        }
        self.add(Part::Quote, quote, self.overrides.quote.is_some(), evidence);
        if let Some(escape) = dialect.escape {
            let evidence = format!("it escapes {} in the sample", count(quotes.escaped, "special character"));
            self.add(Part::Escape, Delimiter::Byte(escape).quoted(), self.overrides.escape.is_some(), evidence);
        }
        if dialect.brackets {
            let evidence = match quotes.bracketed {
                1 => "1 sampled field is in [ ] with blanks between them".to_owned(),
                fields => format!("{fields} sampled fields are in [ ] with blanks between them"),
            };
            self.add(Part::Brackets, "around fields", self.overrides.brackets.is_some(), evidence);
        }
    }

    fn layout(&mut self, layout: &Layout, preamble_lines: u64) {
        let overrides = self.overrides;
        if let Some(Comments { prefix, rows }) = &layout.comments {
            let verb = if *rows == 1 { "begins with it and is" } else { "begin with it and are" };
            let evidence = format!("{} {verb} unlike the table", count(*rows, "line"));
            self.add(Part::Comment, format!("'{prefix}'"), overrides.comment.is_some(), evidence);
        }
        if preamble_lines > 0 {
            let evidence = format!("before the first row of {}", count(layout.width, "field"));
            let lines = count(preamble_lines as usize, "line");
            self.add(Part::Preamble, lines, overrides.preamble_lines.is_some(), evidence);
        }
        let Trailing { rows, lines } = layout.trailing;
        if rows > 0 && overrides.trailing_lines.is_none() {
            self.advice.push(match rows {
                1 => format!("the last row has too few fields; if it is not data, --skip-footer {lines} skips it"),
                _ => format!(
                    "the last {rows} rows have too few fields; if they are not data, --skip-footer {lines} skips them"
                ),
            });
        }
    }

    fn header(&mut self, header: &header::Header) -> bool {
        let is_there = self.overrides.header.unwrap_or(header.is_there());
        let value = if is_there { "present" } else { "absent" };
        self.add(Part::Header, value, self.overrides.header.is_some(), header.evidence.clone());
        if is_there && header.unnamed > 0 {
            self.advice.push(unnamed_columns(header.unnamed));
        }
        is_there
    }

    /// Blanks are trimmed if otherwise a quote would not open a field, or a number would not be a number.
    fn trim(&mut self, best: &Candidate) -> bool {
        let (quoted, [padded, typed]) = (best.quotes.padded, best.typed);
        let is_usual = |some: usize, of: usize| some > 0 && some * 10 >= of;
        let trim = self.overrides.trim.unwrap_or(is_usual(quoted, best.quotes.sound) || is_usual(padded, typed));
        if trim {
            let evidence = format!(
                "{quoted} quoted fields and {padded} of {typed} numbers, dates and the like have some around them"
            );
            self.add(Part::Trim, "stripped", self.overrides.trim.is_some(), evidence);
        }
        trim
    }
}

/// The note about a header that is shorter than the rows.
fn unnamed_columns(columns: usize) -> String {
    format!(
        "the header does not name the last {}; {} numbered",
        count(columns, "column"),
        if columns == 1 { "it is" } else { "they are" }
    )
}

/// Unique column names from the cells of a header, trimmed.
fn header_names(cells: &[String]) -> Vec<String> {
    unique_names(cells.iter().map(|cell| cell.trim()))
}

fn count(number: usize, noun: &str) -> String {
    decimal::counted(number as u64, noun)
}
