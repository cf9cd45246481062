//! Shared code of parquet and arrow, the columnar encodings of other projects.
//!
//! Their files come from anywhere, so everything in them is checked before it is used. Files written by `brc` have
//! checksums where the formats have none, so that damage is always detected.

pub(crate) mod array_batches;
pub(crate) mod arrow_columns;
pub(crate) mod footer;
pub(crate) mod part_rows;
pub(crate) mod seal;

use crate::description::{self, Fact, Facts};
use crate::encoding::unread;
pub(crate) use crate::fault::{Fault, guarded};
use brc_core::{
    Bitmap, Error, Field, Integers, LogicalType, Result, Schema, Table, TimeUnit, UnsupportedColumn, for_integers,
};
use std::path::Path;

/// The maximum rows of a batch: few enough for the L1 cache.
pub(crate) const WINDOW: usize = 4096;

/// The metadata key for the scales of all columns in files of version 1 if a column has numbers of nineteen digits.
/// Other programs do not accept these as 64-bit decimals, so they are stored as integers.
pub(crate) const SCALES: &str = "brc.scales";

/// Applies the scales stored under [`SCALES`] to the types of columns.
pub(crate) fn with_scales<'a>(types: impl Iterator<Item = &'a mut LogicalType>, scales: &str) {
    for (logical_type, scale) in types.zip(scales.split(',')) {
        if let (LogicalType::Int64, Ok(scale @ 1..=18)) = (&logical_type, scale.parse()) {
            *logical_type = LogicalType::Decimal { precision: 19, scale };
        }
    }
}

/// The schema of a file with these columns, and further unsupported ones.
///
/// # Errors
/// [`Error::Unsupported`] if they do not make a table.
pub(crate) fn schema(path: &Path, fields: Vec<Field>, unsupported_columns: Vec<UnsupportedColumn>) -> Result<Schema> {
    match unsupported_columns.first() {
        Some(column) if fields.is_empty() => Err(unread(path, column)),
        _ => match Schema::new(fields) {
            Ok(schema) => Ok(schema.without(unsupported_columns)),
            Err(error) => Err(Error::unsupported(path, error.to_string())),
        },
    }
}

/// The prefix of table metadata in a file, where other programs have their own keys.
const METADATA: &str = "brc.table.";

/// The table's metadata as keys and values for a file.
pub(crate) fn metadata_of(schema: &Schema) -> impl Iterator<Item = (String, String)> {
    schema.metadata().iter().map(|(key, value)| (format!("{METADATA}{key}"), value.clone()))
}

/// The table's metadata from the keys and values of a file.
pub(crate) fn table_metadata<'a>(pairs: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> Vec<(String, String)> {
    let own = |(key, value): (&str, Option<&str>)| Some((key.strip_prefix(METADATA)?.to_owned(), value?.to_owned()));
    pairs.filter_map(own).collect()
}

