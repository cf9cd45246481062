//! Reads rows in sequence: rows of a known shape on the fast path, all others with the general parser.

use super::column::JsonColumn;
use super::columns::{ColumnEvidence, Columns, Types};
use super::row::{Row, key_of};
use super::shape::Shapes;
use super::{syntax, value};
use crate::text::{BATCH_ROWS, BadRow, Piece, RowParser, TextDelivery, first_line};
use brc_core::{Error, RowFault, ScanError, Sink};
use brc_text::infer::Seen;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum values of a batch, if rows have very many.
const BATCH_VALUES: usize = 4 << 20;
/// The maximum bytes of text of a batch.
const BATCH_BYTES: usize = 4 << 20;

pub(super) struct JsonRows {
    all: Arc<Columns>,
    /// The columns as known for the current split.
    types: Arc<Types>,
    /// By number.
    columns: Vec<JsonColumn>,
    /// The projection, as positions in the schema.
    projection: Vec<usize>,
    /// What was learned about keys without a column.
    unknown: HashMap<String, ColumnEvidence>,
    shapes: Shapes,
    row: Row,
    /// The columns that are null in the current row.
    nulls: Vec<usize>,
    rows: usize,
}

impl RowParser for JsonRows {
    fn begin(&mut self, sink: &mut dyn Sink) -> Result<(), ScanError> {
        let types = self.all.types();
        if self.all.is_inferred() {
            sink.schema(&types.schema)?;
        }
        let is_new = !Arc::ptr_eq(&types, &self.types);
        self.set_types(types);
        // The first row of a late column may be in this split; only the general parser finds it.
        if is_new || self.columns.iter().any(|column| column.is_late) {
            self.shapes.clear();
        }
        self.rows = 0;
        self.unknown.clear();
        Ok(())
    }

    fn take(&mut self, piece: &Piece<'_>, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        let whole = piece.window.text();
        let most_rows = (BATCH_VALUES / self.columns.len().max(1)).clamp(1, BATCH_ROWS);
        let (mut at, mut delivered) = (0, 0);
        while at < whole.len() {
            match self.shapes.read(&whole[at..], &mut self.columns, self.rows) {
                Some(length) => {
                    self.rows += 1;
                    at += length;
                }
                None => {
                    let (line, length) = first_line(&whole[at..]);
                    self.line(line, at, piece, delivery)?;
                    at += length;
                }
            }
            delivery.lines += 1;
            if self.rows >= most_rows || at - delivered > BATCH_BYTES {
                self.deliver(delivery)?;
                delivered = at;
            }
        }
        self.deliver(delivery)
    }

    fn deliver(&mut self, delivery: &mut TextDelivery<'_>) -> Result<(), ScanError> {
        let result = if self.misfits() {
            Ok(())
        } else {
            let rows = self.rows;
            self.columns.iter_mut().for_each(|column| column.fill_validity(rows));
            let columns: Vec<_> = self.types.order.iter().map(|&number| self.columns[number].as_column()).collect();
            delivery.batch(self.rows, &columns)
        };
        self.columns.iter_mut().for_each(JsonColumn::clear);
        self.rows = 0;
        result
    }

    fn end(&mut self) -> Result<(), ScanError> {
        if !self.all.is_inferred() {
            return Ok(());
        }
        let learned: Vec<_> = self.columns.iter().map(JsonColumn::learned).collect();
        let unknown: Vec<_> = self.unknown.drain().collect();
        let misfits = self.misfits() || !unknown.is_empty();
        self.all.learn(&learned, unknown)?;
        if *self.all.types().schema != *self.types.schema {
            return Err(ScanError::Widened);
        }
        // A type that meets the demands fits the values: this avoids scanning them again forever.
        if misfits {
            let reason = "a value does not fit the type that was inferred for it; set a type with --schema".to_owned();
            return Err(Error::Usage(reason).into());
        }
        Ok(())
    }
}

impl JsonRows {
    pub(super) fn new(all: Arc<Columns>, projection: &[usize]) -> Self {
        let types = all.types();
        let mut rows = Self {
            columns: Vec::new(),
            projection: projection.to_vec(),
            types: Arc::clone(&types),
            all,
            unknown: HashMap::new(),
            shapes: Shapes::default(),
            row: Row::default(),
            nulls: Vec::new(),
            rows: 0,
        };
        rows.set_types(types);
        rows
    }

