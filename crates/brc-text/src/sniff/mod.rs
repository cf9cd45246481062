//! Finding the dialect of a text table, and saying why.
//!
//! A dialect that is guessed wrong makes a wrong table without an error, so each part comes with its evidence, the same
//! samples always give the same answer, and where the evidence is thin, what most files do is taken: commas, double
//! quotes that are doubled. That there are no quotes at all can never be seen in a sample, and is never found.

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
use brc_core::names::{numbered_names, unique_names};
use comments::Comments;
use layout::Layout;
use samples::Samples;
use score::Candidate;
use std::fmt;

/// How many bytes of a file's beginning are worth sampling. More takes longer, and hardly ever tells more.
pub const START_BYTES: usize = 64 * 1024;
/// How many bytes are worth sampling at each other place.
pub const PLACE_BYTES: usize = 16 * 1024;

/// Some bytes of a file.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The bytes, as they are in the file.
    pub bytes: &'a [u8],
    /// Where they are in the file. The sample at 0 must be there for charset, preamble and header to be found; others
    /// may start anywhere, within a row, a field or a character.
    pub offset: u64,
    /// Whether the file ends with them.
    pub is_end: bool,
}

impl<'a> Sample<'a> {
    /// A whole file.
    pub fn whole(bytes: &'a [u8]) -> Self {
        Sample { bytes, offset: 0, is_end: true }
    }
}

/// A dialect with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sniffed {
    /// The dialect.
    pub dialect: Dialect,
    /// The names of the columns, all different: from the header, or numbered where there is none. Bytes that are not
    /// UTF-8 show as U+FFFD here; the [charset](Dialect::charset) decides what they are.
    pub names: Vec<String>,
    /// Why each part is what it is, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// What was seen and not acted upon, because only a person can know: each a sentence.
    pub advice: Vec<String>,
    /// The fields of the first row, be they names or values.
    pub first_row: Vec<String>,
    /// How many of the last columns the header does not name.
    pub unnamed: usize,
    is_preamble_inferred: bool,
    /// What to say of a text that is not UTF-8, if no charset is given.
    not_utf8: Option<String>,
    /// Whether the sample of the file's beginning has so few whole rows of the table that a longer one may tell more.
    pub needs_more: bool,
}

/// What becomes of lines before the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preamble {
    /// Those that are unlike the table are left out, unless overrides say how many or whether there is a header.
    Infer,
    /// They are rows.
    Keep,
}

impl Sniffed {
    /// The same, where the first row is known to be the header.
    #[must_use]
    pub fn with_header(mut self) -> Self {
        if !self.first_row.is_empty() {
            self.dialect.header = true;
            self.names = header_names(&self.first_row);
        }
        self
    }

    /// What was inferred that a user may have to correct: each a sentence.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let preamble = self.is_preamble_inferred.then(|| {
            let lines = self.dialect.preamble_lines;
            let place = if self.dialect.header { "header" } else { "first row" };
            let them = if lines == 1 { "it" } else { "them" };
            format!("{} before the {place} skipped (--skip 0 keeps {them})", count(lines as usize, "line"))
        });
        let unnamed = (self.unnamed > 0).then(|| unnamed_columns(self.unnamed));
        preamble.into_iter().chain(unnamed).chain(self.not_utf8.clone()).collect()
    }
}

/// One part of a dialect and why it is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part.
    pub part: Part,
    /// What it is: `';'`, `3 lines`, `none`.
    pub value: String,
    /// What speaks for it: `21 of 21 sampled rows have 4 fields with it`.
    pub evidence: String,
}

/// `delimiter ';' - 21 of 21 sampled rows have 4 fields with it`.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} - {}", self.part, self.value, self.evidence)
    }
}

/// The parts of a dialect that are found.
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

/// How many rows of the table are enough to tell how they are written; of long rows, fewer.
const ENOUGH_ROWS: usize = 20;
const ENOUGH_LONG_ROWS: usize = 3;
const MANY_BYTES: usize = 1 << 20;

