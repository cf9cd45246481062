//! Rows of any columns, one after the other.

use super::pieces::Piece;
use super::row::{self, Value};
use super::scanner::{BATCH_ROWS, Delivery, first_line};
use brc_core::{Column, DataType, ScanError, Schema, Values};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

pub(super) struct GeneralRows {
    columns: Vec<Gathered>,
    rows: usize,
}

/// The rows of one column that were not delivered yet.
enum Gathered {
    Strings { interner: Interner, codes: Vec<u32> },
    Numbers(Vec<i64>),
}

impl Gathered {
    fn lend(&self) -> Column<'_> {
        match self {
            Self::Strings { interner, codes } => Column::Codes { codes, dictionary: interner.dictionary() },
            Self::Numbers(numbers) => Column::Values(Values::I64(numbers)),
        }
    }
}

impl GeneralRows {
    pub(super) fn new(schema: &Schema) -> Self {
        let gathered = |data_type| match data_type {
            DataType::Decimal { .. } => Gathered::Numbers(Vec::with_capacity(BATCH_ROWS)),
            _ => Gathered::Strings { interner: Interner::new(Level::best()), codes: Vec::with_capacity(BATCH_ROWS) },
        };
        let columns = schema.fields().iter().map(|field| gathered(field.data_type)).collect();
        Self { columns, rows: 0 }
    }

    pub(super) fn take(&mut self, piece: &Piece<'_>, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let mut text = piece.window.text();
        let mut byte = piece.byte;
        let mut values = Vec::with_capacity(self.columns.len());
        while !text.is_empty() {
            let (line, length) = first_line(text);
            match row::parse(line, delivery.schema, delivery.separator, &mut values) {
                Ok(()) => self.push(&values),
                Err(bad) => delivery.bad_row(line, byte, bad)?,
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

    fn push(&mut self, values: &[Value<'_>]) {
        for (column, value) in self.columns.iter_mut().zip(values) {
            match (column, value) {
                (Gathered::Strings { interner, codes }, Value::Text(text)) => codes.push(interner.intern(text)),
                (Gathered::Numbers(numbers), Value::Number(number)) => numbers.push(*number),
                _ => unreachable!("values are of their columns' types"),
            }
        }
        self.rows += 1;
    }

    fn deliver(&mut self, delivery: &mut Delivery<'_>) -> Result<(), ScanError> {
        let columns: Vec<_> = self.columns.iter().map(Gathered::lend).collect();
        let result = delivery.batch(self.rows, &columns);
        for column in &mut self.columns {
            match column {
                Gathered::Strings { codes, .. } => codes.clear(),
                Gathered::Numbers(numbers) => numbers.clear(),
            }
        }
        self.rows = 0;
        result
    }
}
