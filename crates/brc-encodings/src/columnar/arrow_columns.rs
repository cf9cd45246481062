//! Arrow arrays as columns of batches, for the libraries of parquet and arrow.
//!
//! Both have the same memory layout, so most arrays are borrowed. Strings become codes while they repeat, because a
//! group-by would have to assign codes anyway.

use super::{Fault, check_bounds};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, ArrowNativeTypeOp};
use arrow_buffer::{Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, TimeUnit as ArrowUnit};
use brc_core::{Bitmap, ByteStrings, Column, Data, Integers, LogicalType, TimeUnit, float32, uuid};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

/// Milliseconds per day.
const DAY: i64 = 86_400_000;

/// The type of a column with such arrays.
///
/// # Errors
/// The actual type, with an article, if a table cannot hold it.
pub(crate) fn logical_type(data_type: &DataType) -> Result<LogicalType, String> {
    let decimal = |precision: u8, scale: i8| match u8::try_from(scale) {
        Ok(scale) if scale <= precision.min(LogicalType::MAX_PRECISION) && precision > 0 => {
            Ok(LogicalType::Decimal { precision: precision.min(LogicalType::MAX_PRECISION), scale })
        }
        _ => Err(format!("a decimal({precision},{scale})")),
    };
    Ok(match data_type {
        DataType::Boolean => LogicalType::Bool,
        DataType::Int8 => LogicalType::Int8,
        DataType::Int16 | DataType::UInt8 => LogicalType::Int16,
        DataType::Int32 | DataType::UInt16 => LogicalType::Int32,
        DataType::Int64 | DataType::UInt32 => LogicalType::Int64,
        DataType::UInt64 => LogicalType::UInt64,
        DataType::Float16 | DataType::Float32 => LogicalType::Float32,
        DataType::Float64 => LogicalType::Float64,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => decimal(*precision, *scale)?,
        DataType::Date32 | DataType::Date64 => LogicalType::Date,
        DataType::Time32(unit) | DataType::Time64(unit) => LogicalType::Time { unit: time_unit(*unit) },
        DataType::Timestamp(unit, zone) => LogicalType::Timestamp { unit: time_unit(*unit), zone: zone.is_some() },
        DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => LogicalType::String,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            LogicalType::Binary
        }
        DataType::Dictionary(_, values) => logical_type(values)?,
        DataType::Duration(unit) => return Err(format!("a duration({})", time_unit(*unit).symbol())),
        DataType::Interval(_) => return Err("an interval".to_owned()),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => return Err("a list".to_owned()),
        DataType::Struct(_) => return Err("a struct".to_owned()),
        DataType::Map(..) => return Err("a map".to_owned()),
        DataType::Union(..) => return Err("a union".to_owned()),
        DataType::RunEndEncoded(..) => return Err("run-end encoded".to_owned()),
    })
}

fn time_unit(unit: ArrowUnit) -> TimeUnit {
    match unit {
        ArrowUnit::Second => TimeUnit::Second,
        ArrowUnit::Millisecond => TimeUnit::Millisecond,
        ArrowUnit::Microsecond => TimeUnit::Microsecond,
        ArrowUnit::Nanosecond => TimeUnit::Nanosecond,
    }
}

/// Converts the arrays of one column in sequence.
pub(crate) struct ArrowColumn {
    logical_type: LogicalType,
    /// Whether bounds checks are skipped, because `brc` wrote the values.
    is_own: bool,
    /// The dictionary of the codes, for the whole scan.
    pub(crate) interner: Interner,
    /// The number of rows of strings looked up in it.
    interned: u64,
    /// The dictionary of the previous array, and the code of each of its values.
    dictionary: Option<(ArrayRef, Vec<u32>)>,
    values: ArrayValues,
    validity: Option<NullBuffer>,
}

/// The values of an array.
enum ArrayValues {
    I8(ScalarBuffer<i8>),
    I16(ScalarBuffer<i16>),
    I32(ScalarBuffer<i32>),
    I64(ScalarBuffer<i64>),
    I128(ScalarBuffer<i128>),
    Floats(ScalarBuffer<f64>),
    Codes(Vec<u32>),
    Strings { offsets: ScalarBuffer<i32>, bytes: Buffer },
}

