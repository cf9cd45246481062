//! Decodes frames of consecutive rows.

use super::decoded_column::{DecodedColumn, DecodedValues, has_any_64_bits};
use super::{DecodeError, FrameDecoder, Malformed};
use crate::delivery::Delivery;
use crate::rows::values;
use crate::text::BATCH_ROWS;
use brc_core::decimal::{self, counted};
use brc_core::{Column, Field, LogicalType, PhysicalType, Schema, Value};
use std::ops::Range;
use std::sync::Arc;

/// How an encoding lays out the values of a row in sequence.
pub(crate) trait RowLayout: Send + Sync + 'static {
    /// Reads rows from bytes.
    type Reader<'a>: RowReader<'a>;

    /// A reader of the rows at the start of `bytes`.
    fn reader<'a>(&'a self, bytes: &'a [u8]) -> Self::Reader<'a>;
}

/// Takes values off the front of its bytes, row by row, and column by column in schema order.
pub(crate) trait RowReader<'a> {
    /// The number of bytes left.
    fn remaining(&self) -> usize;

    /// Begins a row of `columns` columns.
    fn begin_row(&mut self, columns: usize) -> Result<(), Fault>;

    /// Whether the next value, of a nullable column, is null; if so, takes it.
    fn null(&mut self, column: usize) -> Result<bool, Fault>;

    /// A text or binary string, borrowed from the bytes.
    fn text(&mut self, column: usize) -> Result<&'a [u8], Fault>;

    /// A number of a 64-bit integer column, or of a decimal column whose digits are sure to fit; in units of the
    /// column's scale.
    fn number(&mut self, column: usize, scale: u8) -> Result<i64, Fault>;

    /// A value of any type, which may be out of the type's bounds.
    fn value(&mut self, column: usize, logical_type: LogicalType) -> Result<Value<'a>, Fault>;

    /// Ends the row.
    fn end_row(&mut self) -> Result<(), Fault>;
}

/// Takes a string of `length` bytes off the front of `bytes`.
#[inline]
pub(crate) fn take_text<'a>(bytes: &mut &'a [u8], length: impl TryInto<usize>) -> Result<&'a [u8], Fault> {
    let length = length.try_into().unwrap_or(usize::MAX);
    let (text, rest) = bytes.split_at_checked(length).ok_or(Fault::CutOff)?;
    *bytes = rest;
    Ok(text)
}

/// Why the next value cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes end within it.
    CutOff,
    /// It is not a valid value.
    Malformed(String),
    /// It is valid, but not supported in this column.
    Unsupported(String),
}

impl Fault {
    #[cold]
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self::Malformed(reason.into())
    }

    #[cold]
    pub(crate) fn unsupported(reason: impl Into<String>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// The error for the row at offset `at` of `bytes`, after `rows` rows.
    #[cold]
    fn in_row<L: RowLayout>(self, layout: &L, bytes: &[u8], at: usize, rows: u64, schema: &Schema) -> Malformed {
        match self {
            Self::CutOff => Malformed::corrupt(at, rows, "the bytes end within a row".to_owned()),
            Self::Malformed(reason) => Malformed::corrupt(at, rows, reason),
            Self::Unsupported(reason) => {
                let column = invalid_column(layout, bytes.get(at..).unwrap_or_default(), schema.fields());
                Malformed { at, rows, column, is_sound: true, reason }
            }
        }
    }
}

/// The expected item in encodings whose rows are arrays.
pub(crate) const NOT_A_ROW: &str =
    "where a row should be; brc reads a sequence of rows, each an array of values in the order of the columns";

/// The context of a value that is not a string, in such encodings.
pub(crate) const NOT_A_STRING: &str = "in a column of strings; see --schema";

/// The context of a value that is not an integer, in such encodings.
pub(crate) const NOT_AN_INTEGER: &str = "in a column of numbers, which are integers, in units of the last decimal";

/// The error if one array holds all rows.
pub(crate) const ARRAY_AROUND: &str = "an array around all rows; brc reads a sequence of rows, one after the other";

/// The error that a row's array has a different length than there are columns.
#[cold]
pub(crate) fn wrong_length(length: u64, columns: usize) -> Fault {
    let (values, columns) = (counted(length, "value"), columns as u64);
    let (are, columns) = (if columns == 1 { "is" } else { "are" }, counted(columns, "column"));
    Fault::unsupported(format!("a row of {values}, but there {are} {columns}; see --schema"))
}

/// The context of a value that is not of the column's type.
pub(crate) fn not_of(logical_type: LogicalType) -> String {
    format!("in a column of type {logical_type}; see --schema")
}

/// The error that a value is not a UUID.
#[cold]
pub(crate) fn not_a_uuid() -> Fault {
    Fault::unsupported("a value that is no UUID, neither as 16 bytes nor as text; see --schema")
}

/// Decodes such frames.
pub(crate) struct RowDecoder<L> {
    schema: Schema,
    columns: Vec<DecodedColumn>,
    rows: usize,
    layout: Arc<L>,
}

impl<L: RowLayout> RowDecoder<L> {
    pub(crate) fn new(schema: &Schema, projection: &[usize], layout: L) -> Self {
        let taken = |(column, field)| DecodedColumn::new(field, projection.contains(&column));
        let columns = schema.fields().iter().enumerate().map(taken).collect();
        Self { schema: schema.clone(), columns, rows: 0, layout: Arc::new(layout) }
    }

