//! Some rows of a column, copied together.

use brc_core::{BitmapBuffer, ByteStrings, Column, Data, Integers, batch};

/// Rows that were taken out of a column.
pub(super) struct Taken {
    values: Values,
    validity: BitmapBuffer,
}

enum Values {
    Codes(Vec<u32>),
    Bytes { offsets: Vec<i32>, bytes: Vec<u8> },
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
    Floats(Vec<f64>),
}

impl Taken {
    /// The rows at these positions.
    ///
    /// # Panics
    /// If the column does not have them.
    pub(super) fn of(column: &Column<'_>, rows: &[usize]) -> Self {
        let mut validity = BitmapBuffer::default();
        match column.validity {
            Some(bits) => rows.iter().for_each(|&row| validity.push(bits.get(row))),
            None => validity.push_values(rows.len()),
        }
        Self { values: values(column, rows), validity }
    }

    /// The rows as a column, whose codes are those of the column that they were taken out of.
    pub(super) fn lend<'a>(&'a self, column: &Column<'a>) -> Column<'a> {
        let data = match (&self.values, column.dictionary()) {
            (Values::Codes(codes), Some(dictionary)) => Data::Codes { codes, dictionary },
            (Values::Codes(_), None) => unreachable!("codes come with a dictionary"),
            (Values::Bytes { offsets, bytes }, _) => Data::Bytes(ByteStrings::new(offsets, bytes)),
            (Values::I8(values), _) => Data::Integers(Integers::I8(values)),
            (Values::I16(values), _) => Data::Integers(Integers::I16(values)),
            (Values::I32(values), _) => Data::Integers(Integers::I32(values)),
            (Values::I64(values), _) => Data::Integers(Integers::I64(values)),
            (Values::I128(values), _) => Data::Integers(Integers::I128(values)),
            (Values::Floats(values), _) => Data::Floats(values),
        };
        Column::from(data).with_validity(self.validity.bitmap())
    }
}

fn values(column: &Column<'_>, rows: &[usize]) -> Values {
    match column.data {
        Data::Codes { codes, .. } => Values::Codes(take(codes, rows)),
        Data::Runs { .. } => {
            let mut codes = Vec::new();
            batch::codes_of(column, &mut codes);
            Values::Codes(take(&codes, rows))
        }
        Data::Bytes(strings) => {
            let (mut offsets, mut bytes) = (vec![0], Vec::new());
            for &row in rows {
                bytes.extend_from_slice(strings.get(row));
                // They were within the offsets of the column.
                offsets.push(bytes.len() as i32);
            }
            Values::Bytes { offsets, bytes }
        }
        Data::Integers(Integers::I8(values)) => Values::I8(take(values, rows)),
        Data::Integers(Integers::I16(values)) => Values::I16(take(values, rows)),
        Data::Integers(Integers::I32(values)) => Values::I32(take(values, rows)),
        Data::Integers(Integers::I64(values)) => Values::I64(take(values, rows)),
        Data::Integers(Integers::I128(values)) => Values::I128(take(values, rows)),
        Data::Floats(values) => Values::Floats(take(values, rows)),
    }
}

fn take<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|&row| values[row]).collect()
}
