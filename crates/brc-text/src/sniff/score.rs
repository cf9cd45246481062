//! Ranks delimiters, quotes and escapes.
//!
//! Every dialect that the bytes of the samples permit is tried. A dialect is good if its rows have the same width (the
//! pattern score of van den Burg et al., "Wrangling Messy CSV Files by Detecting Row and Type Patterns") and its fields
//! are complete values: numbers, dates, words (their type score). The score is the product of both, of how consistently
//! quotes are used, and of the prior probability of the delimiter, which decides if there are few rows.

use super::commas;
use super::footer;
use super::header;
use super::kind::Kind;
use super::rows::{Cell, Quotes, SampleRows};
use super::samples::Samples;
use super::shape::{Shape, aligned_columns, is_empty};
use super::times;
use crate::dialect::{Delimiter, Dialect, DialectOverrides};

/// The candidate delimiters with their prior weights. The first of equal ones wins.
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

/// The delimiter of a column of numbers with decimal commas, which has none.
const LIST_DELIMITER: Delimiter = Delimiter::Byte(b';');

/// A dialect and its score.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) dialect: Dialect,
    pub(super) score: f64,
    pub(super) shape: Shape,
    pub(super) quotes: Quotes,
    /// The number of unquoted typed fields with blanks around them, and of all unquoted typed fields.
    pub(super) typed: [usize; 2],
    /// The same of other fields that are not empty.
    pub(super) texts: [usize; 2],
    /// To what extent fields look like complete values, from 0 to 1.
    pub(super) wholeness: f64,
    /// Whether all commas are decimal marks.
    has_decimal_commas: bool,
    /// Whether tabs seem to separate fields.
    has_tabs_between: bool,
    /// Whether the first row has names without blanks beside them.
    begins_with_names: bool,
}

/// All candidates, the best first; at least one.
pub(super) fn rank(samples: &Samples<'_>, base: &Dialect, overrides: &DialectOverrides) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let base = Dialect { comment: base.comment.clone().or_else(|| samples.probable_comment()), ..base.clone() };
    for (delimiter, prior) in delimiters(samples, overrides) {
        for quote in quotes(samples, overrides) {
            for (escape, brackets) in escapes_and_brackets(samples, delimiter, overrides) {
                let dialect = Dialect { delimiter, quote, escape, brackets, ..base.clone() };
                if dialect.check().is_ok() {
                    let candidate = Candidate::new(samples, dialect, prior);
                    if overrides.quote.is_none() && quote == Some(b'"') && candidate.may_have_quotes_as_text() {
                        let dialect = Dialect { quote: None, ..candidate.dialect.clone() };
                        candidates.push(Candidate::new(samples, dialect, prior));
                    }
                    candidates.push(candidate);
                }
            }
        }
    }
    if candidates.is_empty() {
        candidates.push(Candidate::new(samples, overrides.apply(base.clone()), 1.0));
    }
    penalise_decimal_commas(&mut candidates);
    penalise_less_even(&mut candidates);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates
}

/// Lowers the score of commas as delimiters if another one leaves them in numbers, and makes the fields more complete.
fn penalise_decimal_commas(candidates: &mut [Candidate]) {
    let others = candidates.iter().filter(|candidate| candidate.has_decimal_commas);
    let Some(wholeness) = others.map(|candidate| candidate.wholeness).max_by(f64::total_cmp) else { return };
    let is_comma = |candidate: &&mut Candidate| candidate.dialect.delimiter == Delimiter::Byte(b',');
    for candidate in candidates.iter_mut().filter(is_comma).filter(|candidate| candidate.wholeness < wholeness) {
        candidate.score /= 2.0;
    }
}

/// Lowers the score of delimiters that the first row lacks, or that leave tabs between what may be fields, if all rows have
/// the same number of another one that is unusual in text; a tab in the second case. Commas are usual in text, except
/// between the names of a header.
fn penalise_less_even(candidates: &mut [Candidate]) {
    let is_even = |candidate: &&Candidate, bytes: &[u8]| {
        let shape = candidate.shape;
        let is_one = matches!(candidate.dialect.delimiter, Delimiter::Byte(byte) if bytes.contains(&byte));
        is_one && shape.width > 1 && shape.rows > 2 && shape.usual == shape.rows
    };
    let has_even = |bytes: &[u8]| candidates.iter().any(|candidate| is_even(&candidate, bytes));
    let names_commas = |candidate: &Candidate| candidate.begins_with_names && is_even(&candidate, b",");
    let (some, tabs) = (has_even(b";\t|") || candidates.iter().any(names_commas), has_even(b"\t"));
    for other in candidates.iter_mut() {
        if some && other.shape.first > 0 || tabs && other.has_tabs_between {
            other.score /= 2.0;
        }
    }
}

