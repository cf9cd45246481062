//! What the columnar encodings of other projects, parquet and arrow, have in common here.
//!
//! Their files come from anywhere, so nothing in them is believed before it was checked; and those that `brc` writes
//! carry checksums where the formats themselves have none, so that damage is never taken for data.

pub(crate) mod footer;
pub(crate) mod part_rows;
pub(crate) mod seal;

use crate::description::{Fact, Facts};
use crate::encoding::unread;
use brc_core::{Error, Field, Integers, LeftOut, LogicalType, Result, Schema, Table};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The most rows of a batch: few enough for the nearest cache.
pub(crate) const WINDOW: usize = 4096;

/// The largest number of digits of a decimal of 64 bits, in both formats. A number of 64 bits may have one more: where
/// one has, the column is stored as integers, and its scale beside it.
pub(crate) const DIGITS: i32 = 18;

/// The key under which the scales of all columns are, if one of them is stored as integers.
pub(crate) const SCALES: &str = "brc.scales";

/// Whether no number from `min` to `max` has too many digits for a decimal.
pub(crate) fn has_digits(min: i64, max: i64) -> bool {
    min.unsigned_abs().max(max.unsigned_abs()) < 10u64.pow(DIGITS as u32)
}

/// The scales of all columns, as text.
pub(crate) fn scales(schema: &Schema) -> String {
    let scale = |logical_type| match logical_type {
        LogicalType::String => String::new(),
        _ => logical_type.scale().to_string(),
    };
    let scales: Vec<_> = schema.fields().iter().map(|field| scale(field.logical_type)).collect();
    scales.join(",")
}

/// The types of columns with the scales that [`scales`] wrote.
pub(crate) fn with_scales<'a>(types: impl Iterator<Item = &'a mut LogicalType>, scales: &str) {
    for (logical_type, scale) in types.zip(scales.split(',')) {
        if let (LogicalType::Int64 | LogicalType::Decimal { .. }, Ok(scale)) = (&logical_type, scale.parse()) {
            *logical_type = LogicalType::number(scale);
        }
    }
}

/// What is said of a column that has a NULL.
pub(crate) const HAS_NULL: &str = "there is a NULL, which brc has no place for yet";

/// The schema of a file with these columns, and others that no table can hold.
///
/// # Errors
/// [`Error::Unsupported`] if they are the columns of no table.
pub(crate) fn schema(path: &Path, fields: Vec<Field>, left_out: Vec<LeftOut>) -> Result<Schema> {
    match left_out.first() {
        Some(column) if fields.is_empty() => Err(unread(path, column)),
        _ => match Schema::new(fields) {
            Ok(schema) => Ok(schema.without(left_out)),
            Err(error) => Err(Error::unsupported(path, error.to_string())),
        },
    }
}

/// What is wrong with some bytes, told by who does not know where they lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// They contradict themselves or the rest of the file.
    Corrupt(Cow<'static, str>),
    /// They are sound, but no table of `brc` can hold them.
    Unsupported(Cow<'static, str>),
}

impl Fault {
    pub(crate) fn corrupt(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Corrupt(reason.into())
    }

    pub(crate) fn unsupported(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Unsupported(reason.into())
    }

    /// The error that it is at a place of a file.
    pub(crate) fn at(self, path: &Path, place: &str) -> Error {
        match self {
            Self::Corrupt(reason) => Error::corrupt(path, place, reason),
            Self::Unsupported(reason) => Error::unsupported(path, format!("{place}: {reason}")),
        }
    }
}

/// What a file of these formats is made of: its writer, its `parts`, and its footer, which begins at `end`.
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
    facts
}

/// Calls into a library that means to return errors but may yet panic on bytes that nobody foresaw.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(Fault::corrupt("the library that decodes it gave up on its content")))
}

/// Decimal values of a batch, in the narrowest width that they came in.
#[derive(Debug)]
pub(crate) enum Numbers {
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
}