/// The structure of a file of these formats: its writer, its `parts`, and its footer, which begins at `end`.
pub(crate) fn facts(
    encoding: &str,
    table: &dyn Table,
    created_by: Option<&str>,
    end: u64,
    (parts, count): (&'static str, usize),
) -> Facts {
    let bytes = table.bytes().unwrap_or(0);
    let mut facts: Facts = vec![("encoding", encoding.into())];
    facts.extend(created_by.map(|by| ("created by", by.into())));
    facts.extend([
        ("rows", Fact::Count(table.rows().unwrap_or(0))),
        ("bytes", Fact::Bytes(bytes)),
        (parts, Fact::Count(count as u64)),
        ("footer", Fact::Bytes(bytes.saturating_sub(end))),
    ]);
    facts.extend(description::metadata(table.schema()));
    facts
}

/// The factor for values when they are written: these formats have no unit of seconds.
pub(crate) fn factor(logical_type: LogicalType) -> i64 {
    match logical_type {
        LogicalType::Time { unit: TimeUnit::Second } | LogicalType::Timestamp { unit: TimeUnit::Second, .. } => 1000,
        LogicalType::Bool
        | LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Float64
        | LogicalType::Date
        | LogicalType::Time { .. }
        | LogicalType::Timestamp { .. }
        | LogicalType::String
        | LogicalType::Binary
        | LogicalType::Uuid => 1,
    }
}

/// Checks that all valid values are within the bounds of their type.
pub(crate) fn check_bounds(
    values: &Integers<'_>,
    validity: Option<Bitmap<'_>>,
    logical_type: LogicalType,
) -> Result<(), Fault> {
    let Some((min, max)) = logical_type.bounds() else { return Ok(()) };
    if values.bounds().is_none_or(|(low, high)| min <= low && high <= max) {
        return Ok(());
    }
    let is_valid = |row: usize| validity.is_none_or(|validity| validity.get(row));
    let outside = (0..values.len()).filter(|&row| is_valid(row)).map(|row| values.get(row));
    match outside.into_iter().find(|value| !(min..=max).contains(value)) {
        Some(value) => Err(Fault::unsupported(format!("the value {value} is out of the range of {logical_type}"))),
        None => Ok(()),
    }
}

/// Integers in the narrowest width among which all received so far fit.
#[derive(Debug)]
pub(crate) enum IntegerBuffer {
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I128(Vec<i128>),
}

impl IntegerBuffer {
    pub(crate) fn as_values(&self) -> Integers<'_> {
        match self {
            Self::I16(values) => Integers::I16(values),
            Self::I32(values) => Integers::I32(values),
            Self::I64(values) => Integers::I64(values),
            Self::I128(values) => Integers::I128(values),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.as_values().len()
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::I16(values) => values.clear(),
            Self::I32(values) => values.clear(),
            Self::I64(values) => values.clear(),
            Self::I128(values) => values.clear(),
        }
    }

    /// An empty buffer of the same width.
    pub(crate) fn of_same_width(&self) -> Self {
        match self {
            Self::I16(_) => Self::I16(Vec::new()),
            Self::I32(_) => Self::I32(Vec::new()),
            Self::I64(_) => Self::I64(Vec::new()),
            Self::I128(_) => Self::I128(Vec::new()),
        }
    }

    /// Appends values of any width.
    pub(crate) fn extend(&mut self, values: &Integers<'_>) {
        match *values {
            Integers::I8(values) => extend_narrow(self, values),
            Integers::I16(values) => extend_narrow(self, values),
            Integers::I32(values) => match self.medium() {
                Some(own) => own.extend_from_slice(values),
                None => match self.wide() {
                    Some(own) => own.extend(values.iter().map(|&value| i64::from(value))),
                    None => self.widest().extend(values.iter().map(|&value| i128::from(value))),
                },
            },
            Integers::I64(values) => match self.wide() {
                Some(own) => own.extend_from_slice(values),
                None => self.widest().extend(values.iter().map(|&value| i128::from(value))),
            },
            Integers::I128(values) => self.widest().extend_from_slice(values),
        }
    }

    /// The values as 32-bit integers to append to, if none is wider yet.
    pub(crate) fn medium(&mut self) -> Option<&mut Vec<i32>> {
        match self {
            Self::I16(values) => *self = Self::I32(values.iter().map(|&value| value.into()).collect()),
            Self::I64(_) | Self::I128(_) if self.len() == 0 => *self = Self::I32(Vec::new()),
            Self::I32(_) | Self::I64(_) | Self::I128(_) => {}
        }
        if let Self::I32(values) = self { Some(values) } else { None }
    }

    /// The values as 64-bit integers to append to, if none is wider yet.
    pub(crate) fn wide(&mut self) -> Option<&mut Vec<i64>> {
        match self {
            Self::I16(values) => *self = Self::I64(values.iter().map(|&value| value.into()).collect()),
            Self::I32(values) => *self = Self::I64(values.iter().map(|&value| value.into()).collect()),
            Self::I128(values) if values.is_empty() => *self = Self::I64(Vec::new()),
            Self::I64(_) | Self::I128(_) => {}
        }
        if let Self::I64(values) = self { Some(values) } else { None }
    }

    /// The values as 128-bit integers to append to.
    #[allow(clippy::useless_conversion)]
    pub(crate) fn widest(&mut self) -> &mut Vec<i128> {
        if !matches!(self, Self::I128(_)) {
            *self = Self::I128(for_integers!(self.as_values(), it => it.iter().map(|&value| value.into()).collect()));
        }
        if let Self::I128(values) = self { values } else { unreachable!("it was just made so") }
    }
}

fn extend_narrow<T: Copy + Into<i16> + Into<i32> + Into<i64> + Into<i128>>(own: &mut IntegerBuffer, values: &[T]) {
    match own {
        IntegerBuffer::I16(own) => own.extend(values.iter().map(|&value| Into::<i16>::into(value))),
        IntegerBuffer::I32(own) => own.extend(values.iter().map(|&value| Into::<i32>::into(value))),
        IntegerBuffer::I64(own) => own.extend(values.iter().map(|&value| Into::<i64>::into(value))),
        IntegerBuffer::I128(own) => own.extend(values.iter().map(|&value| Into::<i128>::into(value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_widen_and_keep_their_values() {
        let mut numbers = IntegerBuffer::I64(Vec::new()).of_same_width();
        numbers.medium().unwrap().extend([1, -2, 70_000]);
        numbers.wide().unwrap().push(i64::MIN);
        assert!(numbers.medium().is_none());
        assert_eq!(numbers.as_values(), Integers::I64(&[1, -2, 70_000, i64::MIN]));
        for values in [Integers::I8(&[5]), Integers::I128(&[i128::MAX]), Integers::I16(&[6]), Integers::I32(&[7])] {
            numbers.extend(&values);
        }
        let all = [1, -2, 70_000, i64::MIN.into(), 5, i128::MAX, 6, 7];
        assert_eq!(numbers.as_values(), Integers::I128(&all));
        numbers.clear();
        assert_eq!(numbers.as_values(), Integers::I128(&[]));
        let mut numbers = IntegerBuffer::I16(vec![1]);
        numbers.extend(&Integers::I32(&[-2]));
        assert_eq!(numbers.as_values(), Integers::I32(&[1, -2]));
    }
}