impl ArrowColumn {
    /// A column of the given type, of a file written by `brc` or by another program.
    pub(crate) fn new(logical_type: LogicalType, is_own: bool) -> Self {
        Self {
            logical_type,
            is_own,
            interner: Interner::new(Level::best()),
            interned: 0,
            dictionary: None,
            values: ArrayValues::Codes(Vec::new()),
            validity: None,
        }
    }

    /// Converts the next array.
    ///
    /// # Errors
    /// If its type is not the column's, or a value is out of the type's bounds.
    pub(crate) fn take(&mut self, array: &ArrayRef) -> Result<(), Fault> {
        self.validity = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        self.values = match array.data_type() {
            DataType::Dictionary(..) => self.take_dictionary(array)?,
            _ if matches!(self.logical_type, LogicalType::String | LogicalType::Binary) => self.take_strings(array)?,
            _ => self.in_own_unit(numbers(array, self.validity.as_ref())?, array.data_type())?,
        };
        let column = self.column(0..array.len());
        match column.data {
            Data::Integers(values) if !self.is_own => check_bounds(&values, column.validity, self.logical_type),
            _ => Ok(()),
        }
    }

    /// Drops the array, so that its memory can be reused.
    pub(crate) fn release(&mut self) {
        self.values = ArrayValues::Codes(Vec::new());
        self.validity = None;
    }

    /// A range of rows of the array.
    ///
    /// # Panics
    /// If the range is out of bounds.
    pub(crate) fn column(&self, rows: Range<usize>) -> Column<'_> {
        let nulls = self.validity.as_ref();
        let validity =
            nulls.map(|nulls| Bitmap::new(nulls.validity(), nulls.offset(), nulls.len()).slice(rows.clone()));
        let data = match &self.values {
            ArrayValues::I8(values) => Data::Integers(Integers::I8(&values[rows])),
            ArrayValues::I16(values) => Data::Integers(Integers::I16(&values[rows])),
            ArrayValues::I32(values) => Data::Integers(Integers::I32(&values[rows])),
            ArrayValues::I64(values) => Data::Integers(Integers::I64(&values[rows])),
            ArrayValues::I128(values) => Data::Integers(Integers::I128(&values[rows])),
            ArrayValues::Floats(values) => Data::Floats(&values[rows]),
            ArrayValues::Codes(codes) => Data::Codes { codes: &codes[rows], dictionary: self.interner.dictionary() },
            ArrayValues::Strings { offsets, bytes } => Data::Bytes(ByteStrings::new(offsets, bytes).slice(rows)),
        };
        Column { data, validity }
    }

    /// The codes of a dictionary array; for types other than strings, the values of the codes.
    fn take_dictionary(&mut self, array: &ArrayRef) -> Result<ArrayValues, Fault> {
        let coded = array.as_any_dictionary();
        let values = coded.values();
        let is_known = self.dictionary.as_ref().is_some_and(|(known, _)| known.to_data().ptr_eq(&values.to_data()));
        let is_string = matches!(self.logical_type, LogicalType::String | LogicalType::Binary);
        let are_strings = is_string && values.null_count() == 0;
        if !are_strings || !(self.intern_rows(array.len()) || is_known) {
            let plain = arrow_select::take::take(values, coded.keys(), None);
            let plain = plain.map_err(|error| Fault::corrupt(error.to_string()))?;
            self.validity = plain.nulls().filter(|nulls| nulls.null_count() > 0).cloned();
            return if is_string { self.take_strings(&plain) } else { numbers(&plain, self.validity.as_ref()) };
        }
        if !is_known {
            let mut codes = Vec::with_capacity(values.len());
            let (offsets, bytes) = strings(values)?;
            codes.extend(ByteStrings::new(&offsets, &bytes).iter().map(|value| self.interner.intern(value)));
            self.dictionary = Some((values.clone(), codes));
        }
        let codes = self.dictionary.as_ref().map_or(&[][..], |(_, codes)| codes);
        // Without values, all rows are null.
        if codes.is_empty() {
            return Ok(ArrayValues::Codes(vec![0; array.len()]));
        }
        Ok(ArrayValues::Codes(coded.normalized_keys().into_iter().map(|key| codes[key]).collect()))
    }

    /// Whether to look up the next `rows` rows of strings, that is, whether they still repeat.
    pub(crate) fn intern_rows(&mut self, rows: usize) -> bool {
        let pays = self.interner.pays(self.interned);
        self.interned += if pays { rows as u64 } else { 0 };
        pays
    }

    fn take_strings(&mut self, array: &ArrayRef) -> Result<ArrayValues, Fault> {
        let (offsets, bytes) = strings(array)?;
        if !self.intern_rows(array.len()) {
            return Ok(ArrayValues::Strings { offsets, bytes });
        }
        let is_valid = |row: usize| self.validity.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let Some(first) = (0..array.len()).find(|&row| is_valid(row)) else {
            return Ok(ArrayValues::Codes(vec![0; array.len()]));
        };
        // A null gets the code of a nearby string.
        let mut known = first;
        let range = |row| {
            known = if is_valid(row) { row } else { known };
            offsets[known] as usize..offsets[known + 1] as usize
        };
        let ranges: Vec<_> = (0..array.len()).map(range).collect();
        let mut codes = Vec::new();
        self.interner.intern_all(&bytes, &ranges, &mut codes);
        Ok(ArrayValues::Codes(codes))
    }

    /// Times in the unit of the column, which are stored as milliseconds because the format has no seconds.
    fn in_own_unit(&self, values: ArrayValues, stored: &DataType) -> Result<ArrayValues, Fault> {
        let seconds = match self.logical_type {
            LogicalType::Time { unit: TimeUnit::Second } | LogicalType::Timestamp { unit: TimeUnit::Second, .. } => {
                !matches!(stored, DataType::Time32(ArrowUnit::Second) | DataType::Timestamp(ArrowUnit::Second, _))
            }
            _ => false,
        };
        Ok(match values {
            ArrayValues::I32(values) if seconds => ArrayValues::I32(values.iter().map(|value| value / 1000).collect()),
            ArrayValues::I64(values) if seconds => ArrayValues::I64(values.iter().map(|value| value / 1000).collect()),
            values => values,
        })
    }
}

