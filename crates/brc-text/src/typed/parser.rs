//! Parses all columns of the rows of a text.

use super::changes::Changes;
use super::column::TypedColumn;
use super::column_state::BadValue;
use super::fields::FieldRules;
use super::nulls::NullTokens;
use super::row_faults::{fault_of_reason, has_line_end, in_line, of_last_row, without_line_end};
use crate::form::{Form, GivenForms};
use crate::infer::Seen;
use crate::rows::{EmptyLines, IrregularRow, Piece, Reason, RowOptions, RowScanner, Rows, Scanned};
use brc_core::{Column, LogicalType, RowFault};
use brc_kernels::cpu::Level;
use brc_kernels::structure::Syntax;
use memchr::memchr_iter;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The number of rows of a batch: few enough to stay in a cache near the core.
const BATCH_ROWS: usize = 4096;
/// The number of bytes of strings at which a batch is delivered early.
const BATCH_BYTES: usize = 4 << 20;

/// The treatment of rows with a different number of columns than the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ragged {
    /// They are bad rows like any other.
    #[default]
    Error,
    /// Missing columns are null. A row with too many columns is a bad row.
    Pad,
    /// They are rejected, even if other bad rows are an error.
    Reject,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Set by the user: other values are bad.
    Fixed {
        /// The type.
        logical_type: LogicalType,
        /// Whether the column is nullable.
        nullable: bool,
        /// The form of the values, if not the usual one.
        form: Option<Form>,
    },
    /// The narrowest type that fits every value.
    Inferred {
        /// The requirements of the values so far.
        seen: Seen,
        /// Whether the text of the values must be reproduced exactly.
        exact: bool,
        /// The forms that the user sets.
        given: GivenForms,
    },
}

impl ColumnType {
    /// The type; string for a column without values.
    #[must_use]
    pub fn logical_type(&self) -> LogicalType {
        self.read_as().0
    }

    /// The form of the values, if not the usual one.
    #[must_use]
    pub fn form(&self) -> Option<Form> {
        self.read_as().1
    }

    /// The type and the form.
    #[must_use]
    pub fn read_as(&self) -> (LogicalType, Option<Form>) {
        match self {
            Self::Fixed { logical_type, form, .. } => (*logical_type, *form),
            Self::Inferred { seen, exact, given } => {
                let (logical_type, form) = seen.type_and_form(*exact, given);
                (logical_type.unwrap_or(LogicalType::String), form)
            }
        }
    }

    /// Whether some values are bad.
    fn may_have_bad_values(&self) -> bool {
        match self {
            Self::Fixed { logical_type, nullable, .. } => *logical_type != LogicalType::String || !nullable,
            Self::Inferred { .. } => false,
        }
    }

    /// Whether the column is nullable.
    #[must_use]
    pub fn nullable(&self) -> bool {
        match self {
            Self::Fixed { nullable, .. } => *nullable,
            Self::Inferred { .. } => true,
        }
    }
}

/// How a text is split into rows and fields.
#[derive(Debug, Clone)]
pub struct TextFormat {
    /// The syntax.
    pub syntax: Syntax,
    /// The unquoted fields that are null.
    pub nulls: NullTokens,
    /// Whether null tokens are recognised in columns of inferred type.
    pub infer_nulls: bool,
    /// Whether blanks around fields are stripped.
    pub trim: bool,
    /// The treatment of rows with a different number of columns.
    pub ragged: Ragged,
    /// The maximum length of a row in bytes.
    pub max_row: usize,
    /// Whether [`Changes`] tell of strings that are not UTF-8.
    pub should_be_utf8: bool,
    /// Whether values of set types are checked even if they are not read.
    pub checks_unread: bool,
    /// See [`RowOptions::names`].
    pub names: Option<Vec<u8>>,
    /// See [`RowOptions::header`].
    pub header: Option<Vec<u8>>,
}

impl TextFormat {
    pub(super) fn scanner(&self, columns: usize) -> RowScanner {
        let empty_lines = if columns == 1 { EmptyLines::Row } else { EmptyLines::Skip };
        let (names, header) = (self.names.clone(), self.header.clone());
        let options = RowOptions { max_row: self.max_row, empty_lines, names, header, ..RowOptions::new(columns) };
        RowScanner::new(Level::best(), self.syntax.clone(), options)
    }

    pub(super) fn fields(&self) -> FieldRules<'_> {
        FieldRules::new(&self.syntax, &self.nulls, self.infer_nulls, self.trim)
    }
}

/// A row that does not belong to the table.
#[derive(Debug)]
pub struct BadRow<'a> {
    /// The row, without its line end.
    pub text: &'a [u8],
    /// Its byte offset in the piece.
    pub at: usize,
    /// The number of lines before it in the piece.
    pub lines_before: u64,
    /// The column at fault, if any.
    pub column: Option<usize>,
    /// The fault.
    pub fault: RowFault,
}

