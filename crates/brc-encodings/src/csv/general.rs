//! Rows of any columns, one after the other.

use super::Separated;
use super::row::Value;
use crate::text::{BATCH_ROWS, Delivery, Gathered, Piece, Rows, first_line};
use brc_core::{ScanError, Schema};

pub(super) struct GeneralRows {
    layout: Separated,
    columns: Vec<Gathered>,
    rows: usize,
}

impl Rows for GeneralRows {
    fn take(&mut self, piece: &Piece<'_>, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let mut text = piece.window.text();
        let mut byte = piece.byte;
        let mut values = Vec::with_capacity(self.columns.len());
        while !text.is_empty() {
            let (line, length) = first_line(text);
            match self.layout.parse(line, delivery.schema, &mut values) {
                Ok(()) => self.push(&values),
                Err(bad) => {
                    delivery.bad_row(line, byte, bad)?;
                }
            }
            delivery.lines += 1;
            text = &text[length..];
            byte += length as u64;
            if self.rows == BATCH_ROWS {
                self.deliver(delivery)?;
            }
        }
        self.deliver(delivery)
    }

    fn deliver(&mut self, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let columns: Vec<_> = self.columns.iter().map(Gathered::lend).collect();
        let result = delivery.batch(self.rows, &columns);
        for column in &mut self.columns {
            column.clear();
        }
        self.rows = 0;
        result
    }
}

impl GeneralRows {
    pub(super) fn new(schema: &Schema, projection: &[usize], layout: Separated) -> Self {
        let gathered = |(column, field)| Gathered::new(field, projection.contains(&column));
        Self { layout, columns: schema.fields().iter().enumerate().map(gathered).collect(), rows: 0 }
    }

    fn push(&mut self, values: &[Value<'_>]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            match (column, value) {
                (Gathered::Strings { interner, codes }, Value::Text(text)) => codes.push(interner.intern(text)),
                (Gathered::Numbers(numbers), Value::Number(number)) => numbers.push(*number),
                // Values are of their columns' types: this one was not asked for.
                _ => {}
            }
        }
        self.rows += 1;
    }
}
