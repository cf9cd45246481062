//! Collects the rows of a column until they fill a record batch.

use crate::recycled::RecycledVec;
use crate::strings::Strings;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, FixedSizeBinaryArray, PrimitiveArray, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use brc_core::{Bitmap, BitmapBuffer, Column, Data, Integers, LogicalType, float32, for_integers, uuid};
use std::sync::Arc;

/// The values of a column that were appended so far.
pub(crate) struct ColumnBuilder {
    data_type: DataType,
    validity: BitmapBuffer,
    values: Buffers,
}

/// Values in Arrow's memory layout.
enum Buffers {
    Bits(BitmapBuffer),
    I8(RecycledVec<i8>),
    I16(RecycledVec<i16>),
    I32(RecycledVec<i32>),
    I64(RecycledVec<i64>),
    U64(RecycledVec<u64>),
    I128(RecycledVec<i128>),
    Uuids(RecycledVec<u8>),
    F32(RecycledVec<f32>),
    F64(RecycledVec<f64>),
    Strings(Strings),
}

impl ColumnBuilder {
    /// A builder of arrays of `data_type` for a column of `logical_type`.
    pub(crate) fn new(logical_type: LogicalType, data_type: DataType) -> Self {
        let values = match logical_type {
            LogicalType::Bool => Buffers::Bits(BitmapBuffer::default()),
            LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64 => match data_type {
                DataType::Int8 => Buffers::I8(RecycledVec::default()),
                DataType::Int16 => Buffers::I16(RecycledVec::default()),
                DataType::Int32 => Buffers::I32(RecycledVec::default()),
                _ => Buffers::I64(RecycledVec::default()),
            },
            LogicalType::Date => Buffers::I32(RecycledVec::default()),
            LogicalType::Time { .. } if matches!(data_type, DataType::Time32(_)) => {
                Buffers::I32(RecycledVec::default())
            }
            LogicalType::Time { .. } | LogicalType::Timestamp { .. } => Buffers::I64(RecycledVec::default()),
            LogicalType::UInt64 => Buffers::U64(RecycledVec::default()),
            LogicalType::Decimal { .. } => Buffers::I128(RecycledVec::default()),
            LogicalType::Uuid => Buffers::Uuids(RecycledVec::default()),
            LogicalType::Float32 => Buffers::F32(RecycledVec::default()),
            LogicalType::Float64 => Buffers::F64(RecycledVec::default()),
            LogicalType::String | LogicalType::Binary => Buffers::Strings(Strings::new(&data_type)),
        };
        Self { data_type, validity: BitmapBuffer::default(), values }
    }

    /// Reserves memory for the given number of rows.
    pub(crate) fn expect(&mut self, rows: usize) {
        match &mut self.values {
            Buffers::Bits(_) => {}
            Buffers::I8(values) => values.expect(rows),
            Buffers::I16(values) => values.expect(rows),
            Buffers::I32(values) => values.expect(rows),
            Buffers::I64(values) => values.expect(rows),
            Buffers::U64(values) => values.expect(rows),
            Buffers::I128(values) => values.expect(rows),
            Buffers::Uuids(bytes) => bytes.expect(rows * uuid::BYTES),
            Buffers::F32(values) => values.expect(rows),
            Buffers::F64(values) => values.expect(rows),
            Buffers::Strings(strings) => strings.expect(rows),
        }
    }

