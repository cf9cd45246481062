//! The encoded values of a column: looked up where possible, otherwise encoded one by one.

use super::buffer::RowBuffer;
use super::encoded_numbers::EncodedNumbers;
use super::encoded_strings::EncodedStrings;
use super::encoded_values::EncodedValues;
use super::short::Short;
use super::{RowWriter, foreign, values};
use brc_core::{Bitmap, Column, Data, Field, Integers, PhysicalType, Result, UnsupportedReason, Value, batch};
use std::ops::Range;

/// The encoded values of a column that are known so far.
pub(super) struct ColumnEncodings {
    nullable: bool,
    physical: PhysicalType,
    before: Vec<u8>,
    after: Vec<u8>,
    /// An encoded null, with the bytes around it.
    null: Vec<u8>,
    lookup: Lookup,
    /// The values that are not looked up.
    encoded: EncodedValues,
}

/// Where the values of a column are looked up.
enum Lookup {
    Strings {
        strings: EncodedStrings,
        /// The codes of a batch that came in runs.
        unrolled: Vec<u32>,
    },
    Numbers(EncodedNumbers),
    Nowhere,
}

/// The encoded values of some rows of a column.
#[derive(Clone, Copy)]
pub(super) enum EncodedRows<'a> {
    Strings(&'a [u32], &'a EncodedStrings),
    I8(&'a [i8], &'a EncodedNumbers),
    I16(&'a [i16], &'a EncodedNumbers),
    I32(&'a [i32], &'a EncodedNumbers),
    I64(&'a [i64], &'a EncodedNumbers),
    Encoded(&'a EncodedValues),
}

impl ColumnEncodings {
    /// Those of a column, of that many.
    pub(super) fn new(index: usize, columns: usize, field: &Field, writer: &impl RowWriter) -> Self {
        let (before, after) = writer.around(index);
        let mut null = RowBuffer::default();
        null.push(&before);
        // Only nullable columns have an encoded null; an encoding without nulls never writes it.
        let holds_null = field.nullable && writer.value(index, None, &mut null).is_ok();
        null.push(&after);
        let physical = field.logical_type.physical();
        let lookup = match physical {
            PhysicalType::Integers if values::is_short_number(field.logical_type) => {
                Lookup::Numbers(EncodedNumbers::new(&before, &after, columns, |number| writer.number(index, number)))
            }
            PhysicalType::Integers | PhysicalType::Floats => Lookup::Nowhere,
            PhysicalType::Bytes => Lookup::Strings { strings: EncodedStrings::default(), unrolled: Vec::new() },
        };
        Self {
            nullable: holds_null,
            physical,
            before,
            after,
            null: null.take(),
            lookup,
            encoded: EncodedValues::default(),
        }
    }

    /// The encoded values of some rows of a column.
    pub(super) fn source<'a>(
        &'a mut self,
        index: usize,
        writer: &impl RowWriter,
        column: &Column<'a>,
        rows: Range<usize>,
    ) -> Result<EncodedRows<'a>> {
        let validity = column.validity.map(|validity| validity.slice(rows.clone()));
        let validity = validity.filter(|validity| validity.count_nulls() > 0);
        let physical = match column.data {
            Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_) => PhysicalType::Bytes,
            Data::Integers(_) => PhysicalType::Integers,
            Data::Floats(_) => PhysicalType::Floats,
        };
        if physical != self.physical || (validity.is_some() && !self.nullable) {
            return Err(foreign());
        }
        let Self { before, after, null, lookup, encoded, .. } = self;
        if let (Lookup::Strings { strings, unrolled }, Some(dictionary)) = (&mut *lookup, column.dictionary()) {
            strings.learn(dictionary, |text, out| {
                out.push(before);
                writer.value(index, Some(Value::Bytes(text)), out)?;
                out.push(after);
                Ok(())
            });
            if let Data::Runs { .. } = column.data {
                unrolled.clear();
                batch::codes_of_rows(column, rows.clone(), unrolled);
            }
        }
        let encode = |value: Value<'_>, out: &mut RowBuffer| {
            out.push(before);
            writer.value(index, Some(value), out)?;
            out.push(after);
            Ok(())
        };
        Ok(match (&*lookup, column.data) {
            (Lookup::Strings { strings, .. }, Data::Codes { codes, .. }) => {
                looked_up(strings, &codes[rows], validity, null, encoded)
            }
            (Lookup::Strings { strings, unrolled }, Data::Runs { .. }) => {
                looked_up(strings, unrolled, validity, null, encoded)
            }
            (Lookup::Numbers(numbers), Data::Integers(Integers::I8(values))) if validity.is_none() => {
                EncodedRows::I8(&values[rows], numbers)
            }
            (Lookup::Numbers(numbers), Data::Integers(Integers::I16(values))) if validity.is_none() => {
                EncodedRows::I16(&values[rows], numbers)
            }
            (Lookup::Numbers(numbers), Data::Integers(Integers::I32(values))) if validity.is_none() => {
                EncodedRows::I32(&values[rows], numbers)
            }
            (Lookup::Numbers(numbers), Data::Integers(Integers::I64(values))) if validity.is_none() => {
                EncodedRows::I64(&values[rows], numbers)
            }
            (_, data) => {
                encode_rows(data, rows, validity, null, encoded, encode);
                EncodedRows::Encoded(encoded)
            }
        })
    }
}