/// Receives the output of a [`TableParser`].
pub trait Output {
    /// The error that ends parsing.
    type Error;

    /// Receives a batch of rows, with the columns of the projection.
    ///
    /// # Errors
    /// Those of the receiver.
    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), Self::Error>;

    /// Whether rows with this fault are rejected; if not, the first one ends parsing.
    fn keeps(&self, fault: &RowFault) -> bool;

    /// Rejects a bad row.
    fn keep(&mut self, bad: &BadRow<'_>);

    /// Turns a bad row into an error.
    fn refuse(&mut self, bad: BadRow<'_>) -> Self::Error;
}

/// A single-threaded parser of the rows of a table.
pub struct TableParser {
    format: TextFormat,
    scanner: RowScanner,
    builder: BatchBuilder,
}

struct BatchBuilder {
    columns: Vec<TypedColumn>,
    /// The columns that are delivered, and those that are parsed, which include columns whose values may be bad.
    projection: Vec<usize>,
    parsed: Vec<usize>,
    rows: usize,
}

/// A bad row in the current batch of [`Rows`].
struct Bad {
    /// Its index in the batch, if it was appended.
    row: Option<usize>,
    bytes: Range<usize>,
    column: Option<usize>,
    fault: RowFault,
    is_ragged: bool,
}

impl TableParser {
    /// Creates a parser of a table of these columns, which delivers those of the projection.
    #[must_use]
    pub fn new(format: TextFormat, columns: &[ColumnType], projection: &[usize]) -> Self {
        let is_parsed = |column: &usize| {
            projection.contains(column) || format.checks_unread && columns[*column].may_have_bad_values()
        };
        let builder = BatchBuilder {
            columns: columns.iter().map(|column| TypedColumn::new(column, format.should_be_utf8)).collect(),
            projection: projection.to_vec(),
            parsed: (0..columns.len()).filter(is_parsed).collect(),
            rows: 0,
        };
        Self { scanner: format.scanner(columns.len()), format, builder }
    }

    /// Starts a split, with these column types.
    pub fn start(&mut self, columns: &[ColumnType]) {
        self.builder.rows = 0;
        for (column, kind) in self.builder.columns.iter_mut().zip(columns) {
            column.set_type(kind);
        }
    }

    /// Parses a piece of text and delivers its rows. Rows are no longer delivered once a value does not fit an inferred
    /// type; [`TableParser::seen`] returns its requirements.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn parse<O: Output>(&mut self, piece: Piece<'_>, output: &mut O) -> Result<Scanned, O::Error> {
        let Self { format, scanner, builder } = self;
        let mut lines = LineCounter { line_end: format.syntax.line_end().byte(), at: 0, before: 0 };
        let scanned = scanner.scan(piece, |rows| builder.take(rows, format, &mut lines, output))?;
        builder.deliver(output)?;
        Ok(scanned)
    }

    /// What the values require of each column with an inferred type.
    #[must_use]
    pub fn seen(&self) -> Vec<Option<Seen>> {
        self.builder.columns.iter().map(TypedColumn::seen).collect()
    }

    /// Whether some value since the [start](TableParser::start) does not fit an inferred type.
    #[must_use]
    pub fn misfits(&self) -> bool {
        self.builder.misfits()
    }

    /// The changes of the values of each column since the start.
    pub fn changes(&self) -> impl Iterator<Item = &Changes> {
        self.builder.columns.iter().map(TypedColumn::changes)
    }
}

impl BatchBuilder {
    fn misfits(&self) -> bool {
        self.columns.iter().any(TypedColumn::misfits)
    }

    /// Appends a batch of rows from the scanner.
    fn take<O: Output>(
        &mut self,
        rows: &Rows<'_>,
        format: &TextFormat,
        lines: &mut LineCounter,
        output: &mut O,
    ) -> Result<(), O::Error> {
        let first = self.rows;
        let mut bad = Vec::new();
        let mut starts = Vec::new();
        let mut taken = 0;
        for row in rows.irregular() {
            if let Reason::Columns { found } = row.reason
                && format.ragged == Ragged::Pad
                && found < self.columns.len()
            {
                let before = rows.starts()[taken..].partition_point(|&start| (start as usize) < row.bytes.start);
                self.append_rows(rows, taken..taken + before, format, &mut bad);
                starts.extend_from_slice(&rows.starts()[taken..taken + before]);
                taken += before;
                self.append_padded(rows, row, format, &mut bad);
                starts.push(row.bytes.start as u32);
            } else if let Some(fault) = fault_of_reason(row.reason, self.columns.len(), format.max_row) {
                let fault = if has_line_end(row, rows.text(), &format.syntax) { fault } else { of_last_row(fault) };
                let is_ragged = matches!(row.reason, Reason::Columns { .. });
                bad.push(Bad { row: None, bytes: row.bytes.clone(), column: None, fault, is_ragged });
            }
        }
        self.append_rows(rows, taken..rows.len(), format, &mut bad);
        if !bad.is_empty() {
            starts.extend_from_slice(&rows.starts()[taken..]);
            self.remove_bad(bad, first, &starts, rows.text(), format, lines, output)?;
        }
        if self.rows >= BATCH_ROWS || self.columns.iter().map(TypedColumn::string_bytes).sum::<usize>() > BATCH_BYTES {
            self.deliver(output)?;
        }
        Ok(())
    }

