//! Rows one after the other: those of the usual form on a short way, all others by the general parser.

use super::Objects;
use super::plain::PlainRow;
use super::row::{self, Value};
use crate::text::{BATCH_ROWS, Delivery, Gathered, Piece, Rows, first_line};
use brc_core::{Field, ScanError, Schema};

pub(super) struct JsonRows {
    layout: Objects,
    plain: PlainRow,
    columns: Vec<JsonColumn>,
    rows: usize,
}

/// A column that fills up.
pub(super) struct JsonColumn {
    pub(super) gathered: Gathered,
    /// For each code, whether its string stands for itself between quotes.
    pub(super) literal: Vec<bool>,
    /// The decimals of a number.
    pub(super) scale: u8,
}

impl JsonColumn {
    /// All columns of a schema, of which some are kept.
    pub(super) fn all(schema: &Schema, projection: &[usize]) -> Vec<Self> {
        let column = |(column, field): (usize, &Field)| Self {
            gathered: Gathered::new(field, projection.contains(&column)),
            literal: Vec::new(),
            scale: field.logical_type.scale(),
        };
        schema.fields().iter().enumerate().map(column).collect()
    }

    /// Adds a string that is known to be valid.
    pub(super) fn push_string(&mut self, text: &str) {
        if let Gathered::Strings { interner, codes } = &mut self.gathered {
            let code = interner.intern(text.as_bytes());
            if code as usize == self.literal.len() {
                self.literal.push(is_literal(text.as_bytes()));
            }
            codes.push(code);
        }
    }

    pub(super) fn push_number(&mut self, number: i64) {
        if let Gathered::Numbers(numbers) = &mut self.gathered {
            numbers.push(number);
        }
    }
}

/// Whether these bytes between quotes are a string of JSON that stands for just them.
pub(super) fn is_literal(text: &[u8]) -> bool {
    let special = |&byte: &u8| byte < b' ' || byte == b'\\' || byte == b'"';
    !text.iter().any(special) && std::str::from_utf8(text).is_ok()
}

impl Rows for JsonRows {
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let whole = piece.window.text();
        let mut text = whole;
        let mut values = Vec::with_capacity(self.columns.len());
        while !text.is_empty() {
            let length = match self.plain.read(text, &mut self.columns, self.rows) {
                Some(length) => {
                    self.rows += 1;
                    length
                }
                None => {
                    let (line, length) = first_line(text);
                    match row::parse(line, delivery.schema, &mut values) {
                        Ok(()) => self.push(&values),
                        Err(bad) => {
                            let byte = piece.byte + (whole.len() - text.len()) as u64;
                            delivery.bad_row(line, byte, self.layout.doubted(bad))?;
                        }
                    }
                    length
                }
            };
            delivery.lines += 1;
            text = &text[length..];
            if self.rows == BATCH_ROWS {
                self.deliver(delivery)?;
            }
        }
        self.deliver(delivery)
    }

    fn deliver(&mut self, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let columns: Vec<_> = self.columns.iter().map(|column| column.gathered.lend()).collect();
        let result = delivery.batch(self.rows, &columns);
        for column in &mut self.columns {
            column.gathered.clear();
        }
        self.rows = 0;
        result
    }
}

impl JsonRows {
    pub(super) fn new(layout: Objects, schema: &Schema, projection: &[usize]) -> Self {
        Self { layout, plain: PlainRow::new(schema), columns: JsonColumn::all(schema, projection), rows: 0 }
    }

    fn push(&mut self, values: &[Option<Value<'_>>]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            match value {
                Some(Value::Text(text)) => column.push_string(text),
                Some(Value::Number(number)) => column.push_number(*number),
                None => {}
            }
        }
        self.rows += 1;
    }
}
