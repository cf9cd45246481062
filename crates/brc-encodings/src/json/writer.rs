//! Writes rows as JSON: the keys in column order, without whitespace.
//!
//! Numbers have all decimals of their columns. Floats are the shortest text that parses to the same value, or the
//! strings `NaN`, `Infinity` and `-Infinity`, which are not JSON numbers. Dates, times and UUIDs are strings in their
//! text form; binary data are strings of hexadecimal digits. Nulls are written, so that every row names every column.

use super::hex;
use crate::rows::values::{self, float};
use crate::rows::{RowBuffer, RowWriter, Short, written};
use brc_core::{LogicalType, Schema, UnsupportedReason, Value, decimal};

/// Writes a row as an object on a line.
#[derive(Clone)]
pub(super) struct Lines {
    schema: Schema,
}

impl Lines {
    pub(super) fn new(schema: &Schema) -> Self {
        Self { schema: schema.clone() }
    }
}

impl RowWriter for Lines {
    fn around(&self, column: usize) -> (Vec<u8>, Vec<u8>) {
        let fields = self.schema.fields();
        let key = |column: usize| fields.get(column).map(|field| format!("{}:", serde_json::Value::from(&*field.name)));
        // The key of the next column follows each value.
        let first = if column == 0 { key(0).map(|key| format!("{{{key}")) } else { None };
        let next = key(column + 1).map_or("}\n".to_owned(), |key| format!(",{key}"));
        (first.unwrap_or_default().into_bytes(), next.into_bytes())
    }

    fn value(&self, column: usize, value: Option<Value<'_>>, out: &mut RowBuffer) -> Result<(), UnsupportedReason> {
        let Some(value) = value else {
            out.push(b"null");
            return Ok(());
        };
        let logical_type = self.schema.fields()[column].logical_type;
        let text = || {
            let mut text = Vec::new();
            value.write(logical_type, &mut text);
            text
        };
        match logical_type {
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. } => out.push(&text()),
            LogicalType::Float32 | LogicalType::Float64 if float(value).is_finite() => out.push(&text()),
            LogicalType::Float32 | LogicalType::Float64 => out.push(not_finite(float(value)).as_bytes()),
            LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } | LogicalType::Uuid => {
                out.push(b"\"");
                out.push(&text());
                out.push(b"\"");
            }
            LogicalType::String => {
                let text = std::str::from_utf8(values::bytes(value)).map_err(|_| UnsupportedReason::NotUtf8)?;
                written(serde_json::to_writer(out, text));
            }
            LogicalType::Binary => {
                out.push(b"\"");
                hex::write(values::bytes(value), out);
                out.push(b"\"");
            }
        }
        Ok(())
    }

    fn number(&self, column: usize, number: i64) -> Short {
        let scale = self.schema.fields().get(column).map_or(0, |field| field.logical_type.scale());
        Short::new(decimal::write(number.into(), scale, &mut [0; 64]))
    }
}

/// The JSON string of a float that is infinite or NaN.
#[must_use]
pub fn not_finite(value: f64) -> &'static str {
    if value.is_nan() {
        "\"NaN\""
    } else if value > 0.0 {
        "\"Infinity\""
    } else {
        "\"-Infinity\""
    }
}