    /// The end of the first row that ends at or after `least`; see [`super::Layout::row_end`].
    pub(crate) fn row_end(
        layout: &L,
        schema: &Schema,
        bytes: &[u8],
        least: usize,
    ) -> Result<Option<(usize, u64)>, Malformed> {
        let mut reader = layout.reader(bytes);
        let mut rows = 0;
        loop {
            let at = bytes.len() - reader.remaining();
            if at >= least && at > 0 {
                return Ok(Some((at, rows)));
            }
            match skip_row::<L>(&mut reader, schema.fields()) {
                Ok(()) => rows += 1,
                Err(Fault::CutOff) => return Ok(None),
                Err(fault) => return Err(fault.in_row(layout, bytes, at, rows, schema)),
            }
        }
    }

    /// Decodes one row.
    #[inline]
    fn row(&mut self, reader: &mut L::Reader<'_>, bytes: &[u8]) -> Result<(), Fault> {
        reader.begin_row(self.columns.len())?;
        for (index, column) in self.columns.iter_mut().enumerate() {
            if column.nullable && reader.null(index)? {
                column.push_null();
                continue;
            }
            match &mut column.values {
                DecodedValues::Strings { ranges, .. } => {
                    ranges.push(range_in(bytes, reader.text(index)?));
                }
                DecodedValues::Numbers { numbers, scale, .. } => numbers.push(reader.number(index, *scale)?),
                DecodedValues::Integers { integers, .. } => {
                    integers.push(values::integer_64(take_value::<L>(reader, index, column.logical_type)?));
                }
                DecodedValues::Wide { integers, .. } => {
                    integers.push(values::integer(take_value::<L>(reader, index, column.logical_type)?));
                }
                DecodedValues::Floats(floats) => {
                    floats.push(values::float(take_value::<L>(reader, index, column.logical_type)?));
                }
                DecodedValues::Skipped => skip_value::<L>(reader, index, column.logical_type)?,
            }
            if column.nullable {
                column.validity.push(true);
            }
        }
        reader.end_row()
    }

    fn deliver(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<(), DecodeError> {
        let columns: Vec<Column<'_>> = self.columns.iter_mut().map(|column| column.as_column(bytes)).collect();
        let outcome = delivery.batch(self.rows, &columns);
        self.forget();
        Ok(outcome?)
    }

    fn forget(&mut self) {
        self.columns.iter_mut().for_each(DecodedColumn::clear);
        self.rows = 0;
    }
}

/// The position of `part` in `bytes`.
#[inline]
fn range_in(bytes: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr().wrapping_sub(bytes.as_ptr().addr());
    // An empty slice may point anywhere.
    if part.is_empty() { 0..0 } else { start..start + part.len() }
}

/// Decodes a value, and checks the bounds of its type.
#[inline]
fn take_value<'a, L: RowLayout>(
    reader: &mut L::Reader<'a>,
    column: usize,
    logical_type: LogicalType,
) -> Result<Value<'a>, Fault> {
    let value = reader.value(column, logical_type)?;
    value.check(logical_type).map_err(|()| out_of_range(value, logical_type))
}

#[cold]
fn out_of_range(value: Value<'_>, logical_type: LogicalType) -> Fault {
    let shown = match value {
        Value::Integer(integer) => decimal::to_string(integer, logical_type.scale()),
        Value::Float(float) => {
            let shown = value.to_text(LogicalType::Float64);
            let is_inexact = float.abs() <= f32::MAX.into();
            let reason = if is_inexact { "is not exact as" } else { "is out of range for" };
            return Fault::unsupported(format!("{shown} {reason} {logical_type}"));
        }
        Value::Bytes(_) => value.to_text(logical_type),
    };
    Fault::unsupported(format!("{shown} is out of range for {logical_type}"))
}

fn skip_row<L: RowLayout>(reader: &mut L::Reader<'_>, fields: &[Field]) -> Result<(), Fault> {
    reader.begin_row(fields.len())?;
    for (index, field) in fields.iter().enumerate() {
        skip::<L>(reader, index, field)?;
    }
    reader.end_row()
}

fn skip<L: RowLayout>(reader: &mut L::Reader<'_>, column: usize, field: &Field) -> Result<(), Fault> {
    if field.nullable && reader.null(column)? {
        return Ok(());
    }
    skip_value::<L>(reader, column, field.logical_type)
}

/// Skips a value, with the same checks as for a projected column.
#[inline]
fn skip_value<L: RowLayout>(reader: &mut L::Reader<'_>, column: usize, logical_type: LogicalType) -> Result<(), Fault> {
    if logical_type.physical() == PhysicalType::Bytes {
        reader.text(column).map(drop)
    } else if has_any_64_bits(logical_type) {
        reader.number(column, logical_type.scale()).map(drop)
    } else {
        take_value::<L>(reader, column, logical_type).map(drop)
    }
}

/// The column of the first value that cannot be decoded in the row at the start of `row`, if any.
fn invalid_column<L: RowLayout>(layout: &L, row: &[u8], fields: &[Field]) -> Option<usize> {
    let mut reader = layout.reader(row);
    reader.begin_row(fields.len()).ok()?;
    (0..fields.len()).find(|&column| skip::<L>(&mut reader, column, &fields[column]).is_err())
}

impl<L: RowLayout> FrameDecoder for RowDecoder<L> {
    fn decode(&mut self, bytes: &[u8], delivery: &mut Delivery<'_>) -> Result<u64, DecodeError> {
        let layout = Arc::clone(&self.layout);
        let mut reader = layout.reader(bytes);
        let mut rows = 0;
        self.forget();
        while reader.remaining() > 0 {
            let at = bytes.len() - reader.remaining();
            self.row(&mut reader, bytes)
                .map_err(|fault| fault.in_row(layout.as_ref(), bytes, at, rows, &self.schema))?;
            rows += 1;
            self.rows += 1;
            if self.rows == BATCH_ROWS {
                self.deliver(bytes, delivery)?;
            }
        }
        self.deliver(bytes, delivery)?;
        Ok(rows)
    }
}