    /// Switches to columns of these types, without rows.
    fn set_types(&mut self, types: Arc<Types>) {
        let mut is_wanted = vec![false; types.columns.len()];
        for number in self.projection.iter().filter_map(|&index| types.order.get(index)) {
            is_wanted[*number] = true;
        }
        for (number, (kind, is_wanted)) in types.columns.iter().zip(is_wanted).enumerate() {
            match self.columns.get_mut(number) {
                Some(column) if column.is_wanted() == is_wanted => column.begin(*kind),
                Some(column) => *column = JsonColumn::new(*kind, is_wanted, self.all.is_late(number)),
                None => self.columns.push(JsonColumn::new(*kind, is_wanted, self.all.is_late(number))),
            }
        }
        self.types = types;
    }

    fn misfits(&self) -> bool {
        self.columns.iter().any(JsonColumn::misfits)
    }

    /// Reads the rows of a line, which begins at the byte `start` of a piece: none, one, or several.
    fn line(
        &mut self,
        line: &[u8],
        start: usize,
        piece: &Piece<'_>,
        delivery: &mut TextDelivery<'_>,
    ) -> Result<(), ScanError> {
        let mut at = syntax::skip_spaces(line, 0);
        if at == line.len() {
            delivery.blank_lines += u64::from(piece.newlines.is_none());
            return Ok(());
        }
        if let Some(bad) = syntax::not_utf8(line) {
            return bad_row(delivery, piece, start, line, bad);
        }
        // Whitespace around rows belongs to them, apart from bytes replaced by spaces before the first.
        let mut from = if piece.newlines.is_some() { at } else { 0 };
        let mut is_first = true;
        while at < line.len() {
            let read = self.row.read(line, (from, at), &self.types, self.all.is_inferred());
            let (end, pushed) = match read {
                Ok(end) => (syntax::skip_spaces(line, end), self.push(line, piece.byte + (start + at) as u64)),
                Err(bad) => (line.len(), Err(bad)),
            };
            match pushed {
                Ok(()) if is_first && end == line.len() => {
                    let Row { members, numbers, .. } = &self.row;
                    self.shapes.learn(line, members, numbers, &self.columns);
                }
                Ok(()) => {}
                Err(bad) => bad_row(delivery, piece, start + from, &line[from..end], bad)?,
            }
            (at, from, is_first) = (end, end, false);
        }
        Ok(())
    }

    /// Appends the current row, which begins at the given byte of the file.
    fn push(&mut self, line: &[u8], byte: u64) -> Result<(), BadRow> {
        let pushed = self.push_values(line, byte);
        if pushed.is_err() {
            let rows = self.rows;
            self.columns.iter_mut().for_each(|column| column.truncate(rows));
            return pushed;
        }
        for &number in &self.nulls {
            self.columns[number].note_null(self.rows);
        }
        self.rows += 1;
        Ok(())
    }

    fn push_values(&mut self, line: &[u8], byte: u64) -> Result<(), BadRow> {
        let Self { row, columns, types, nulls, unknown, .. } = self;
        nulls.clear();
        for (index, (member, &number)) in row.members.iter().zip(&row.numbers).enumerate() {
            match columns.get_mut(number) {
                Some(column) => {
                    column.push(line, member, byte, index).map_err(|fault| types.bad(number, fault))?;
                    if member.kind == syntax::ValueKind::Null {
                        nulls.push(number);
                    }
                }
                None => {
                    let key = key_of(line, &member.key).map_err(|fault| BadRow { column: None, fault })?;
                    let learned = unknown.entry(key.into_owned()).or_default();
                    learned.first.get_or_insert((byte, index as u32));
                    let seen = learned.seen.unwrap_or(Seen::NOTHING);
                    learned.seen = Some(seen.join(value::demand(line, member)));
                }
            }
        }
        for number in row.missing() {
            columns[number].push_null().ok_or_else(|| types.bad(number, RowFault::MissingColumn))?;
            nulls.push(number);
        }
        Ok(())
    }
}

/// Sets aside a malformed row that begins at a byte of a piece.
fn bad_row(
    delivery: &mut TextDelivery<'_>,
    piece: &Piece<'_>,
    at: usize,
    row: &[u8],
    bad: BadRow,
) -> Result<(), ScanError> {
    let byte = piece.byte + at as u64;
    match &piece.newlines {
        None => delivery.bad_row(row, byte, bad),
        Some(newlines) => {
            let lines = delivery.lines;
            delivery.lines = newlines.before(byte);
            let outcome = delivery.bad_row(&newlines.restore(row, byte), byte, bad);
            delivery.lines = lines;
            outcome
        }
    }
}