/// Rows of strings, looked up by their codes.
fn looked_up<'a>(
    strings: &'a EncodedStrings,
    codes: &'a [u32],
    validity: Option<Bitmap<'_>>,
    null: &[u8],
    encoded: &'a mut EncodedValues,
) -> EncodedRows<'a> {
    if validity.is_none() {
        return EncodedRows::Strings(codes, strings);
    }
    encoded.fill(codes.len(), validity, null, |row, out| {
        out.push(strings.get(codes[row]).ok_or(UnsupportedReason::Empty)?);
        Ok::<_, UnsupportedReason>(())
    });
    EncodedRows::Encoded(encoded)
}

/// Encodes the values of some rows of a column one by one.
fn encode_rows(
    data: Data<'_>,
    rows: Range<usize>,
    validity: Option<Bitmap<'_>>,
    null: &[u8],
    encoded: &mut EncodedValues,
    encode: impl Fn(Value<'_>, &mut RowBuffer) -> Result<(), UnsupportedReason>,
) {
    let count = rows.len();
    match data {
        Data::Integers(values) => {
            let values = values.slice(rows);
            encoded.fill(count, validity, null, |row, out| encode(Value::Integer(values.get(row)), out));
        }
        Data::Floats(values) => {
            let values = &values[rows];
            encoded.fill(count, validity, null, |row, out| encode(Value::Float(values[row]), out));
        }
        Data::Bytes(strings) => {
            let strings = strings.slice(rows);
            encoded.fill(count, validity, null, |row, out| encode(Value::Bytes(strings.get(row)), out));
        }
        Data::Codes { codes, dictionary } => {
            let codes = &codes[rows];
            let text = |row: usize| Value::Bytes(dictionary.get(codes[row]));
            encoded.fill(count, validity, null, |row, out| encode(text(row), out));
        }
        Data::Runs { .. } => {
            let column = Column::from(data);
            let text = |row: usize| Value::of_row(&column, rows.start + row).unwrap_or(Value::Bytes(&[]));
            encoded.fill(count, validity, null, |row, out| encode(text(row), out));
        }
    }
}

impl EncodedRows<'_> {
    /// Writes the value of a row to the start of `room`, possibly with excess bytes after it. Returns its length;
    /// `None` if the encoding cannot hold it, or there is too little space.
    #[inline]
    pub(super) fn write(&self, row: usize, room: &mut [u8], encode: impl FnOnce(i64) -> Short) -> Option<usize> {
        match self {
            Self::Strings(codes, strings) => strings.write(codes[row], room),
            Self::I8(values, numbers) => numbers.write_short(values[row].into(), room, encode),
            Self::I16(values, numbers) => numbers.write_short(values[row].into(), room, encode),
            Self::I32(values, numbers) => numbers.write_short(values[row].into(), room, encode),
            Self::I64(values, numbers) => numbers.write_short(values[row], room, encode),
            Self::Encoded(encoded) => encoded.write(row, room),
        }
    }
}