fn delimiters(samples: &Samples<'_>, overrides: &DialectOverrides) -> Vec<(Delimiter, f64)> {
    if let Some(delimiter) = overrides.delimiter {
        return vec![(delimiter, 1.0)];
    }
    if overrides.header != Some(false) && commas::are_in_list(samples) {
        return vec![(LIST_DELIMITER, 1.0)];
    }
    let occurs = |delimiter: Delimiter| match delimiter {
        Delimiter::Byte(b',') => true,
        Delimiter::Byte(byte) => samples.contain(&[byte]),
        Delimiter::Blanks => [&b"  "[..], b" \t", b"\t ", b"\t\t"].iter().any(|blanks| samples.contain(blanks)),
    };
    let splits_times = times::splitting(samples);
    let may_be = |delimiter: Delimiter| occurs(delimiter) && !splits_times.contains(&delimiter);
    DELIMITERS.iter().copied().filter(|(delimiter, _)| may_be(*delimiter)).collect()
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

fn escapes_and_brackets(
    samples: &Samples<'_>,
    delimiter: Delimiter,
    overrides: &DialectOverrides,
) -> Vec<(Option<u8>, bool)> {
    let brackets = brackets(samples, delimiter, overrides);
    let with_brackets = |escape| brackets.iter().map(move |brackets| (escape, *brackets));
    escapes(samples, overrides).into_iter().flat_map(with_brackets).collect()
}

/// Brackets are recognised only if blanks delimit fields.
fn brackets(samples: &Samples<'_>, delimiter: Delimiter, overrides: &DialectOverrides) -> Vec<bool> {
    match (overrides.brackets, delimiter) {
        (Some(brackets), _) => vec![brackets],
        (None, Delimiter::Blanks | Delimiter::Byte(b' ')) if samples.contain(b"[") => vec![false, true],
        (None, _) => vec![false],
    }
}

impl Candidate {
    /// Whether quotes may be ordinary characters: hardly any is used soundly, or most rows have one that is not.
    fn may_have_quotes_as_text(&self) -> bool {
        self.quotes.are_text() || self.quotes.malformed > 2 && self.quotes.malformed * 2 >= self.shape.usual
    }

    fn new(samples: &Samples<'_>, dialect: Dialect, prior: f64) -> Self {
        let mut tables = samples.split(&dialect);
        samples.end().and_then(|end| footer::take_row_count(&mut tables[end]));
        if dialect.delimiter == Delimiter::Blanks
            && let Some(width) = aligned_columns(samples, &tables, 0)
        {
            tables.iter_mut().zip(samples.iter()).for_each(|(table, text)| table.take_rest(width, text));
        }
        let shape = Shape::of(&tables, 0);
        let mut quotes = Quotes::default();
        for table in &tables {
            quotes += table.quotes;
        }
        let fields = FieldStatistics::of(&tables, shape.width);
        let is_above_row_names = header::is_above_row_names(&tables, shape.width, dialect.delimiter);
        let consistency = if is_above_row_names { 1.0 } else { shape.consistency() };
        let score = consistency
            * fields.columns_score(dialect.delimiter, prior)
            * fields.wholeness
            * soundness(&dialect, &quotes, shape, &fields);
        let may_have_decimal_commas = prior > 0.6 && dialect.delimiter != Delimiter::Byte(b',');
        let has_decimal_commas = may_have_decimal_commas && commas::are_in_numbers(&tables, shape, fields.are_typed);
        Candidate {
            dialect,
            score,
            shape,
            quotes,
            typed: fields.typed,
            texts: fields.texts,
            wholeness: fields.wholeness,
            has_decimal_commas,
            has_tabs_between: fields.tabs_split_values || fields.have_tabs,
            begins_with_names: tables.iter().flat_map(SampleRows::iter).next().is_some_and(header::are_distinct_names),
        }
    }
}

/// Statistics of the fields in rows of the usual width.
struct FieldStatistics {
    /// The number of columns.
    width: usize,
    /// The number of columns with a field that is not empty.
    columns: usize,
    /// To what extent fields look like complete values rather than fragments or several at once, from 0 to 1: the type
    /// score.
    wholeness: f64,
    /// Whether all fields are typed or null.
    are_typed: bool,
    /// Whether all fields that are not empty start or end with a tab.
    are_beside_tabs: bool,
    /// Whether each row has a field with a tab in it, outside of quotes, and no number or time in a field without one.
    have_tabs: bool,
    /// Whether each row has a field of which a tab separates a number, a time or the like.
    tabs_split_values: bool,
    /// Whether some fields start with a double quote that is not a quote in the dialect.
    begin_with_double_quote: bool,
    /// The number of unquoted typed fields with blanks around them, and of all unquoted typed fields.
    typed: [usize; 2],
    /// The same of other fields that are not empty.
    texts: [usize; 2],
}

impl FieldStatistics {
    fn of(tables: &[SampleRows<'_>], width: usize) -> FieldStatistics {
        let (mut sum, mut count, mut are_typed, mut begin_with_double_quote) = (0.0, 0_u32, true, false);
        let (mut typed, mut texts) = ([0; 2], [0; 2]);
        let (mut are_beside_tabs, mut have_tabs, mut tabs_split_values) = (true, true, true);
        let mut is_filled = vec![false; width];
        for row in tables.iter().flat_map(SampleRows::iter).filter(|row| row.len() == width && !is_empty(row)) {
            let (mut has_tab, mut splits_value) = (false, false);
            for (cell, is_filled) in row.iter().zip(&mut is_filled) {
                let kind = Kind::of(cell);
                if !cell.is_quoted && cell.bytes.contains(&b'\t') {
                    let mut pieces = cell.bytes.split(|byte| *byte == b'\t');
                    splits_value |= pieces.any(|piece| Kind::of(&Cell::plain(piece)).is_typed());
                    has_tab = true;
                }
                have_tabs &= !kind.is_typed();
                sum += kind.weight();
                are_typed &= kind.is_typed() || kind == Kind::Null;
                if !cell.is_quoted && kind != Kind::Null {
                    let counts = if kind.is_typed() { &mut typed } else { &mut texts };
                    counts[0] += usize::from(cell.is_padded);
                    counts[1] += 1;
                }
                count += 1;
                *is_filled |= !cell.is_empty();
                are_beside_tabs &= cell.is_beside_tab || cell.is_empty();
                begin_with_double_quote |= !cell.is_quoted && cell.bytes.starts_with(b"\"");
            }
            have_tabs &= has_tab;
            tabs_split_values &= splits_value;
        }
        let columns = is_filled.iter().filter(|is_filled| **is_filled).count();
        let wholeness = sum / f64::from(count.max(1));
        have_tabs &= count > 0;
        tabs_split_values &= count > 0;
        FieldStatistics {
            width,
            columns,
            wholeness,
            are_typed,
            are_beside_tabs,
            have_tabs,
            tabs_split_values,
            begin_with_double_quote,
            typed,
            texts,
        }
    }

    /// The score of this number of columns with a delimiter of this prior weight. Few columns may come from a byte
    /// that is common in text; a single column is what remains if nothing delimits. Text hardly ever has tabs, so tabs
    /// in each row are the delimiters.
    fn columns_score(&self, delimiter: Delimiter, prior: f64) -> f64 {
        let prior = if self.have_tabs { prior / 2.0 } else { prior };
        let chance = if prior > 0.8 { 0.5 } else { 1.0 };
        match self.columns {
            // Tabs next to all fields are more likely delimiters of an empty column than alignment.
            1 if delimiter == DELIMITERS[0].0 && self.are_typed && self.are_beside_tabs => 0.2,
            0 | 1 if delimiter == DELIMITERS[0].0 => 0.6,
            // `;12`, `||08:59`: a character that is unusual next to a number delimits columns that are always empty.
            1 if self.are_typed && prior > 0.9 => {
                if self.width > 2 {
                    0.45
                } else {
                    0.3
                }
            }
            0 | 1 => 0.2,
            columns => prior * (1.0 - chance / columns as f64),
        }
    }
}

/// How consistently quotes and escapes are used, from 0 to a little over 1.
fn soundness(dialect: &Dialect, quotes: &Quotes, shape: Shape, fields: &FieldStatistics) -> f64 {
    let (sound, malformed) = (quotes.sound as f64, quotes.malformed as f64);
    let bad = if malformed > 0.0 { malformed / (sound + malformed) } else { 0.0 };
    // An apostrophe is a quote only if fields start and end with it, in a table of uniform width.
    let is_text = quotes.sound == 0
        || quotes.sound < 5 * quotes.malformed
        || shape.usual * 10 < shape.of_table * 9
        || fields.begin_with_double_quote;
    let likely = match dialect.quote {
        Some(b'\'') if is_text => 0.3,
        Some(b'\'') if quotes.sound + quotes.doubled == 1 => 0.85,
        _ if quotes.sound > 0 => 1.05,
        _ => 1.0,
    };
    // An escape that changes nothing is not one.
    let escape = if dialect.escape.is_some() && quotes.escaped == 0 { 0.9 } else { 1.0 };
    likely * escape * bracket_score(dialect, quotes, shape) * (1.0 - 0.5 * bad)
}

/// Brackets belong to fields if each row of the table has the same number of them with blanks inside.
fn bracket_score(dialect: &Dialect, quotes: &Quotes, shape: Shape) -> f64 {
    if !dialect.brackets {
        return 1.0;
    }
    let per_row = (quotes.bracketed as f64 / shape.usual.max(1) as f64).round();
    let expected = per_row * shape.usual as f64;
    let is_consistent = per_row > 0.0
        && (quotes.bracketed as f64 - expected).abs() <= expected / 10.0
        && quotes.unclosed * 10 <= quotes.bracketed;
    if is_consistent { 1.1 } else { 0.5 }
}
