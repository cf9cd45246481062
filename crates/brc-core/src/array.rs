//! Columns that own their memory.
//!
//! A [`Column`] borrows its values. Whoever computes, gathers or collects rows keeps them in an [`Array`], and passes
//! them on as a column. [`IntegerBuffer`] and [`StringBuffer`] are the parts of it that others fill themselves.

mod integer_buffer;
mod string_buffer;

pub use integer_buffer::IntegerBuffer;
pub use string_buffer::{StringBuffer, StringsTooLarge};

use crate::batch::{Column, Data, Run};
use crate::bitmap::BitmapBuffer;
use crate::dictionary::Dictionary;
use crate::logical_type::{LogicalType, PhysicalType};
use crate::value::Value;

/// A column that owns its memory.
#[derive(Debug, Clone)]
pub struct Array {
    /// Its values.
    pub data: ArrayData,
    /// Which rows have a value; empty if all have.
    pub validity: BitmapBuffer,
}

/// The values of an [`Array`], as [`Data`] has them. Null rows have an arbitrary value.
#[derive(Debug, Clone)]
pub enum ArrayData {
    /// Dictionary codes, one per row.
    Codes {
        /// The codes.
        codes: Vec<u32>,
        /// Their dictionary.
        dictionary: Dictionary,
    },
    /// Dictionary codes, one per run.
    Runs {
        /// The runs in row order.
        runs: Vec<Run>,
        /// The dictionary of their codes.
        dictionary: Dictionary,
    },
    /// Byte strings, one per row.
    Bytes(StringBuffer),
    /// Integers, one per row.
    Integers(IntegerBuffer),
    /// Floats, one per row.
    Floats(Vec<f64>),
}

impl From<ArrayData> for Array {
    /// An array without nulls.
    fn from(data: ArrayData) -> Self {
        Self { data, validity: BitmapBuffer::default() }
    }
}

macro_rules! from_values {
    ($($values:ty: $data:expr;)+) => {$(
        impl From<$values> for ArrayData {
            fn from(values: $values) -> Self {
                $data(values)
            }
        }

        impl From<$values> for Array {
            /// An array without nulls.
            fn from(values: $values) -> Self {
                ArrayData::from(values).into()
            }
        }
    )+};
}

from_values! {
    IntegerBuffer: Self::Integers;
    StringBuffer: Self::Bytes;
    Vec<i8>: |values| Self::Integers(IntegerBuffer::I8(values));
    Vec<i32>: |values| Self::Integers(IntegerBuffer::I32(values));
    Vec<i64>: |values| Self::Integers(IntegerBuffer::I64(values));
    Vec<i128>: |values| Self::Integers(IntegerBuffer::I128(values));
    Vec<f64>: Self::Floats;
}

impl ArrayData {
    /// The values, borrowed.
    #[must_use]
    pub fn as_data(&self) -> Data<'_> {
        match self {
            Self::Codes { codes, dictionary } => Data::Codes { codes, dictionary },
            Self::Runs { runs, dictionary } => Data::Runs { runs, dictionary },
            Self::Bytes(strings) => Data::Bytes(strings.as_strings()),
            Self::Integers(values) => Data::Integers(values.as_integers()),
            Self::Floats(values) => Data::Floats(values),
        }
    }
}

impl Array {
    /// An array of values of a type; `None` is null.
    ///
    /// # Errors
    /// If strings have more than 2 GiB in total.
    pub fn of<'a>(
        logical_type: LogicalType,
        values: impl IntoIterator<Item = Option<Value<'a>>>,
    ) -> Result<Self, StringsTooLarge> {
        let mut validity = BitmapBuffer::default();
        let values = values.into_iter().inspect(|value| validity.push(value.is_some()));
        let data = match logical_type.physical() {
            PhysicalType::Integers if logical_type.fits_64_bits() => {
                values.map(|value| integer(value) as i64).collect::<Vec<_>>().into()
            }
            PhysicalType::Integers => values.map(integer).collect::<Vec<_>>().into(),
            PhysicalType::Floats => values.map(float).collect::<Vec<_>>().into(),
            PhysicalType::Bytes => {
                let mut strings = StringBuffer::default();
                for value in values {
                    strings.push(if let Some(Value::Bytes(bytes)) = value { bytes } else { b"" })?;
                }
                strings.into()
            }
        };
        Ok(Self { data, validity })
    }

    /// An array of `rows` rows of the same value, which for strings is a code.
    #[must_use]
    pub fn repeat(logical_type: LogicalType, value: Option<Value<'_>>, rows: usize) -> Self {
        let data = match (value, logical_type.physical()) {
            (Some(Value::Bytes(bytes)), _) => {
                ArrayData::Codes { codes: vec![0; rows], dictionary: [bytes].into_iter().collect() }
            }
            (_, PhysicalType::Bytes) => StringBuffer::of_parts(vec![0; rows + 1], Vec::new()).into(),
            (Some(Value::Float(_)), _) | (_, PhysicalType::Floats) => vec![float(value); rows].into(),
            (_, PhysicalType::Integers) if logical_type.fits_64_bits() => vec![integer(value) as i64; rows].into(),
            (_, PhysicalType::Integers) => vec![integer(value); rows].into(),
        };
        let mut validity = BitmapBuffer::default();
        if value.is_none() {
            (0..rows).for_each(|_| validity.push(false));
        }
        Self { data, validity }
    }

    /// The rows as a column.
    #[must_use]
    pub fn column(&self) -> Column<'_> {
        Column { data: self.data.as_data(), validity: self.validity.bitmap() }
    }
}

fn integer(value: Option<Value<'_>>) -> i128 {
    if let Some(Value::Integer(value)) = value { value } else { 0 }
}

fn float(value: Option<Value<'_>>) -> f64 {
    if let Some(Value::Float(value)) = value { value } else { 0.0 }
}

/// Replaces `out` by the values of some rows.
///
/// # Panics
/// If a row is out of bounds.
pub fn gather<'a, T: Copy>(values: &[T], rows: &[u32], out: &'a mut Vec<T>) -> &'a [T] {
    out.clear();
    out.extend(rows.iter().map(|&row| values[row as usize]));
    out
}