/// Finds the dialect of the file that these are samples of. What `overrides` say is taken as given, and the rest is found
/// under it. Needs time in proportion to the bytes times the delimiters in them: milliseconds for [`START_BYTES`].
///
/// Lines before the table that are unlike it are left out, unless `overrides` say how many or whether there is a header.
pub fn sniff(samples: &[Sample<'_>], overrides: &DialectOverrides) -> Sniffed {
    find(samples, overrides, Preamble::Infer)
}

/// The same for a text of which the caller knows the columns or what to do with ragged rows: all lines are rows, but for
/// those that `overrides` leave out, comments, and a line that says the delimiter.
pub fn sniff_rows(samples: &[Sample<'_>], overrides: &DialectOverrides) -> Sniffed {
    find(samples, overrides, Preamble::Keep)
}

fn find(samples: &[Sample<'_>], overrides: &DialectOverrides, preamble: Preamble) -> Sniffed {
    let mut report = Report { overrides, findings: Vec::new(), advice: Vec::new(), not_utf8: None };
    let charset = report.charset(samples);
    let samples = Samples::decode(samples, charset);
    let said = said_delimiter(samples.start()).filter(|_| overrides.preamble_lines.is_none());
    let known = &match said {
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
    report.form(&ranked, said);
    dialect = Dialect { comment: dialect.comment, ..best.dialect.clone() };

    // A line that says the delimiter does not keep titles from being found below it.
    let below = &DialectOverrides { preamble_lines: overrides.preamble_lines, ..known.clone() };
    let layout = Layout::find(&samples, &dialect, below, preamble);
    let lines = layout.preamble_lines + u64::from(said.is_some());
    dialect.comment = layout.comments.as_ref().map(|comments| comments.prefix.clone());
    dialect.preamble_lines = overrides.preamble_lines.unwrap_or(lines);
    report.layout(&layout, dialect.preamble_lines);
    dialect.header = report.header(&layout.header);
    dialect.trim = report.trim(best);

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
        not_utf8: report.not_utf8,
        first_row: layout.header.cells.unwrap_or_default(),
        dialect,
        names,
        findings: report.findings,
        advice: report.advice,
    }
}

/// The delimiter of a first line `sep=;`, by which a text tells spreadsheets how to read it.
fn said_delimiter(start: &[u8]) -> Option<Delimiter> {
    let line = &start[..memchr::memchr2(b'\n', b'\r', start)?];
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line.split_at_checked(4)? {
        (name, [delimiter]) if name.eq_ignore_ascii_case(b"sep=") => Some(Delimiter::Byte(*delimiter)),
        (name, br"\t") if name.eq_ignore_ascii_case(b"sep=") => Some(Delimiter::Byte(b'\t')),
        _ => None,
    }
}

/// The samples without the lines that are to be left out, and the candidates for the line end whose best one is the best
/// of all: the first of equal ones.
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
    let better = |best: (Samples<'a>, Vec<Candidate>), other: (Samples<'a>, Vec<Candidate>)| {
        if other.1[0].score > best.1[0].score { other } else { best }
    };
    line_ends[1..].iter().map(by).fold(by(&line_ends[0]), better)
}

/// What is put together for the person who asks.
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

    /// Delimiter, quote and escape, which are found together.
    fn form(&mut self, ranked: &[Candidate], said: Option<Delimiter>) {
        let Candidate { dialect, shape, quotes, .. } = &ranked[0];
        let mut evidence = match shape.width {
            _ if said == Some(dialect.delimiter) => "the first line says so".to_owned(),
            1 if dialect.delimiter == Dialect::default().delimiter => {
                format!("no delimiter found in {}; the default", count(shape.rows, "sampled row"))
            }
            1 => format!("{} of {} sampled rows have a single field with it", shape.usual, shape.rows),
            width => format!("{} of {} sampled rows have {width} fields with it", shape.usual, shape.rows),
        };
        let next = ranked.iter().find(|other| other.dialect.delimiter != dialect.delimiter && other.shape.width > 1);
        let next = next.filter(|_| said.is_none());
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
        if layout.trailing_rows > 0 && overrides.trailing_lines.is_none() {
            self.advice.push(match layout.trailing_rows {
                1 => "the last row has too few fields; if it is not data, --skip-footer 1 skips it".to_owned(),
                rows => format!(
                    "the last {rows} rows have too few fields; if they are not data, --skip-footer {rows} skips them"
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

    /// Blanks go where a quote would be none behind them, or a number no number.
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

/// What to say of a header that is shorter than the rows.
fn unnamed_columns(columns: usize) -> String {
    format!(
        "the header does not name the last {}; {} numbered",
        count(columns, "column"),
        if columns == 1 { "it is" } else { "they are" }
    )
}

/// The names of columns with such a header, without the blanks around them.
fn header_names(cells: &[String]) -> Vec<String> {
    unique_names(cells.iter().map(|cell| cell.trim()))
}

fn count(number: usize, noun: &str) -> String {
    decimal::counted(number as u64, noun)
}
