//! Rows one after the other: those of the usual form on a short way, all others by the general parser.

use super::Objects;
use super::column::JsonColumn;
use super::plain::PlainRow;
use super::row::{self, Value};
use crate::text::{BATCH_ROWS, Delivery, Piece, Rows, first_line};
use brc_core::{ScanError, Schema};

pub(super) struct JsonRows {
    layout: Objects,
    /// The short way, if the columns have one.
    plain: Option<PlainRow>,
    columns: Vec<JsonColumn>,
    rows: usize,
}

impl Rows for JsonRows {
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let whole = piece.window.text();
        let mut text = whole;
        let mut values = Vec::with_capacity(self.columns.len());
        while !text.is_empty() {
            let length = match self.plain.as_mut().and_then(|plain| plain.read(text, &mut self.columns, self.rows)) {
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
        let columns: Vec<_> = self.columns.iter().map(JsonColumn::lend).collect();
        let result = delivery.batch(self.rows, &columns);
        self.columns.iter_mut().for_each(JsonColumn::clear);
        self.rows = 0;
        result
    }
}

impl JsonRows {
    pub(super) fn new(layout: Objects, schema: &Schema, projection: &[usize]) -> Self {
        let plain = PlainRow::has_columns_of(schema).then(|| PlainRow::new(schema));
        Self { layout, plain, columns: JsonColumn::all(schema, projection), rows: 0 }
    }

    fn push(&mut self, values: &[Option<Value<'_>>]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value.as_ref().unwrap_or(&Value::Null));
        }
        self.rows += 1;
    }
}