    /// Appends all rows of a column.
    ///
    /// # Errors
    /// If the column has a different type, or strings are not UTF-8 where the array type requires it.
    pub(crate) fn take(&mut self, column: &Column<'_>, rows: usize) -> Result<(), ArrowError> {
        self.validity.extend(column.validity, rows);
        let is_taken = match (&mut self.values, column.data) {
            (Buffers::Strings(strings), Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_)) => {
                strings.take(column, rows)?;
                true
            }
            (Buffers::F64(values), Data::Floats(floats)) => {
                values.extend_from_slice(floats);
                true
            }
            (Buffers::F32(values), Data::Floats(floats)) => {
                values.extend(floats.iter().map(|&value| float32::nearest(value)));
                true
            }
            (values, Data::Integers(integers)) => values.take_integers(&integers),
            _ => false,
        };
        match is_taken {
            true => Ok(()),
            false => Err(ArrowError::SchemaError("a column of rows is of a different type".to_owned())),
        }
    }

    /// The number of string bytes that the array of the collected rows does not share; 0 for other types.
    pub(crate) fn string_bytes(&self) -> usize {
        match &self.values {
            Buffers::Strings(strings) => strings.bytes(),
            _ => 0,
        }
    }

    /// The array of all rows since the previous array.
    ///
    /// # Errors
    /// If the values are invalid for the type.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.validity.bitmap().map(|bitmap| NullBuffer::new(bits(bitmap)));
        let rows = self.validity.len();
        self.validity.clear();
        let data_type = &self.data_type;
        Ok(match &mut self.values {
            Buffers::Bits(values) => {
                let all = values.bitmap().map_or_else(|| BooleanBuffer::new_set(rows), bits);
                values.clear();
                Arc::new(BooleanArray::new(all, nulls))
            }
            Buffers::I8(values) => primitive::<Int8Type>(values, nulls, data_type)?,
            Buffers::I16(values) => primitive::<Int16Type>(values, nulls, data_type)?,
            Buffers::I32(values) => primitive::<Int32Type>(values, nulls, data_type)?,
            Buffers::I64(values) => primitive::<Int64Type>(values, nulls, data_type)?,
            Buffers::U64(values) => primitive::<UInt64Type>(values, nulls, data_type)?,
            Buffers::F32(values) => primitive::<Float32Type>(values, nulls, data_type)?,
            Buffers::F64(values) => primitive::<Float64Type>(values, nulls, data_type)?,
            Buffers::I128(values) => {
                let array = Decimal128Array::try_new(ScalarBuffer::from(values.take()), nulls)?;
                Arc::new(array.with_data_type(data_type.clone()))
            }
            Buffers::Uuids(bytes) => Arc::new(FixedSizeBinaryArray::try_new(uuid::BYTES as i32, bytes.take(), nulls)?),
            Buffers::Strings(strings) => strings.finish(nulls)?,
        })
    }
}

impl Buffers {
    /// Appends integers; returns whether the array holds integers.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one text for integers of all widths")]
    fn take_integers(&mut self, integers: &Integers<'_>) -> bool {
        // Nulls may have any value, so nothing is checked.
        match self {
            Self::Bits(bits) => {
                for_integers!(integers, values => values.iter().for_each(|&value| bits.push(value != 0)));
            }
            Self::I8(own) => for_integers!(integers, values => own.extend(values.iter().map(|&value| value as i8))),
            Self::I16(own) => for_integers!(integers, values => own.extend(values.iter().map(|&value| value as i16))),
            Self::I32(own) => for_integers!(integers, values => own.extend(values.iter().map(|&value| value as i32))),
            Self::I64(own) => for_integers!(integers, values => own.extend(values.iter().map(|&value| value as i64))),
            Self::U64(own) => for_integers!(integers, values => own.extend(values.iter().map(|&value| value as u64))),
            Self::I128(own) => {
                for_integers!(integers, values => own.extend(values.iter().map(|&value| i128::from(value))));
            }
            Self::Uuids(own) => {
                for_integers!(integers, values => own.extend(values.iter().flat_map(|&value| uuid::to_bytes(value.into()))));
            }
            Self::F32(_) | Self::F64(_) | Self::Strings(_) => return false,
        }
        true
    }
}

/// An array of numbers, dates or times.
fn primitive<T: ArrowPrimitiveType>(
    values: &mut RecycledVec<T::Native>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef, ArrowError> {
    let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(values.take()), nulls)?;
    if *data_type == T::DATA_TYPE {
        return Ok(Arc::new(array));
    }
    // Dates and times have the same layout as integers.
    let data = arrow_array::Array::to_data(&array).into_builder().data_type(data_type.clone());
    Ok(make_array(data.build()?))
}

fn bits(bitmap: Bitmap<'_>) -> BooleanBuffer {
    let bytes: Vec<u8> =
        bitmap.words().flat_map(|(word, rows)| word.to_le_bytes().into_iter().take(rows.div_ceil(8))).collect();
    BooleanBuffer::new(Buffer::from(bytes), 0, bitmap.len())
}
