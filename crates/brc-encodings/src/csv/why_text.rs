//! Why a column is text, for a question that needs numbers or dates.
//!
//! One value among thousands makes a column text. Whoever asks for its mean wants to know which value that is, and where.

use super::source::Source;
use super::split_text::SplitText;
use crate::chunks::ReadCost;
use brc_core::{Column, LogicalType, Result, TextReason, Value};
use brc_text::infer::{NullTokenSet, Seen};
use brc_text::rows::{Piece, Scanned};
use brc_text::typed::{BadRow, ColumnType, NullTokens, Output, TableParser, TextFormat};
use std::convert::Infallible;
use std::ops::Range;

/// A text that is read for one of its columns.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) range: &'a dyn Fn(u64) -> Range<u64>,
    pub(super) format: &'a TextFormat,
    /// The lines before the first row.
    pub(super) header_lines: u64,
    /// How many columns there are.
    pub(super) columns: usize,
}

impl Reader<'_> {
    /// The first value that has another type than most values of the column; `None` if most are text.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub(super) fn why_text(&self, column: usize) -> Result<Option<TextReason>> {
        let mut tally = Tally::default();
        let string = ColumnType::Fixed { logical_type: LogicalType::String, nullable: true };
        self.read(column, string, self.format.clone(), &mut tally, |_, _| true)?;
        let Some(most) = tally.most() else { return Ok(None) };
        let (expected, Some(value)) = (tally.classes[most].logical_type(), tally.first_besides(most)) else {
            return Ok(None);
        };
        let others = ColumnType::Fixed { logical_type: expected, nullable: true };
        let nulls = NullTokens::new([""].into_iter().chain(tally.nulls.iter()));
        let format = TextFormat { nulls, ..self.format.clone() };
        let mut first = FirstBad { column, lines: self.header_lines, line: None };
        self.read(column, others, format, &mut first, |first, lines| {
            first.lines += lines;
            first.line.is_none()
        })?;
        let (values, others) = (tally.values, tally.values - tally.classes[most].values);
        Ok(first.line.map(|line| TextReason { value, others, values, line, expected }))
    }

    /// Reads the column, split by split as long as `go_on`, which is told the lines of each, says so.
    fn read<O: Output<Error = Infallible>>(
        &self,
        column: usize,
        of_type: ColumnType,
        format: TextFormat,
        output: &mut O,
        mut go_on: impl FnMut(&mut O, u64) -> bool,
    ) -> Result<()> {
        let mut columns = vec![ColumnType::Inferred { seen: Seen::TEXT, exact: false }; self.columns];
        columns[column] = of_type;
        let mut parser = TableParser::new(format, &columns, &[column]);
        let (mut buffer, mut cost) = (SplitText::default(), ReadCost::default());
        for index in 0.. {
            let Some(place) = self.source.load(index, self.range, &mut buffer, &mut cost)? else { break };
            let text = if place.is_empty { &[][..] } else { buffer.as_slice() };
            parser.start(&columns);
            let Ok(Scanned { lines, .. }) = parser.parse(Piece { text, skip: place.skip, last: place.last }, output);
            if !go_on(output, lines) || place.last {
                break;
            }
        }
        Ok(())
    }
}

/// Numbers, dates, times, points in time, booleans, text.
const CLASSES: usize = 6;
const TEXT: usize = CLASSES - 1;

fn class_of(logical_type: LogicalType) -> usize {
    match logical_type {
        numeric if numeric.is_numeric() => 0,
        LogicalType::Date | LogicalType::Timestamp { zone: false, .. } => 1,
        LogicalType::Time { .. } => 2,
        LogicalType::Timestamp { zone: true, .. } => 3,
        LogicalType::Bool => 4,
        _ => TEXT,
    }
}

/// How many values are of each class.
#[derive(Default)]
struct Tally {
    classes: [Class; CLASSES],
    values: u64,
    nulls: NullTokenSet,
}

struct Class {
    values: u64,
    seen: Seen,
    /// The first value, and how many come before it.
    first: Option<(u64, Vec<u8>)>,
}

impl Default for Class {
    fn default() -> Self {
        Self { values: 0, seen: Seen::NOTHING, first: None }
    }
}

impl Class {
    fn logical_type(&self) -> LogicalType {
        self.seen.logical_type(false).unwrap_or(LogicalType::String)
    }
}

impl Tally {
    fn add(&mut self, value: &[u8]) {
        let seen = Seen::of(value);
        let nulls = seen.null_tokens(LogicalType::Bool);
        if !nulls.is_empty() {
            self.nulls = self.nulls.union(nulls);
            return;
        }
        let class = &mut self.classes[class_of(seen.logical_type(false).unwrap_or(LogicalType::String))];
        class.values += 1;
        class.seen = class.seen.join(seen);
        class.first.get_or_insert_with(|| (self.values, value.to_vec()));
        self.values += 1;
    }

    /// The class of at least half of the values, unless it is text.
    fn most(&self) -> Option<usize> {
        let most = (0..TEXT).max_by_key(|&class| self.classes[class].values)?;
        let is_typed = class_of(self.classes[most].logical_type()) == most;
        (is_typed && self.values > 0 && 2 * self.classes[most].values >= self.values).then_some(most)
    }

    /// The first value of another class.
    fn first_besides(&self, most: usize) -> Option<Vec<u8>> {
        let others = self.classes.iter().enumerate().filter(|(class, _)| *class != most);
        others.filter_map(|(_, class)| class.first.as_ref()).min().map(|(_, value)| value.clone())
    }
}

impl Output for Tally {
    type Error = Infallible;

    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), Infallible> {
        for column in columns {
            for row in 0..rows {
                if let Some(Value::Bytes(value)) = Value::of_row(column, row) {
                    self.add(value);
                }
            }
        }
        Ok(())
    }

    fn keeps_bad_rows(&self) -> bool {
        true
    }

    fn keep(&mut self, _: &BadRow<'_>) {}

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}

/// Finds the line of the first row with a bad value in a column.
struct FirstBad {
    column: usize,
    /// The lines before the text that is read.
    lines: u64,
    /// The line, from 1.
    line: Option<u64>,
}

impl Output for FirstBad {
    type Error = Infallible;

    fn batch(&mut self, _: usize, _: &[Column<'_>]) -> Result<(), Infallible> {
        Ok(())
    }

    fn keeps_bad_rows(&self) -> bool {
        true
    }

    fn keep(&mut self, bad: &BadRow<'_>) {
        if bad.column == Some(self.column) {
            self.line.get_or_insert(self.lines + bad.lines_before + 1);
        }
    }

    fn refuse(&mut self, _: BadRow<'_>) -> Infallible {
        unreachable!("bad rows are kept")
    }
}
