//! Writes the buffers of one column of a record batch in the format's layout for its type.

use super::NAME;
use super::messages::{ColumnBuffers, padding};
use crate::columnar::part_rows::{PartColumn, PartStrings, PartValues};
use arrow_buffer::ToByteSlice;
use brc_core::{BitmapBuffer, Error, Integers, LogicalType, Result, TimeUnit, float32, for_integers, uuid};
use std::ops::Range;

/// Appends the buffers of a range of rows of a column.
///
/// # Errors
/// If a value is out of its type's range, or the strings exceed 2 GiB.
pub(super) fn lay_out(
    logical_type: LogicalType,
    column: &PartColumn,
    rows: Range<usize>,
    body: &mut Vec<u8>,
) -> Result<ColumnBuffers> {
    let mut layout = ColumnBuffers::default();
    let validity = column.validity.bitmap().map(|validity| validity.slice(rows.clone()));
    let validity = validity.filter(|validity| validity.count_nulls() > 0);
    layout.nulls = validity.map_or(0, |validity| validity.count_nulls());
    end_buffer(&mut layout, body, |body| {
        body.extend(validity.into_iter().flat_map(|validity| validity.words()).flat_map(bitmap_bytes));
        Ok(())
    })?;
    match &column.values {
        PartValues::Strings(strings) if logical_type == LogicalType::String => end_buffer(&mut layout, body, |body| {
            body.extend(strings.codes[rows].iter().flat_map(|code| code.to_le_bytes()));
            Ok(())
        })?,
        PartValues::Strings(strings) => binary(strings, rows, validity.is_some(), &mut layout, column, body)?,
        PartValues::Integers(numbers) => {
            let values = numbers.as_integers().slice(rows);
            end_buffer(&mut layout, body, |body| integers(logical_type, &values, body))?;
        }
        PartValues::Floats(values) => end_buffer(&mut layout, body, |body| {
            floats(logical_type, &values[rows], body);
            Ok(())
        })?,
    }
    Ok(layout)
}

/// Appends a buffer written by `write`, and padding.
fn end_buffer(
    layout: &mut ColumnBuffers,
    body: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<()>,
) -> Result<()> {
    let start = body.len();
    write(body)?;
    layout.buffers.push(start..body.len());
    body.resize(body.len() + padding(body.len()), 0);
    Ok(())
}

/// The bytes of up to 64 bits.
pub(super) fn bitmap_bytes((word, rows): (u64, usize)) -> impl Iterator<Item = u8> {
    word.to_le_bytes().into_iter().take(rows.div_ceil(8))
}

/// Byte strings without a dictionary: their offsets, and their bytes.
fn binary(
    strings: &PartStrings,
    rows: Range<usize>,
    has_nulls: bool,
    layout: &mut ColumnBuffers,
    column: &PartColumn,
    body: &mut Vec<u8>,
) -> Result<()> {
    let validity = column.validity.bitmap().filter(|_| has_nulls);
    let value = |row: usize| match validity {
        Some(validity) if !validity.get(row) => &[][..],
        _ => strings.dictionary().get(strings.codes[row]),
    };
    end_buffer(layout, body, |body| {
        let mut end = 0i32;
        body.extend_from_slice(&end.to_le_bytes());
        for row in rows.clone() {
            let length = i32::try_from(value(row).len()).ok();
            let next = length.and_then(|length| end.checked_add(length));
            end = next.ok_or_else(|| Error::too_large(NAME, "some thousand byte strings have 2 GiB together"))?;
            body.extend_from_slice(&end.to_le_bytes());
        }
        Ok(())
    })?;
    end_buffer(layout, body, |body| {
        rows.for_each(|row| body.extend_from_slice(value(row)));
        Ok(())
    })
}

/// Floats in the width of their type.
pub(super) fn floats(logical_type: LogicalType, values: &[f64], body: &mut Vec<u8>) {
    if logical_type == LogicalType::Float32 {
        body.extend(values.iter().flat_map(|&value| float32::nearest(value).to_le_bytes()));
    } else {
        body.extend_from_slice(values.to_byte_slice());
    }
}

/// Integers in the width of their type in the format.
pub(super) fn integers(logical_type: LogicalType, values: &Integers<'_>, body: &mut Vec<u8>) -> Result<()> {
    match logical_type {
        LogicalType::Bool => {
            let mut bits = BitmapBuffer::default();
            for_integers!(values, values => values.iter().for_each(|&value| bits.push(value != 0)));
            match bits.bitmap() {
                Some(bitmap) => body.extend(bitmap.words().flat_map(bitmap_bytes)),
                // Without a bitmap, all rows are valid.
                None => {
                    let whole = vec![0xff; values.len() / 8];
                    body.extend_from_slice(&whole);
                    if !values.len().is_multiple_of(8) {
                        body.push((1 << (values.len() % 8)) - 1);
                    }
                }
            }
            Ok(())
        }
        LogicalType::Int8 => narrowed(values, i8::to_le_bytes, body),
        LogicalType::Int16 => narrowed(values, i16::to_le_bytes, body),
        LogicalType::Int32
        | LogicalType::Date
        | LogicalType::Time { unit: TimeUnit::Second | TimeUnit::Millisecond } => {
            narrowed(values, i32::to_le_bytes, body)
        }
        LogicalType::Int64
        | LogicalType::Time { unit: TimeUnit::Microsecond | TimeUnit::Nanosecond }
        | LogicalType::Timestamp { .. } => narrowed(values, i64::to_le_bytes, body),
        LogicalType::UInt64 => narrowed(values, u64::to_le_bytes, body),
        LogicalType::Decimal { .. } => narrowed(values, i128::to_le_bytes, body),
        LogicalType::Uuid => {
            body.extend((0..values.len()).flat_map(|row| uuid::to_bytes(values.get(row))));
            Ok(())
        }
        LogicalType::Float32 | LogicalType::Float64 | LogicalType::String | LogicalType::Binary => {
            Err(crate::rows::foreign())
        }
    }
}

/// Appends values in a different width.
fn narrowed<T, const BYTES: usize>(
    values: &Integers<'_>,
    bytes: impl Fn(T) -> [u8; BYTES],
    body: &mut Vec<u8>,
) -> Result<()>
where
    T: TryFrom<i8> + TryFrom<i16> + TryFrom<i32> + TryFrom<i64> + TryFrom<i128>,
{
    let start = body.len();
    body.resize(start + values.len() * BYTES, 0);
    let slots = body[start..].as_chunks_mut::<BYTES>().0;
    let mut fits = true;
    for_integers!(values, values => {
        // A loop without an early exit is vectorised.
        for (slot, &value) in slots.iter_mut().zip(*values) {
            match T::try_from(value) {
                Ok(value) => *slot = bytes(value),
                Err(_) => fits = false,
            }
        }
    });
    if fits { Ok(()) } else { Err(crate::rows::foreign()) }
}
