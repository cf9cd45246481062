//! 96-bit timestamps, which Hive, Impala and Spark write: a Julian day and the nanoseconds within it.
//!
//! Their range exceeds that of any 64-bit timestamp, and the footer has no statistics of them. So the unit of a column
//! depends on its values: microseconds cover every realistic year, but not single nanoseconds. A value that the unit
//! cannot hold is an error when the row is read.

use super::page::{DATA_PAGE_V2, DICTIONARY_PAGE, PLAIN_DICTIONARY, PageHeader, Pages, RLE, RLE_DICTIONARY};
use super::row_group::Chunk;
use crate::columnar::Fault;
use crate::input_file::InputFile;
use arrow_array::types::{
    ArrowPrimitiveType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, PrimitiveArray};
use brc_core::{ReadAt, TimeUnit};
use std::io;
use std::sync::Arc;

/// The bytes of a value.
pub(super) const BYTES: i32 = 12;

/// The Julian day of 1970-01-01.
const EPOCH: i64 = 2_440_588;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;

/// A value of [`BYTES`] as nanoseconds since 1970-01-01; `None` if it has a different length.
fn nanos(value: &[u8]) -> Option<i128> {
    let (nanos, day) = value.split_first_chunk()?;
    let day = i32::from_le_bytes(day.try_into().ok()?);
    Some(i128::from(i64::from(day) - EPOCH) * NANOS_PER_DAY + i128::from(i64::from_le_bytes(*nanos)))
}

/// Values as timestamps of a unit; `row` is the position of the first one in its row group, for messages.
///
/// # Errors
/// If the unit cannot hold a value exactly.
pub(super) fn timestamps(values: &FixedSizeBinaryArray, unit: TimeUnit, row: usize) -> Result<ArrayRef, Fault> {
    match unit {
        TimeUnit::Second => in_unit::<TimestampSecondType>(values, unit, row),
        TimeUnit::Millisecond => in_unit::<TimestampMillisecondType>(values, unit, row),
        TimeUnit::Microsecond => in_unit::<TimestampMicrosecondType>(values, unit, row),
        TimeUnit::Nanosecond => in_unit::<TimestampNanosecondType>(values, unit, row),
    }
}

fn in_unit<T: ArrowPrimitiveType<Native = i64>>(
    values: &FixedSizeBinaryArray,
    unit: TimeUnit,
    row: usize,
) -> Result<ArrayRef, Fault> {
    let nanos_per_unit = NANOS_PER_SECOND / i128::from(unit.per_second());
    let value = |index: usize| {
        if values.is_null(index) {
            return Ok(0);
        }
        let nanos = nanos(values.value(index)).ok_or_else(|| Fault::corrupt("a timestamp does not have 96 bits"))?;
        let (value, rest) = (nanos.div_euclid(nanos_per_unit), nanos.rem_euclid(nanos_per_unit));
        match i64::try_from(value) {
            Ok(value) if rest == 0 => Ok(value),
            _ => Err(Fault::unsupported(format!(
                "row {}: the timestamp {} s after 1970-01-01 is no timestamp({}), the type of the column's other values",
                row + index,
                seconds(nanos),
                unit.symbol()
            ))),
        }
    };
    let timestamps = (0..values.len()).map(value).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(PrimitiveArray::<T>::new(timestamps.into(), values.nulls().cloned())))
}

/// Nanoseconds as decimal seconds, with all digits.
fn seconds(nanos: i128) -> String {
    let (sign, nanos) = (if nanos < 0 { "-" } else { "" }, nanos.unsigned_abs());
    let per_second = NANOS_PER_SECOND.unsigned_abs();
    format!("{sign}{}.{:09}", nanos / per_second, nanos % per_second)
}

