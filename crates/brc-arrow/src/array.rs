//! Rows of one column, gathered until they are as many as a record batch has.

use crate::reused::Reused;
use crate::strings::Strings;
use arrow_array::types::{Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, FixedSizeBinaryArray, PrimitiveArray, make_array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType};
use brc_core::{Bitmap, BitmapBuffer, Column, Data, Integers, LogicalType, float32, for_integers, uuid};
use std::sync::Arc;

/// The values of a column that were taken so far.
pub(crate) struct ColumnBuilder {
    data_type: DataType,
    validity: BitmapBuffer,
    values: Values,
}

/// Values as Arrow has them in memory.
enum Values {
    Bits(BitmapBuffer),
    I8(Reused<i8>),
    I16(Reused<i16>),
    I32(Reused<i32>),
    I64(Reused<i64>),
    U64(Reused<u64>),
    I128(Reused<i128>),
    Uuids(Reused<u8>),
    F32(Reused<f32>),
    F64(Reused<f64>),
    Strings(Strings),
}

impl ColumnBuilder {
    /// For a column of a type that becomes arrays of `data_type`.
    pub(crate) fn new(logical_type: LogicalType, data_type: DataType) -> Self {
        let values = match logical_type {
            LogicalType::Bool => Values::Bits(BitmapBuffer::default()),
            LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64 => match data_type {
                DataType::Int8 => Values::I8(Reused::default()),
                DataType::Int16 => Values::I16(Reused::default()),
                DataType::Int32 => Values::I32(Reused::default()),
                _ => Values::I64(Reused::default()),
            },
            LogicalType::Date => Values::I32(Reused::default()),
            LogicalType::Time { .. } if matches!(data_type, DataType::Time32(_)) => Values::I32(Reused::default()),
            LogicalType::Time { .. } | LogicalType::Timestamp { .. } => Values::I64(Reused::default()),
            LogicalType::UInt64 => Values::U64(Reused::default()),
            LogicalType::Decimal { .. } => Values::I128(Reused::default()),
            LogicalType::Uuid => Values::Uuids(Reused::default()),
            LogicalType::Float32 => Values::F32(Reused::default()),
            LogicalType::Float64 => Values::F64(Reused::default()),
            LogicalType::String | LogicalType::Binary => Values::Strings(Strings::new(&data_type)),
        };
        Self { data_type, validity: BitmapBuffer::default(), values }
    }

    /// Says that so many rows are going to come.
    pub(crate) fn expect(&mut self, rows: usize) {
        match &mut self.values {
            Values::Bits(_) => {}
            Values::I8(values) => values.expect(rows),
            Values::I16(values) => values.expect(rows),
            Values::I32(values) => values.expect(rows),
            Values::I64(values) => values.expect(rows),
            Values::U64(values) => values.expect(rows),
            Values::I128(values) => values.expect(rows),
            Values::Uuids(bytes) => bytes.expect(rows * uuid::BYTES),
            Values::F32(values) => values.expect(rows),
            Values::F64(values) => values.expect(rows),
            Values::Strings(strings) => strings.expect(rows),
        }
    }

    /// Takes all rows of a column.
    ///
    /// # Errors
    /// If the column is of a different type, or strings are not UTF-8 where they have to be.
    pub(crate) fn take(&mut self, column: &Column<'_>, rows: usize) -> Result<(), ArrowError> {
        self.validity.extend(column.validity, rows);
        let is_taken = match (&mut self.values, column.data) {
            (Values::Strings(strings), Data::Codes { .. } | Data::Runs { .. } | Data::Bytes(_)) => {
                strings.take(column, rows)?;
                true
            }
            (Values::F64(values), Data::Floats(floats)) => {
                values.extend_from_slice(floats);
                true
            }
            (Values::F32(values), Data::Floats(floats)) => {
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

    /// About how many bytes the values take.
    pub(crate) fn string_bytes(&self) -> usize {
        match &self.values {
            Values::Strings(strings) => strings.bytes(),
            _ => 0,
        }
    }

    /// The array of all rows that were taken since the last one.
    ///
    /// # Errors
    /// If the values are none of the type.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        let nulls = self.validity.bitmap().map(|bitmap| NullBuffer::new(bits(bitmap)));
        let rows = self.validity.len();
        self.validity.clear();
        let data_type = &self.data_type;
        Ok(match &mut self.values {
            Values::Bits(values) => {
                let all = values.bitmap().map_or_else(|| BooleanBuffer::new_set(rows), bits);
                values.clear();
                Arc::new(BooleanArray::new(all, nulls))
            }
            Values::I8(values) => primitive::<Int8Type>(values, nulls, data_type)?,
            Values::I16(values) => primitive::<Int16Type>(values, nulls, data_type)?,
            Values::I32(values) => primitive::<Int32Type>(values, nulls, data_type)?,
            Values::I64(values) => primitive::<Int64Type>(values, nulls, data_type)?,
            Values::U64(values) => primitive::<UInt64Type>(values, nulls, data_type)?,
            Values::F32(values) => primitive::<Float32Type>(values, nulls, data_type)?,
            Values::F64(values) => primitive::<Float64Type>(values, nulls, data_type)?,
            Values::I128(values) => {
                let array = Decimal128Array::try_new(ScalarBuffer::from(values.take()), nulls)?;
                Arc::new(array.with_data_type(data_type.clone()))
            }
            Values::Uuids(bytes) => Arc::new(FixedSizeBinaryArray::try_new(uuid::BYTES as i32, bytes.take(), nulls)?),
            Values::Strings(strings) => strings.finish(nulls)?,
        })
    }
}

impl Values {
    /// Takes integers; returns whether they have a place here.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one text for integers of all widths")]
    fn take_integers(&mut self, integers: &Integers<'_>) -> bool {
        // Rows that are null may have any value, so that nothing is checked.
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

/// An array of numbers, whose type may be a date or a time.
fn primitive<T: ArrowPrimitiveType>(
    values: &mut Reused<T::Native>,
    nulls: Option<NullBuffer>,
    data_type: &DataType,
) -> Result<ArrayRef, ArrowError> {
    let array = PrimitiveArray::<T>::try_new(ScalarBuffer::from(values.take()), nulls)?;
    if *data_type == T::DATA_TYPE {
        return Ok(Arc::new(array));
    }
    // Dates and times lie as the integers do.
    let data = arrow_array::Array::to_data(&array).into_builder().data_type(data_type.clone());
    Ok(make_array(data.build()?))
}

fn bits(bitmap: Bitmap<'_>) -> BooleanBuffer {
    let bytes: Vec<u8> =
        bitmap.words().flat_map(|(word, rows)| word.to_le_bytes().into_iter().take(rows.div_ceil(8))).collect();
    BooleanBuffer::new(Buffer::from(bytes), 0, bitmap.len())
}
