//! Which delimiter, quote and escape fit best.
//!
//! Every dialect that the bytes of a sample allow is tried. A dialect is good if its rows have one shape (van den Burg et
//! al., "Wrangling Messy CSV Files by Detecting Row and Type Patterns", call it the pattern score) and its fields are
//! whole: numbers, dates, words (their type score). The score is the product of both, of how well quotes are used, and of
//! how often files use such a delimiter at all: the last decides where there are too few rows to tell.

use super::kind::Kind;
use super::rows::{Cell, Quotes, Rows};
use super::samples::Samples;
use crate::dialect::{Delimiter, Dialect, DialectOverrides};
use std::collections::BTreeMap;

/// The delimiters that are tried, and how likely each is before a byte was seen. The first of equal ones wins.
const DELIMITERS: &[(Delimiter, f64)] = &[
    (Delimiter::Byte(b','), 1.0),
    (Delimiter::Byte(b';'), 1.0),
    (Delimiter::Byte(b'\t'), 1.0),
    (Delimiter::Byte(b'|'), 0.97),
    (Delimiter::Byte(0x01), 0.95),
    (Delimiter::Byte(0x1f), 0.95),
    (Delimiter::Byte(b'^'), 0.85),
    (Delimiter::Byte(b'~'), 0.85),
    (Delimiter::Blanks, 0.8),
    (Delimiter::Byte(b' '), 0.75),
    (Delimiter::Byte(b':'), 0.6),
    (Delimiter::Byte(b'#'), 0.6),
    (Delimiter::Byte(b'&'), 0.5),
    (Delimiter::Byte(b'*'), 0.5),
    (Delimiter::Byte(b'/'), 0.2),
    (Delimiter::Byte(b'_'), 0.2),
];

/// A dialect and how well it fits.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) dialect: Dialect,
    pub(super) score: f64,
    pub(super) shape: Shape,
    pub(super) quotes: Quotes,
    /// How many unquoted fields with a type have blanks around them, and how many there are.
    pub(super) typed: [usize; 2],
}

/// How many fields rows have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// Rows that are not empty.
    pub(super) rows: usize,
    /// Those of them that have the usual width.
    pub(super) usual: usize,
    /// The usual number of fields.
    pub(super) width: usize,
    /// Whether the first row has it.
    begins_usual: bool,
}