/// The unit for a column with these chunks: nanoseconds if a value needs them, else microseconds.
///
/// # Errors
/// If the file cannot be read. Damage is reported when the rows are read.
pub(super) fn unit<'c>(
    file: &InputFile,
    chunks: impl Iterator<Item = &'c Chunk>,
    is_optional: bool,
) -> io::Result<TimeUnit> {
    let mut pages = Pages::default();
    for chunk in chunks {
        let stored = pages.start(chunk.stored, chunk.unpacked, chunk.codec, chunk.is_padded.then_some(chunk.rows));
        if file.read_full_at(stored, chunk.start)? < chunk.stored {
            break;
        }
        if has_nanos(&mut pages, is_optional).unwrap_or(false) {
            return Ok(TimeUnit::Nanosecond);
        }
    }
    Ok(TimeUnit::Microsecond)
}

/// Whether a value of a column chunk is not a whole number of microseconds. Pages of codes need not be read, only the
/// dictionary.
fn has_nanos(pages: &mut Pages, is_optional: bool) -> Result<bool, Fault> {
    let is_coded = |header: &PageHeader| matches!(header.encoding, RLE_DICTIONARY | PLAIN_DICTIONARY);
    while let Some(header) = pages.next_unless_skipped(is_coded)? {
        let start = match header.kind {
            DICTIONARY_PAGE => 0,
            _ if is_coded(&header) => continue,
            DATA_PAGE_V2 => header.level_bytes.iter().sum(),
            _ if !is_optional => 0,
            _ if header.level_encoding == RLE => match pages.body().first_chunk() {
                Some(length) => 4 + u32::from_le_bytes(*length) as usize,
                None => 0,
            },
            _ => header.values.div_ceil(8),
        };
        let values = pages.body().get(start..).unwrap_or_default().chunks_exact(BYTES as usize);
        if values.filter_map(nanos).any(|nanos| nanos % 1000 != 0) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;

    fn value(day: i64, nanos: i64) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&nanos.to_le_bytes());
        bytes[8..].copy_from_slice(&((day + EPOCH) as i32).to_le_bytes());
        bytes
    }

    fn converted(values: &[Option<[u8; 12]>], unit: TimeUnit) -> Result<ArrayRef, Fault> {
        let values = FixedSizeBinaryArray::try_from_sparse_iter_with_size(values.iter().copied(), BYTES).unwrap();
        timestamps(&values, unit, 100)
    }

    #[test]
    fn values_of_all_years_are_exact() {
        // 0001-01-01, 9999-12-31 with its last microsecond, and a time before the epoch.
        let values = [
            Some(value(-719_162, 0)),
            None,
            Some(value(2_932_896, 86_399_999_999_000)),
            Some(value(-1, 1_000)),
            Some(value(i64::from(i32::MAX) - EPOCH, 0)),
        ];
        let micros = converted(&values[..4], TimeUnit::Microsecond).unwrap();
        let micros = micros.as_primitive::<TimestampMicrosecondType>();
        assert_eq!(micros.values(), &[-62_135_596_800_000_000, 0, 253_402_300_799_999_999, -86_399_999_999]);
        assert!(micros.is_null(1) && micros.null_count() == 1);
        let nanos = converted(&values[3..4], TimeUnit::Nanosecond).unwrap();
        assert_eq!(nanos.as_primitive::<TimestampNanosecondType>().values(), &[-86_399_999_999_000]);
        for (values, unit) in [(&values[..1], TimeUnit::Nanosecond), (&values[4..], TimeUnit::Microsecond)] {
            assert!(matches!(converted(values, unit), Err(Fault::Unsupported(_))), "{unit:?}");
        }
    }

    #[test]
    fn values_beyond_the_unit_are_reported_with_their_row() {
        let Err(Fault::Unsupported(reason)) = converted(&[None, Some(value(-1, 1))], TimeUnit::Microsecond) else {
            panic!("converted")
        };
        assert!(reason.starts_with("row 101: the timestamp -86399.999999999 s after 1970-01-01 "), "{reason}");
    }
}