    fn append_rows(&mut self, rows: &Rows<'_>, range: Range<usize>, format: &TextFormat, bad: &mut Vec<Bad>) {
        let mut values = Vec::new();
        for &index in &self.parsed {
            let fields = rows.column(index, range.clone());
            self.columns[index].take(fields, format.fields(), &mut values);
            for BadValue { row, fault } in values.drain(..) {
                let bytes = rows.bytes(range.start + row);
                bad.push(Bad { row: Some(self.rows + row), bytes, column: Some(index), fault, is_ragged: false });
            }
        }
        self.rows += range.len();
    }

    /// Appends a row with too few columns.
    fn append_padded(&mut self, rows: &Rows<'_>, row: &IrregularRow, format: &TextFormat, bad: &mut Vec<Bad>) {
        let (mut values, expected) = (Vec::new(), self.columns.len());
        for &index in &self.parsed {
            let column = &mut self.columns[index];
            match rows.irregular_column(row, index) {
                Some(field) => column.take(field, format.fields(), &mut values),
                None if column.append_null() => {}
                None => {
                    let fault = RowFault::Columns { found: rows.irregular_fields(row).count(), expected };
                    values.push(BadValue { row: 0, fault });
                }
            }
            for BadValue { fault, .. } in values.drain(..) {
                let bytes = row.bytes.clone();
                bad.push(Bad { row: Some(self.rows), bytes, column: Some(index), fault, is_ragged: true });
            }
        }
        self.rows += 1;
    }

    /// Removes the bad rows of a batch, or fails at the first one.
    #[allow(clippy::too_many_arguments)]
    fn remove_bad<O: Output>(
        &mut self,
        mut bad: Vec<Bad>,
        first: usize,
        starts: &[u32],
        text: &[u8],
        format: &TextFormat,
        lines: &mut LineCounter,
        output: &mut O,
    ) -> Result<(), O::Error> {
        bad.sort_by_key(|bad| (bad.bytes.start, bad.column));
        bad.dedup_by_key(|bad| bad.bytes.start);
        let mut removed = Vec::new();
        for Bad { row, bytes, column, fault, is_ragged } in bad {
            let lines_before = lines.before(text, bytes.start);
            let row_text = without_line_end(&text[bytes.clone()], &format.syntax);
            let fault = in_line(fault, column, row_text, &format.syntax);
            let bad = BadRow { text: row_text, at: bytes.start, lines_before, column, fault };
            if output.keeps(&bad.fault) || (is_ragged && format.ragged == Ragged::Reject) {
                removed.extend(row);
                output.keep(&bad);
                continue;
            }
            // Rows before the bad one are delivered first.
            let before = starts.partition_point(|&start| (start as usize) < bytes.start);
            removed.extend(first + before..self.rows);
            self.remove(&removed);
            self.deliver(output)?;
            return Err(output.refuse(bad));
        }
        self.remove(&removed);
        Ok(())
    }

    fn remove(&mut self, rows: &[usize]) {
        if rows.is_empty() {
            return;
        }
        for &index in &self.parsed {
            self.columns[index].remove(rows);
        }
        self.rows -= rows.len();
    }

    fn deliver<O: Output>(&mut self, output: &mut O) -> Result<(), O::Error> {
        let result = if self.rows > 0 && !self.misfits() {
            let columns: Vec<Column<'_>> =
                self.projection.iter().map(|&index| self.columns[index].as_column()).collect();
            output.batch(self.rows, &columns)
        } else {
            Ok(())
        };
        self.columns.iter_mut().for_each(TypedColumn::clear);
        self.rows = 0;
        result
    }
}

/// Counts the lines of a piece before bad rows.
struct LineCounter {
    line_end: u8,
    at: usize,
    before: u64,
}

impl LineCounter {
    fn before(&mut self, text: &[u8], at: usize) -> u64 {
        self.before += memchr_iter(self.line_end, &text[self.at..at]).count() as u64;
        self.at = at;
        self.before
    }
}