/// The values of an array of any width; nulls have arbitrary values.
fn numbers(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayValues, Fault> {
    fn values_of<T: ArrowPrimitiveType>(array: &ArrayRef) -> ScalarBuffer<T::Native> {
        array.as_primitive::<T>().values().clone()
    }
    fn cast<T: ArrowPrimitiveType, U: arrow_buffer::ArrowNativeType + From<T::Native>>(
        array: &ArrayRef,
    ) -> ScalarBuffer<U> {
        array.as_primitive::<T>().values().iter().map(|&value| U::from(value)).collect()
    }
    Ok(match array.data_type() {
        DataType::Boolean => ArrayValues::I8(array.as_boolean().values().iter().map(i8::from).collect()),
        DataType::Int8 => ArrayValues::I8(values_of::<Int8Type>(array)),
        DataType::Int16 => ArrayValues::I16(values_of::<Int16Type>(array)),
        DataType::Int32 => ArrayValues::I32(values_of::<Int32Type>(array)),
        DataType::Int64 => ArrayValues::I64(values_of::<Int64Type>(array)),
        DataType::UInt8 => ArrayValues::I16(cast::<UInt8Type, _>(array)),
        DataType::UInt16 => ArrayValues::I32(cast::<UInt16Type, _>(array)),
        DataType::UInt32 => ArrayValues::I64(cast::<UInt32Type, _>(array)),
        DataType::UInt64 => {
            let values = array.as_primitive::<UInt64Type>().values();
            if values.iter().all(|&value| i64::try_from(value).is_ok()) {
                ArrayValues::I64(values.iter().map(|&value| value as i64).collect())
            } else {
                ArrayValues::I128(cast::<UInt64Type, _>(array))
            }
        }
        DataType::Float16 => {
            let values = array.as_primitive::<Float16Type>().values();
            ArrayValues::Floats(values.iter().map(|value| float32::widen(value.to_f32())).collect())
        }
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().values();
            ArrayValues::Floats(values.iter().map(|&value| float32::widen(value)).collect())
        }
        DataType::Float64 => ArrayValues::Floats(values_of::<Float64Type>(array)),
        DataType::Decimal32(..) => ArrayValues::I32(values_of::<Decimal32Type>(array)),
        DataType::Decimal64(..) => ArrayValues::I64(values_of::<Decimal64Type>(array)),
        DataType::Decimal128(precision, _) => {
            let values = array.as_primitive::<Decimal128Type>().values();
            let is_narrow = *precision <= LogicalType::MAX_PRECISION_64;
            if is_narrow && values.iter().all(|&value| i64::try_from(value).is_ok()) {
                ArrayValues::I64(values.iter().map(|&value| value as i64).collect())
            } else {
                ArrayValues::I128(values.clone())
            }
        }
        DataType::Decimal256(..) => {
            let wide = array.as_primitive::<Decimal256Type>().values().iter().map(|value| value.to_i128());
            ArrayValues::I128(valid(wide, nulls, "a decimal has more than 38 digits")?)
        }
        DataType::Date32 => ArrayValues::I32(values_of::<Date32Type>(array)),
        DataType::Date64 => {
            let day = |&value: &i64| if value.mod_wrapping(DAY) == 0 { i32::try_from(value / DAY).ok() } else { None };
            let days = array.as_primitive::<Date64Type>().values().iter().map(day);
            ArrayValues::I32(valid(days, nulls, "a date has a time of day, or is too far away")?)
        }
        DataType::Time32(ArrowUnit::Second) => ArrayValues::I32(values_of::<Time32SecondType>(array)),
        DataType::Time32(_) => ArrayValues::I32(values_of::<Time32MillisecondType>(array)),
        DataType::Time64(ArrowUnit::Microsecond) => ArrayValues::I64(values_of::<Time64MicrosecondType>(array)),
        DataType::Time64(_) => ArrayValues::I64(values_of::<Time64NanosecondType>(array)),
        DataType::Timestamp(ArrowUnit::Second, _) => ArrayValues::I64(values_of::<TimestampSecondType>(array)),
        DataType::Timestamp(ArrowUnit::Millisecond, _) => {
            ArrayValues::I64(values_of::<TimestampMillisecondType>(array))
        }
        DataType::Timestamp(ArrowUnit::Microsecond, _) => {
            ArrayValues::I64(values_of::<TimestampMicrosecondType>(array))
        }
        DataType::Timestamp(ArrowUnit::Nanosecond, _) => ArrayValues::I64(values_of::<TimestampNanosecondType>(array)),
        // Other widths are binary data.
        DataType::FixedSizeBinary(_) => {
            let bytes = array.as_fixed_size_binary().value_data().as_chunks().0;
            ArrayValues::I128(bytes.iter().map(|&bytes| uuid::from_bytes(bytes)).collect())
        }
        other => return Err(Fault::corrupt(format!("{other} where numbers belong"))),
    })
}