/// All candidates, the best first. There is at least one.
pub(super) fn rank(samples: &Samples<'_>, base: &Dialect, overrides: &DialectOverrides) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let base = Dialect { comment: base.comment.clone().or_else(|| samples.probable_comment()), ..base.clone() };
    for (delimiter, likelihood) in delimiters(samples, overrides) {
        for quote in quotes(samples, overrides) {
            for escape in escapes(samples, overrides) {
                let dialect = Dialect { delimiter, quote, escape, ..base.clone() };
                if dialect.check().is_ok() {
                    candidates.push(Candidate::new(samples, dialect, likelihood));
                }
            }
        }
    }
    if candidates.is_empty() {
        candidates.push(Candidate::new(samples, overrides.apply(base.clone()), 1.0));
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates
}

fn delimiters(samples: &Samples<'_>, overrides: &DialectOverrides) -> Vec<(Delimiter, f64)> {
    if let Some(delimiter) = overrides.delimiter {
        return vec![(delimiter, 1.0)];
    }
    let occurs = |delimiter: Delimiter| match delimiter {
        Delimiter::Byte(b',') => true,
        Delimiter::Byte(byte) => samples.contain(&[byte]),
        Delimiter::Blanks => [&b"  "[..], b" \t", b"\t ", b"\t\t"].iter().any(|blanks| samples.contain(blanks)),
    };
    DELIMITERS.iter().copied().filter(|(delimiter, _)| occurs(*delimiter)).collect()
}

fn quotes(samples: &Samples<'_>, overrides: &DialectOverrides) -> Vec<Option<u8>> {
    match overrides.quote {
        Some(quote) => vec![quote],
        None if samples.contain(b"'") => vec![Some(b'"'), Some(b'\'')],
        None => vec![Some(b'"')],
    }
}

fn escapes(samples: &Samples<'_>, overrides: &DialectOverrides) -> Vec<Option<u8>> {
    match overrides.escape {
        Some(escape) => vec![escape],
        None if samples.contain(b"\\") => vec![None, Some(b'\\')],
        None => vec![None],
    }
}

impl Candidate {
    fn new(samples: &Samples<'_>, dialect: Dialect, likelihood: f64) -> Self {
        let tables = samples.split(&dialect);
        let shape = Shape::of(&tables);
        let mut quotes = Quotes::default();
        for table in &tables {
            quotes += table.quotes;
        }
        let fields = Fields::of(&tables, shape.width);
        let score = shape.consistency()
            * fields.columns_score(dialect.delimiter, likelihood)
            * fields.wholeness
            * soundness(&dialect, &quotes, shape, &fields);
        Candidate { dialect, score, shape, quotes, typed: fields.typed }
    }
}

impl Shape {
    /// The shape of the rows of several samples.
    pub(super) fn of(tables: &[Rows<'_>]) -> Shape {
        let rows = tables.iter().flat_map(Rows::iter).filter(|row| !is_empty(row));
        let widths: Vec<usize> = rows.map(<[_]>::len).collect();
        let mut counts = BTreeMap::new();
        for width in &widths {
            *counts.entry(*width).or_insert(0_usize) += 1;
        }
        // Of equally usual widths the greater one: titles are narrow.
        let width = counts.iter().max_by_key(|(width, count)| (**count, **width)).map_or(1, |(width, _)| *width);
        let usual = counts.get(&width).copied().unwrap_or(0);
        Shape { rows: widths.len(), usual, width, begins_usual: widths.first() == Some(&width) }
    }

    /// The pattern score: from 0 to 1.
    fn consistency(self) -> f64 {
        let usual = self.usual as f64 / self.rows.max(1) as f64;
        usual * usual * if self.begins_usual { 1.0 } else { 0.8 }
    }
}

/// Whether a row has not a byte.
pub(super) fn is_empty(row: &[Cell<'_>]) -> bool {
    row.len() == 1 && row[0].is_empty() && !row[0].is_quoted
}

/// What the fields of the rows of the usual width are like.
struct Fields {
    /// How many columns have a field that is not empty.
    columns: usize,
    /// How far fields look like values and not like parts of them or several, from 0 to 1: the type score.
    wholeness: f64,
    /// Whether all are numbers, dates and the like, or null.
    are_typed: bool,
    /// Whether all that are not empty begin or end with a tab.
    are_beside_tabs: bool,
    /// Whether some begin with a double quote that is no quote by the dialect.
    begin_with_double_quote: bool,
    /// How many unquoted fields with a type have blanks around them, and how many there are.
    typed: [usize; 2],
}

impl Fields {
    fn of(tables: &[Rows<'_>], width: usize) -> Fields {
        let (mut sum, mut count, mut are_typed, mut begin_with_double_quote) = (0.0, 0_u32, true, false);
        let (mut typed, mut are_beside_tabs) = ([0; 2], true);
        let mut is_filled = vec![false; width];
        for row in tables.iter().flat_map(Rows::iter).filter(|row| row.len() == width && !is_empty(row)) {
            for (cell, is_filled) in row.iter().zip(&mut is_filled) {
                let kind = Kind::of(cell);
                sum += kind.weight();
                are_typed &= kind.is_typed() || kind == Kind::Null;
                if kind.is_typed() && !cell.is_quoted {
                    typed[0] += usize::from(cell.is_padded);
                    typed[1] += 1;
                }
                count += 1;
                *is_filled |= !cell.is_empty();
                are_beside_tabs &= cell.is_beside_tab || cell.is_empty();
                begin_with_double_quote |= !cell.is_quoted && cell.bytes.starts_with(b"\"");
            }
        }
        let columns = is_filled.iter().filter(|is_filled| **is_filled).count();
        let wholeness = sum / f64::from(count.max(1));
        Fields { columns, wholeness, are_typed, are_beside_tabs, begin_with_double_quote, typed }
    }

    /// How likely so many columns are by a delimiter of this likelihood. Few columns may come from a byte that is often in
    /// text; one column is what is left when nothing delimits.
    fn columns_score(&self, delimiter: Delimiter, likelihood: f64) -> f64 {
        let chance = if likelihood > 0.8 { 0.5 } else { 1.0 };
        match self.columns {
            // Tabs do not align what is one column: the one before or after it is always empty.
            1 if delimiter == DELIMITERS[0].0 && self.are_typed && self.are_beside_tabs => 0.2,
            0 | 1 if delimiter == DELIMITERS[0].0 => 0.6,
            // `;12`: what hardly ever stands beside a number delimits a column that is always empty.
            1 if self.are_typed && likelihood > 0.9 => 0.3,
            0 | 1 => 0.2,
            columns => likelihood * (1.0 - chance / columns as f64),
        }
    }
}

/// How well quotes and escapes are used, from 0 to a little over 1.
fn soundness(dialect: &Dialect, quotes: &Quotes, shape: Shape, fields: &Fields) -> f64 {
    let (sound, malformed) = (quotes.sound as f64, quotes.malformed as f64);
    let bad = if malformed > 0.0 { malformed / (sound + malformed) } else { 0.0 };
    // An apostrophe is a quote only where fields begin and end with it in a table of one shape.
    let is_text = quotes.sound == 0
        || quotes.sound < 5 * quotes.malformed
        || shape.usual * 10 < shape.rows * 9
        || fields.begin_with_double_quote;
    let likely = match dialect.quote {
        Some(b'\'') if is_text => 0.3,
        Some(b'\'') if quotes.sound + quotes.doubled == 1 => 0.85,
        _ if quotes.sound > 0 => 1.05,
        _ => 1.0,
    };
    // Where an escape changes nothing, there is none.
    let escape = if dialect.escape.is_some() && quotes.escaped == 0 { 0.9 } else { 1.0 };
    likely * escape * (1.0 - 0.5 * bad)
}
