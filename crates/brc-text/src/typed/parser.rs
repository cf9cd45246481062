//! All columns of the rows of a text.

use super::changes::Changes;
use super::column::{BadValue, TypedColumn, null_fault};
use super::fields::Fields;
use super::nulls::NullTokens;
use crate::form::{Form, GivenForms};
use crate::infer::Seen;
use crate::rows::{EmptyLines, IrregularRow, Piece, Reason, RowOptions, RowScanner, Rows, Scanned};
use crate::sniff::fault_in_line;
use brc_core::{Column, LogicalType, RowFault, Value};
use brc_kernels::cpu::Level;
use brc_kernels::structure::Syntax;
use memchr::memchr_iter;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How many rows are gathered before they are delivered: as many as stay in a cache near the core.
const BATCH_ROWS: usize = 4096;
/// How many bytes of strings are gathered before they are delivered.
const BATCH_BYTES: usize = 4 << 20;

/// What becomes of rows with another number of columns than the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ragged {
    /// They are bad rows like any other.
    #[default]
    Error,
    /// Columns that are missing are null. A row with too many columns is a bad row.
    Pad,
    /// They are set aside, also where other bad rows are an error.
    Reject,
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Somebody said what it is: other values are bad.
    Fixed {
        /// The type.
        logical_type: LogicalType,
        /// Whether rows may be null.
        nullable: bool,
        /// How the values are written, if not in the usual form.
        form: Option<Form>,
    },
    /// The least type that holds all values.
    Inferred {
        /// What is known of the values so far.
        seen: Seen,
        /// Whether values must come back as they were written.
        exact: bool,
        /// The forms that are given.
        given: GivenForms,
    },
}

impl ColumnType {
    /// The type; that of a column without values is string.
    #[must_use]
    pub fn logical_type(&self) -> LogicalType {
        self.read_as().0
    }

    /// How the values are written, if not in the usual form.
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

    /// Whether rows may be null.
    #[must_use]
    pub fn nullable(&self) -> bool {
        match self {
            Self::Fixed { nullable, .. } => *nullable,
            Self::Inferred { .. } => true,
        }
    }
}

/// How the rows of a text are written, and what is no row.
#[derive(Debug, Clone)]
pub struct TextFormat {
    /// What means what.
    pub syntax: Syntax,
    /// Which unquoted fields are null.
    pub nulls: NullTokens,
    /// Whether words for missing values are null in columns whose inferred types have no such value.
    pub infer_nulls: bool,
    /// Whether blanks around fields are left out.
    pub trim: bool,
    /// What becomes of rows with another number of columns.
    pub ragged: Ragged,
    /// The longest row in bytes.
    pub max_row: usize,
}

impl TextFormat {
    fn scanner(&self, columns: usize) -> RowScanner {
        let empty_lines = if columns == 1 { EmptyLines::Row } else { EmptyLines::Skip };
        let options = RowOptions { max_row: self.max_row, empty_lines, ..RowOptions::new(columns) };
        RowScanner::new(Level::best(), self.syntax.clone(), options)
    }

    fn fields(&self) -> Fields<'_> {
        Fields::new(&self.syntax, &self.nulls, self.infer_nulls, self.trim)
    }
}

/// A row that is none of the table.
#[derive(Debug)]
pub struct BadRow<'a> {
    /// The row without its line end.
    pub text: &'a [u8],
    /// Where it starts in the piece, in bytes.
    pub at: usize,
    /// How many lines of the piece come before it.
    pub lines_before: u64,
    /// The column at fault, if one is.
    pub column: Option<usize>,
    /// What is wrong.
    pub fault: RowFault,
}

/// Takes what a [`TableParser`] makes of a text.
pub trait Output {
    /// Why it takes no more.
    type Error;

