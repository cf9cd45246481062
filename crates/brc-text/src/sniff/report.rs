//! The evidence for each part of a dialect, and advice for the user.

use super::comments::Comments;
use super::footer::Trailing;
use super::layout::Layout;
use super::score::Candidate;
use super::{Sample, charset};
use crate::dialect::{Delimiter, Dialect, DialectOverrides, LineEnd};
use brc_core::decimal;
use std::fmt;

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

/// Collects findings and advice for the user.
pub(super) struct Report<'a> {
    pub(super) overrides: &'a DialectOverrides,
    pub(super) findings: Vec<Finding>,
    pub(super) advice: Vec<String>,
    pub(super) not_utf8: Option<String>,
    pub(super) trailing: Option<String>,
    /// The note about a last row that counts the rows, and is read as one.
    pub(super) row_count: Option<String>,
}

impl Report<'_> {
    fn add(&mut self, part: Part, value: impl fmt::Display, is_given: bool, evidence: impl Into<String>) {
        let evidence = if is_given { "given".to_owned() } else { evidence.into() };
        self.findings.push(Finding { part, value: value.to_string(), evidence });
    }

    pub(super) fn charset(&mut self, samples: &[Sample<'_>]) -> crate::Charset {
        let found = charset::find(samples);
        let charset = self.overrides.charset.unwrap_or(found.charset);
        self.add(Part::Charset, charset, self.overrides.charset.is_some(), found.evidence);
        if self.overrides.charset.is_none() {
            self.advice.extend(found.advice.clone());
            self.not_utf8 = found.advice;
        }
        charset
    }

    pub(super) fn line_end(&mut self, line_end: LineEnd, tried: &[LineEnd], mut evidence: String) {
        if line_end != tried[0] {
            evidence += "; rows are more uniform with it";
        }
        self.add(Part::LineEnd, line_end, self.overrides.line_end.is_some(), evidence);
    }

    /// Reports delimiter, quote, escape and brackets, which are detected together.
    pub(super) fn syntax(&mut self, ranked: &[Candidate], declared: Option<Delimiter>, is_list: bool) {
        let Candidate { dialect, shape, quotes, .. } = &ranked[0];
        let mut evidence = match shape.width {
            _ if declared == Some(dialect.delimiter) => "the first line says so".to_owned(),
            _ if is_list => "the rows below a single name are single numbers with commas".to_owned(),
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

    pub(super) fn layout(&mut self, layout: &Layout, preamble_lines: u64) {
        let overrides = self.overrides;
        if let Some(Comments { prefix, rows, .. }) = &layout.comments {
            let verb = if *rows == 1 { "begins with it and is" } else { "begin with it and are" };
            let evidence = format!("{} {verb} unlike the table", count(*rows, "line"));
            self.add(Part::Comment, format!("'{prefix}'"), overrides.comment.is_some(), evidence);
        }
        if preamble_lines > 0 {
            let evidence = format!("before the first row of {}", count(layout.width, "field"));
            let lines = count(preamble_lines as usize, "line");
            self.add(Part::Preamble, lines, overrides.preamble_lines.is_some(), evidence);
        }
        if overrides.trailing_lines.is_none() {
            let note = trailing(layout.trailing);
            let is_row = layout.trailing.count_width == Some(layout.width);
            (self.row_count, self.trailing) = if is_row { (note, None) } else { (None, note) };
            self.advice.extend(self.trailing.clone());
        }
    }

    pub(super) fn header(&mut self, layout: &Layout) -> bool {
        let header = &layout.header;
        if let Some(names) = &layout.names {
            let (place, line) = names.place.describe();
            self.add(Part::Header, place, false, format!("{line} holds as many names as the rows have fields"));
            return false;
        }
        let is_there = self.overrides.header.unwrap_or(header.is_there());
        let value = if is_there { "present" } else { "absent" };
        self.add(Part::Header, value, self.overrides.header.is_some(), header.evidence.clone());
        if is_there && header.unnamed > 0 {
            self.advice.push(unnamed_columns(header.unnamed));
        }
        is_there
    }

    /// Blanks are trimmed if otherwise a quote would not open a field, or if numbers have some around them and so have many
    /// texts, if any: blanks around few texts are part of them.
    pub(super) fn trim(&mut self, best: &Candidate) -> bool {
        let (quoted, [padded, typed], texts) = (best.quotes.padded, best.typed, best.texts);
        let is_usual = |some: usize, of: usize| some > 0 && some * 10 >= of;
        let are_aligned = is_usual(padded, typed) && (texts[0] == 0 || texts[0] * 5 >= texts[1]);
        let trim = self.overrides.trim.unwrap_or(is_usual(quoted, best.quotes.sound) || are_aligned);
        if trim {
            let evidence = format!(
                "{quoted} quoted fields and {padded} of {typed} numbers, dates and the like have some around them"
            );
            self.add(Part::Trim, "stripped", self.overrides.trim.is_some(), evidence);
        }
        trim
    }
}

/// The longest list of names that a note repeats, in bytes.
const MAX_NAMES: usize = 120;

/// The note about rows below the header that describe the columns and make them text; `lines` is the number of lines up
/// to the last of them.
pub(super) fn descriptions(rows: usize, lines: u64, names: &[String]) -> String {
    let (rows, hold, they, describe, them) = match rows {
        1 => ("the row".to_owned(), "holds", "it", "describes", "it"),
        _ => (format!("the {rows} rows"), "hold", "they", "describe", "them"),
    };
    let list = names.join(",");
    let is_plain = !names.iter().any(|name| name.contains([',', '\'', '"', '\n']));
    let list = if is_plain && list.len() <= MAX_NAMES { format!("'{list}'") } else { "NAMES".to_owned() };
    format!(
        "{rows} below the header {hold} text in number or date columns, which become text; if {they} {describe} the \
         columns, --skip {lines} --header no --names {list} leaves {them} out"
    )
}

/// The note about a row with text above numbers, below `lines` lines and a first row that is no header.
pub(super) fn header_below(lines: u64) -> String {
    let line = lines + 1;
    format!(
        "line {line} holds text above numbers or dates, which become text; if it is the header, --skip {lines} starts \
         with it"
    )
}

/// The note about a first row with numbers that may be names or values.
pub(super) fn doubtful_header(is_header: bool, width: usize) -> String {
    match is_header {
        false if width == 1 => {
            "the first row is read as a value, though it may be the name; --header yes reads it as the name".to_owned()
        }
        true => "the first row names the columns, though it may be values; --header no reads it as values".to_owned(),
        false => "the first row is read as values, though it may be names; --header yes reads it as names".to_owned(),
    }
}

/// The note about a column of numbers with commas below a single name.
pub(super) fn list_of_numbers() -> String {
    "each row is read as one number with a comma, because the header is a single name; --delimiter , splits the rows at \
     the commas"
        .to_owned()
}

/// The note about lines at the end, below `skip` others, that have `width` fields each with a delimiter that is not taken.
pub(super) fn rows_at_the_end(delimiter: Delimiter, lines: usize, width: usize, skip: u64) -> String {
    let delimiter = delimiter.quoted();
    format!("no delimiter found; the last {lines} lines have {width} fields each with {delimiter} (--skip {skip})")
}

/// The note about columns that two or more blanks separate.
pub(super) fn columns_between_gaps(columns: usize) -> String {
    format!(
        "{columns} columns seem to be separated by two or more blanks; sed -E 's/ {{2,}}/\\t/g' makes tabs of these, which \
         separate them"
    )
}

/// The note about a second header, below `lines` lines.
pub(super) fn other_table(lines: u64) -> String {
    let line = lines + 1;
    format!("line {line} below an empty line may be the header of another table; --skip {lines} starts with it")
}

/// The note about narrow rows at the end of the file, or one that counts the rows.
fn trailing(Trailing { rows, lines, count_width }: Trailing) -> Option<String> {
    match rows {
        0 => None,
        _ if count_width.is_some() => Some(format!("the last row counts the rows; --skip-footer {lines} skips it")),
        1 => Some(format!("the last row has too few fields; if it is not data, --skip-footer {lines} skips it")),
        _ => Some(format!(
            "the last {rows} rows have too few fields; if they are not data, --skip-footer {lines} skips them"
        )),
    }
}

/// The note about a header that is shorter than the rows.
pub(super) fn unnamed_columns(columns: usize) -> String {
    format!(
        "the header does not name the last {}; {} numbered",
        count(columns, "column"),
        if columns == 1 { "it is" } else { "they are" }
    )
}

pub(super) fn count(number: usize, noun: &str) -> String {
    decimal::counted(number as u64, noun)
}