impl Numbers {
    pub(crate) fn as_values(&self) -> Integers<'_> {
        match self {
            Self::I16(values) => Integers::I16(values),
            Self::I32(values) => Integers::I32(values),
            Self::I64(values) => Integers::I64(values),
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
        }
    }

    /// The values as 16-bit ones to add others to, if there are no wider ones yet.
    pub(crate) fn narrow(&mut self) -> Option<&mut Vec<i16>> {
        if self.len() == 0 && !matches!(self, Self::I16(_)) {
            *self = Self::I16(Vec::new());
        }
        if let Self::I16(values) = self { Some(values) } else { None }
    }

    /// The values as 32-bit ones to add others to, if there are no wider ones yet.
    pub(crate) fn medium(&mut self) -> Option<&mut Vec<i32>> {
        match self {
            Self::I16(values) => *self = Self::I32(values.iter().map(|&value| value.into()).collect()),
            Self::I64(values) if values.is_empty() => *self = Self::I32(Vec::new()),
            _ => {}
        }
        if let Self::I32(values) = self { Some(values) } else { None }
    }

    /// The values as 64-bit ones to add others to.
    pub(crate) fn wide(&mut self) -> &mut Vec<i64> {
        match self {
            Self::I16(values) => *self = Self::I64(values.iter().map(|&value| value.into()).collect()),
            Self::I32(values) => *self = Self::I64(values.iter().map(|&value| value.into()).collect()),
            Self::I64(_) => {}
        }
        if let Self::I64(values) = self { values } else { unreachable!("it was just made so") }
    }
}

/// Reads a two's-complement big-endian integer of any length, as far as it fits 64 bits.
pub(crate) fn big_endian(bytes: &[u8]) -> Option<i64> {
    // Nearly all have a few bytes more than 64 bits.
    if let Some((rest, last)) = bytes.split_last_chunk() {
        let number = i64::from_be_bytes(*last);
        let fill = (number >> 63) as u8;
        return rest.iter().all(|&byte| byte == fill).then_some(number);
    }
    let (rest, last) = bytes.split_at(bytes.len().saturating_sub(8));
    let sign = last.first().is_some_and(|&byte| byte >= 0x80);
    let fill = if sign { 0xff } else { 0 };
    // Bytes beyond the last eight must only repeat the sign.
    if rest.iter().any(|&byte| byte != fill) {
        return None;
    }
    let mut wide = [fill; 8];
    wide[8 - last.len()..].copy_from_slice(last);
    Some(i64::from_be_bytes(wide))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_endian_integers_of_any_length() {
        assert_eq!(big_endian(&[]), Some(0));
        assert_eq!(big_endian(&[0xff]), Some(-1));
        assert_eq!(big_endian(&[1, 0]), Some(256));
        for value in [0, 1, -1, i64::MIN, i64::MAX] {
            assert_eq!(big_endian(&value.to_be_bytes()), Some(value));
            assert_eq!(big_endian(&i128::from(value).to_be_bytes()), Some(value));
        }
        assert_eq!(big_endian(&(i128::from(i64::MAX) + 1).to_be_bytes()), None);
        assert_eq!(big_endian(&(i128::from(i64::MIN) - 1).to_be_bytes()), None);
    }

    #[test]
    fn numbers_widen_and_keep_their_values() {
        let mut numbers = Numbers::I64(Vec::new());
        numbers.narrow().unwrap().extend([1, -2]);
        numbers.medium().unwrap().push(70_000);
        assert!(numbers.narrow().is_none());
        numbers.wide().push(i64::MIN);
        assert!(numbers.medium().is_none());
        assert_eq!(numbers.as_values(), Integers::I64(&[1, -2, 70_000, i64::MIN]));
        numbers.clear();
        assert!(numbers.narrow().is_some());
    }

    #[test]
    fn panics_become_faults() {
        let fault = guarded(|| -> Result<(), Fault> { std::panic::resume_unwind(Box::new(())) }).unwrap_err();
        assert!(matches!(fault, Fault::Corrupt(_)));
    }
}
