//! Writes the values of rows, in sequence.

use super::container::long;
use crate::columnar::factor;
use crate::rows::values::{bytes, float, integer};
use crate::rows::{RowBuffer, RowWriter, Short};
use brc_core::{Field, LogicalType, Schema, UnsupportedReason, Value, float32, uuid};

/// Writes the rows of a table.
pub(super) struct AvroRowWriter {
    fields: Vec<Field>,
}

/// The branches of a nullable value, in the order in which [`super::schema::write`] lists them.
const NULL: u8 = 0;
const VALUE: u8 = 2;

impl AvroRowWriter {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { fields: schema.fields().to_vec() }
    }
}

/// The shortest big-endian two's complement bytes of an integer, and their number.
pub(super) fn shortest(value: i128) -> ([u8; 16], usize) {
    let bytes = value.to_be_bytes();
    let spare = if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
    (bytes, ((spare - 1) / 8) as usize)
}

/// Whether integers are encoded as decimals.
fn is_decimal(logical_type: LogicalType) -> bool {
    matches!(logical_type, LogicalType::Decimal { .. } | LogicalType::UInt64)
}

impl RowWriter for AvroRowWriter {
    fn around(&self, _: usize) -> (Vec<u8>, Vec<u8>) {
        (Vec::new(), Vec::new())
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        let Some(value) = value else {
            out.push(&[NULL]);
            return Ok(());
        };
        let Field { logical_type, nullable, .. } = self.fields[column];
        if nullable {
            out.push(&[VALUE]);
        }
        let push_string = |string: &[u8], out: &mut RowBuffer| {
            let (bytes, length) = long(string.len() as i64);
            out.push(&bytes[..length]);
            out.push(string);
        };
        match logical_type {
            LogicalType::String if std::str::from_utf8(bytes(value)).is_err() => {
                return Err(UnsupportedReason::NotUtf8);
            }
            LogicalType::String | LogicalType::Binary => push_string(bytes(value), out),
            LogicalType::Uuid => push_string(&uuid::text(integer(value)), out),
            LogicalType::Float32 => out.push(&float32::nearest(float(value)).to_le_bytes()),
            LogicalType::Float64 => out.push(&float(value).to_le_bytes()),
            LogicalType::Bool => out.push(&[integer(value) as u8]),
            LogicalType::Decimal { .. } | LogicalType::UInt64 => {
                let (bytes, first) = shortest(integer(value));
                push_string(&bytes[first..], out);
            }
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. } => {
                let value = (integer(value) as i64).checked_mul(factor(logical_type));
                let (bytes, length) = long(value.ok_or(UnsupportedReason::OutOfRange)?);
                out.push(&bytes[..length]);
            }
        }
        Ok(())
    }

    fn number(&self, column: usize, number: i64) -> Short {
        let Field { logical_type, nullable, .. } = self.fields[column];
        let mut bytes = [0; 32];
        bytes[0] = VALUE;
        let at = usize::from(nullable);
        let end = if is_decimal(logical_type) {
            let (digits, first) = shortest(number.into());
            let length = digits.len() - first;
            bytes[at] = 2 * length as u8;
            bytes[at + 1..][..length].copy_from_slice(&digits[first..]);
            at + 1 + length
        } else {
            let (digits, length) = long(number);
            bytes[at..][..length].copy_from_slice(&digits[..length]);
            at + length
        };
        Short::new(&bytes[..end])
    }
}