/// The values of an array, with arbitrary ones in place of nulls.
fn valid<T: arrow_buffer::ArrowNativeType>(
    values: impl Iterator<Item = Option<T>>,
    nulls: Option<&NullBuffer>,
    reason: &'static str,
) -> Result<ScalarBuffer<T>, Fault> {
    let is_null = |row: usize| nulls.is_some_and(|nulls| nulls.is_null(row));
    let values = values.enumerate().map(|(row, value)| match value {
        None if !is_null(row) => Err(Fault::UnsupportedRow(row, reason.into())),
        value => Ok(value.unwrap_or_default()),
    });
    values.collect::<Result<Vec<_>, _>>().map(ScalarBuffer::from)
}

/// The strings of an array, contiguous.
pub(crate) fn strings(array: &ArrayRef) -> Result<(ScalarBuffer<i32>, Buffer), Fault> {
    let each = |length: usize, values: &mut dyn Iterator<Item = &[u8]>| {
        let (mut offsets, mut bytes) = (Vec::with_capacity(length + 1), Vec::new());
        offsets.push(0);
        for value in values {
            bytes.extend_from_slice(value);
            let end = i32::try_from(bytes.len());
            offsets.push(end.map_err(|_| Fault::unsupported("some thousand strings have 2 GiB together"))?);
        }
        Ok((ScalarBuffer::from(offsets), Buffer::from(bytes)))
    };
    let length = array.len();
    match array.data_type() {
        DataType::Null => Ok((ScalarBuffer::from(vec![0; length + 1]), Buffer::from(&[]))),
        DataType::Utf8 => {
            let strings = array.as_string::<i32>();
            Ok((strings.offsets().inner().clone(), strings.values().clone()))
        }
        DataType::Binary => {
            let strings = array.as_binary::<i32>();
            Ok((strings.offsets().inner().clone(), strings.values().clone()))
        }
        DataType::LargeUtf8 => {
            let strings = array.as_string::<i64>();
            each(length, &mut (0..length).map(|row| strings.value(row).as_bytes()))
        }
        DataType::LargeBinary => {
            let strings = array.as_binary::<i64>();
            each(length, &mut (0..length).map(|row| strings.value(row)))
        }
        DataType::Utf8View => {
            let strings = array.as_string_view();
            each(length, &mut (0..length).map(|row| strings.value(row).as_bytes()))
        }
        DataType::BinaryView => {
            let strings = array.as_binary_view();
            each(length, &mut (0..length).map(|row| strings.value(row)))
        }
        DataType::FixedSizeBinary(_) => {
            let strings = array.as_fixed_size_binary();
            each(length, &mut (0..length).map(|row| strings.value(row)))
        }
        other => Err(Fault::corrupt(format!("{other} where strings belong"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        BinaryViewArray, Date64Array, Decimal256Array, DictionaryArray, FixedSizeBinaryArray, Float32Array, Int64Array,
        LargeStringArray, NullArray, StringArray, UInt64Array,
    };
    use arrow_buffer::i256;
    use brc_core::Value;
    use std::sync::Arc;

    fn taken(array: impl Array + 'static) -> Result<Vec<String>, Fault> {
        let array: ArrayRef = Arc::new(array);
        let logical_type = logical_type(array.data_type()).unwrap();
        let mut column = ArrowColumn::new(logical_type, false);
        column.take(&array)?;
        let rows = (0..array.len()).map(|row| {
            let column = column.column(row..row + 1);
            Value::of_row(&column, 0).map_or("NULL".to_owned(), |value| value.to_text(logical_type))
        });
        Ok(rows.collect())
    }

    #[test]
    fn arrays_of_all_kinds_become_columns() {
        assert_eq!(
            taken(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)])).unwrap(),
            ["18446744073709551615", "NULL", "0"]
        );
        assert_eq!(taken(Float32Array::from(vec![0.5, -0.0])).unwrap(), ["0.5", "-0.0"]);
        assert_eq!(taken(NullArray::new(2)).unwrap(), ["NULL", "NULL"]);
        assert_eq!(taken(LargeStringArray::from(vec![Some("a"), None, Some("")])).unwrap(), ["a", "NULL", ""]);
        assert_eq!(taken(BinaryViewArray::from(vec![b"longer than twelve bytes".as_slice(), b"b"])).unwrap()[1], "b");
        let fixed = FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].into_iter()).unwrap();
        assert_eq!(taken(fixed).unwrap(), ["ab", "cd"]);
        assert_eq!(
            taken(Date64Array::from(vec![Some(DAY), Some(-DAY), None])).unwrap(),
            ["1970-01-02", "1969-12-31", "NULL"]
        );
        assert!(taken(Date64Array::from(vec![1])).is_err());
        let wide = |value: i256| Decimal256Array::from(vec![value]).with_precision_and_scale(76, 2).unwrap();
        assert_eq!(taken(wide(i256::from_i128(-5))).unwrap(), ["-0.05"]);
        assert!(taken(wide(i256::from_i128(10i128.pow(38)))).is_err());
        assert!(taken(wide(i256::MAX)).is_err());
    }

    #[test]
    fn dictionaries_of_anything() {
        let strings: DictionaryArray<Int8Type> = [Some("b"), None, Some("a"), Some("b")].into_iter().collect();
        assert_eq!(taken(strings).unwrap(), ["b", "NULL", "a", "b"]);
        let keys = arrow_array::Int16Array::from(vec![Some(1), None, Some(0), Some(2)]);
        let numbers = Int64Array::from(vec![Some(7), Some(-7), None]);
        assert_eq!(taken(DictionaryArray::new(keys.clone(), Arc::new(numbers))).unwrap(), ["-7", "NULL", "7", "NULL"]);
        let strings = StringArray::from(vec![Some("x"), Some(""), None]);
        assert_eq!(taken(DictionaryArray::new(keys, Arc::new(strings))).unwrap(), ["", "NULL", "x", "NULL"]);
        let none: DictionaryArray<Int8Type> = [None::<&str>, None].into_iter().collect();
        assert_eq!(taken(none).unwrap(), ["NULL", "NULL"]);
    }
}
