//! A column of rows of JSON that fills up.

use super::row::Value;
use crate::frames::has_any_64_bits;
use crate::text::BATCH_ROWS;
use brc_core::{BitmapBuffer, Column, Data, Field, Integers, LogicalType, PhysicalType, Schema};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

/// The rows of a column that were read but not delivered yet.
pub(super) struct JsonColumn {
    pub(super) values: Values,
    /// Whether its values are strings that may mean text.
    is_text: bool,
    nullable: bool,
    validity: BitmapBuffer,
    /// The decimals of a number, and the numbers that the column may have.
    pub(super) scale: u8,
    pub(super) range: (i64, i64),
}

/// Its values; rows that are null have any.
pub(super) enum Values {
    Strings {
        interner: Box<Interner>,
        codes: Vec<u32>,
        /// For each code, whether its string stands for itself between quotes.
        literal: Vec<bool>,
    },
    /// Whatever fits 64 bits.
    Integers(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    /// Values nobody asked for: checked, not kept.
    Skipped,
}

impl JsonColumn {
    /// All columns of a schema, of which some are kept.
    pub(super) fn all(schema: &Schema, projection: &[usize]) -> Vec<Self> {
        let column = |(column, field): (usize, &Field)| Self::new(field, projection.contains(&column));
        schema.fields().iter().enumerate().map(column).collect()
    }

    fn new(field: &Field, wanted: bool) -> Self {
        let logical_type = field.logical_type;
        let values = match logical_type.physical() {
            _ if !wanted => Values::Skipped,
            PhysicalType::Integers if logical_type.fits_64_bits() => Values::Integers(Vec::with_capacity(BATCH_ROWS)),
            PhysicalType::Integers => Values::Wide(Vec::new()),
            PhysicalType::Floats => Values::Floats(Vec::new()),
            PhysicalType::Bytes => Values::Strings {
                interner: Box::new(Interner::new(Level::best())),
                codes: Vec::with_capacity(BATCH_ROWS),
                literal: Vec::new(),
            },
        };
        Self {
            values,
            is_text: logical_type == LogicalType::String,
            nullable: field.nullable,
            validity: BitmapBuffer::default(),
            scale: logical_type.scale(),
            range: range(logical_type),
        }
    }

    /// Adds the value of a row.
    pub(super) fn push(&mut self, value: &Value<'_>) {
        match (&mut self.values, value) {
            (Values::Strings { codes, .. }, Value::Null) => codes.push(codes.last().copied().unwrap_or(0)),
            (Values::Strings { .. }, Value::Text(text)) => self.push_bytes(text.as_bytes()),
            (Values::Strings { .. }, Value::Binary(bytes)) => self.push_bytes(bytes),
            (Values::Integers(integers), Value::Integer(integer)) => integers.push(*integer as i64),
            (Values::Integers(integers), _) => integers.push(0),
            (Values::Wide(integers), Value::Integer(integer)) => integers.push(*integer),
            (Values::Wide(integers), _) => integers.push(0),
            (Values::Floats(floats), Value::Float(float)) => floats.push(*float),
            (Values::Floats(floats), _) => floats.push(0.0),
            (Values::Strings { .. }, Value::Integer(_) | Value::Float(_)) | (Values::Skipped, _) => {}
        }
        self.push_validity(*value != Value::Null);
    }

    /// Notes whether the last row has a value.
    #[inline]
    pub(super) fn push_validity(&mut self, is_valid: bool) {
        if self.nullable {
            self.validity.push(is_valid);
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        if let Values::Strings { interner, codes, literal } = &mut self.values {
            let code = interner.intern(bytes);
            if code as usize == literal.len() {
                literal.push(self.is_text && is_literal(bytes));
            }
            codes.push(code);
        }
    }

    /// Adds a number, apart from its validity.
    #[inline]
    pub(super) fn push_number(&mut self, number: i64) {
        if let Values::Integers(integers) = &mut self.values {
            integers.push(number);
        }
    }

    /// The rows so far; none of a column that is skipped.
    pub(super) fn lend(&self) -> Column<'_> {
        let data = match &self.values {
            Values::Strings { interner, codes, .. } => Data::Codes { codes, dictionary: interner.dictionary() },
            Values::Integers(integers) => Data::Integers(Integers::I64(integers)),
            Values::Wide(integers) => Data::Integers(Integers::I128(integers)),
            Values::Floats(floats) => Data::Floats(floats),
            Values::Skipped => return Column::integers(Integers::I64(&[])),
        };
        Column { data, validity: self.validity.bitmap() }
    }

    /// Forgets all rows; codes keep their meaning.
    pub(super) fn clear(&mut self) {
        self.truncate(0);
        self.validity.clear();
    }

    /// Forgets the values of all but the first `rows` rows, of which the validity is known and of no others.
    pub(super) fn truncate(&mut self, rows: usize) {
        match &mut self.values {
            Values::Strings { codes, .. } => codes.truncate(rows),
            Values::Integers(integers) => integers.truncate(rows),
            Values::Wide(integers) => integers.truncate(rows),
            Values::Floats(floats) => floats.truncate(rows),
            Values::Skipped => {}
        }
    }
}

/// The integers of 64 bits that a column may have.
fn range(logical_type: LogicalType) -> (i64, i64) {
    let narrow = |bound: i128| bound.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    match logical_type.bounds() {
        Some((min, max)) if !has_any_64_bits(logical_type) => (narrow(min), narrow(max)),
        _ => (i64::MIN, i64::MAX),
    }
}

/// Whether these bytes between quotes are a string of JSON that stands for just them.
pub(super) fn is_literal(text: &[u8]) -> bool {
    let special = |&byte: &u8| byte < b' ' || byte == b'\\' || byte == b'"';
    !text.iter().any(special) && std::str::from_utf8(text).is_ok()
}