    /// Takes rows: the columns of the projection.
    ///
    /// # Errors
    /// Those of whoever takes them.
    fn batch(&mut self, rows: usize, columns: &[Column<'_>]) -> Result<(), Self::Error>;

    /// Whether bad rows are set aside; if not, the first one ends it all.
    fn keeps_bad_rows(&self) -> bool;

    /// Sets a bad row aside.
    fn keep(&mut self, bad: &BadRow<'_>);

    /// The error that a bad row is.
    fn refuse(&mut self, bad: BadRow<'_>) -> Self::Error;
}

/// Parses the rows of one table for one worker.
pub struct TableParser {
    format: TextFormat,
    scanner: RowScanner,
    gathered: Gathered,
}

struct Gathered {
    columns: Vec<TypedColumn>,
    /// Which columns are delivered, and which are parsed: those whose values may be bad, too.
    projection: Vec<usize>,
    parsed: Vec<usize>,
    rows: usize,
}

/// A bad row of a window.
struct Bad {
    /// Its place in the batch, if it is there.
    row: Option<usize>,
    bytes: Range<usize>,
    column: Option<usize>,
    fault: RowFault,
    is_ragged: bool,
}

impl TableParser {
    /// A parser of a table of these columns, of which it delivers those of the projection.
    #[must_use]
    pub fn new(format: TextFormat, columns: &[ColumnType], projection: &[usize]) -> Self {
        let is_parsed =
            |column: &usize| projection.contains(column) || matches!(columns[*column], ColumnType::Fixed { .. });
        let gathered = Gathered {
            columns: columns.iter().map(TypedColumn::new).collect(),
            projection: projection.to_vec(),
            parsed: (0..columns.len()).filter(is_parsed).collect(),
            rows: 0,
        };
        Self { scanner: format.scanner(columns.len()), format, gathered }
    }

    /// Begins a split whose columns have these types.
    pub fn start(&mut self, columns: &[ColumnType]) {
        self.gathered.rows = 0;
        for (column, kind) in self.gathered.columns.iter_mut().zip(columns) {
            column.set_type(kind);
        }
    }

    /// Parses a piece of text, and delivers its rows. Rows are not delivered from where a value does not fit an inferred
    /// type; what it demands is in [`TableParser::seen`] then.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn parse<O: Output>(&mut self, piece: Piece<'_>, output: &mut O) -> Result<Scanned, O::Error> {
        let Self { format, scanner, gathered } = self;
        let mut lines = Lines { line_end: format.syntax.line_end().byte(), at: 0, before: 0 };
        let scanned = scanner.scan(piece, |rows| gathered.take(rows, format, &mut lines, output))?;
        gathered.deliver(output)?;
        Ok(scanned)
    }

    /// What the values demand of each column whose type is inferred.
    #[must_use]
    pub fn seen(&self) -> Vec<Option<Seen>> {
        self.gathered.columns.iter().map(TypedColumn::seen).collect()
    }

    /// Whether some inferred type does not hold all values since the [start](TableParser::start).
    #[must_use]
    pub fn misfits(&self) -> bool {
        self.gathered.misfits()
    }

    /// How the values of each column changed since the start.
    pub fn changes(&self) -> impl Iterator<Item = &Changes> {
        self.gathered.columns.iter().map(TypedColumn::changes)
    }
}

impl Gathered {
    fn misfits(&self) -> bool {
        self.columns.iter().any(TypedColumn::misfits)
    }

    /// Takes the rows of a window.
    fn take<O: Output>(
        &mut self,
        rows: &Rows<'_>,
        format: &TextFormat,
        lines: &mut Lines,
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
                self.take_rows(rows, taken..taken + before, format, &mut bad);
                starts.extend_from_slice(&rows.starts()[taken..taken + before]);
                taken += before;
                self.take_padded(rows, row, format, &mut bad);
                starts.push(row.bytes.start as u32);
            } else if let Some(fault) = fault_of_reason(row.reason, self.columns.len(), format.max_row) {
                let fault = if has_line_end(row, rows.text(), &format.syntax) { fault } else { of_last_row(fault) };
                let is_ragged = matches!(row.reason, Reason::Columns { .. });
                bad.push(Bad { row: None, bytes: row.bytes.clone(), column: None, fault, is_ragged });
            }
        }
        self.take_rows(rows, taken..rows.len(), format, &mut bad);
        if !bad.is_empty() {
            starts.extend_from_slice(&rows.starts()[taken..]);
            self.take_bad(bad, first, &starts, rows.text(), format, lines, output)?;
        }
        if self.rows >= BATCH_ROWS || self.columns.iter().map(TypedColumn::string_bytes).sum::<usize>() > BATCH_BYTES {
            self.deliver(output)?;
        }
        Ok(())
    }

    fn take_rows(&mut self, rows: &Rows<'_>, range: Range<usize>, format: &TextFormat, bad: &mut Vec<Bad>) {
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

    /// Takes a row with too few columns.
    fn take_padded(&mut self, rows: &Rows<'_>, row: &IrregularRow, format: &TextFormat, bad: &mut Vec<Bad>) {
        let (mut values, expected) = (Vec::new(), self.columns.len());
        for &index in &self.parsed {
            let column = &mut self.columns[index];
            match rows.irregular_column(row, index) {
                Some(field) => column.take(field, format.fields(), &mut values),
                None if column.take_null() => {}
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

    /// Leaves out the bad rows of a window, or ends at the first one.
    #[allow(clippy::too_many_arguments)]
    fn take_bad<O: Output>(
        &mut self,
        mut bad: Vec<Bad>,
        first: usize,
        starts: &[u32],
        text: &[u8],
        format: &TextFormat,
        lines: &mut Lines,
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
            if output.keeps_bad_rows() || (is_ragged && format.ragged == Ragged::Reject) {
                removed.extend(row);
                output.keep(&bad);
                continue;
            }
            // What is wrong with the rows before comes first.
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
            let columns: Vec<Column<'_>> = self.projection.iter().map(|&index| self.columns[index].lend()).collect();
            output.batch(self.rows, &columns)
        } else {
            Ok(())
        };
        self.columns.iter_mut().for_each(TypedColumn::clear);
        self.rows = 0;
        result
    }
}

/// Counts the lines of a piece up to bad rows.
struct Lines {
    line_end: u8,
    at: usize,
    before: u64,
}

impl Lines {
    fn before(&mut self, text: &[u8], at: usize) -> u64 {
        self.before += memchr_iter(self.line_end, &text[self.at..at]).count() as u64;
        self.at = at;
        self.before
    }
}

fn without_line_end<'t>(row: &'t [u8], syntax: &Syntax) -> &'t [u8] {
    let Some(text) = row.strip_suffix(&[syntax.line_end().byte()]) else { return row };
    if syntax.line_end().byte() == b'\n' { text.strip_suffix(b"\r").unwrap_or(text) } else { text }
}

fn has_line_end(row: &IrregularRow, text: &[u8], syntax: &Syntax) -> bool {
    text[row.bytes.clone()].ends_with(&[syntax.line_end().byte()])
}

/// What is wrong with a row that nothing ends but the end of the text.
fn of_last_row(fault: RowFault) -> RowFault {
    match fault {
        RowFault::Columns { found, expected } if found < expected => RowFault::CutOff { found, expected },
        other => other,
    }
}

/// What is wrong with a row, in a text in which no comments are known.
fn in_line(fault: RowFault, column: Option<usize>, line: &[u8], syntax: &Syntax) -> RowFault {
    if syntax.comment().is_none() { fault_in_line(fault, column, line) } else { fault }
}

/// What is wrong with a row; `None` if it was not meant as one.
fn fault_of_reason(reason: Reason, expected: usize, max_row: usize) -> Option<RowFault> {
    match reason {
        Reason::Columns { found } => Some(RowFault::Columns { found, expected }),
        Reason::Malformed { .. } => Some(RowFault::TextAfterQuote),
        Reason::Unclosed => Some(RowFault::UnclosedQuote),
        Reason::TooLong => Some(RowFault::LineTooLong(max_row)),
        Reason::Comment | Reason::Empty => None,
    }
}

/// What is wrong with a row by itself, without its line end, and in which column.
#[must_use]
pub fn fault_of(row: &[u8], format: &TextFormat, columns: &[ColumnType]) -> Option<(Option<usize>, RowFault)> {
    let mut found = None;
    let take = |rows: &Rows<'_>| {
        let irregular =
            rows.irregular().first().and_then(|row| fault_of_reason(row.reason, columns.len(), format.max_row));
        found = irregular
            .map(|fault| (None, fault))
            .or_else(|| (!rows.is_empty()).then(|| fault_of_values(rows, format, columns)).flatten());
        // One row is enough.
        Err(())
    };
    let _ = format.scanner(columns.len()).scan(Piece { text: row, skip: false, last: true }, take);
    found.map(|(column, fault)| (column, in_line(fault, column, row, &format.syntax)))
}

fn fault_of_values(rows: &Rows<'_>, format: &TextFormat, columns: &[ColumnType]) -> Option<(Option<usize>, RowFault)> {
    columns.iter().enumerate().find_map(|(index, column)| {
        let ColumnType::Fixed { logical_type, nullable, form } = *column else { return None };
        let field = rows.field(0, index);
        let fault = match format.fields().value(field) {
            None => (!nullable).then(|| null_fault(field.bytes, logical_type)),
            Some(text) => {
                let parsed = match form {
                    Some(form) => form.parse(&text, logical_type),
                    None => Value::parse(&text, logical_type),
                };
                let is_null =
                    || format.infer_nulls && nullable && !Seen::of(&text).null_tokens(logical_type).is_empty();
                parsed.err().filter(|_| !is_null())
            }
        };
        fault.map(|fault| (Some(index), fault))
    })
}
