//! An owned column of an answer.

use crate::values::error::EvalError;
use crate::values::float_key::float_key;
use brc_core::{BitmapBuffer, ByteStrings, Column, Dictionary, Integers, LogicalType, PhysicalType, Value, batch};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::ops::Range;

/// A growing column of values and their validity.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Cells {
    data: Data,
    validity: BitmapBuffer,
    /// The largest magnitude of integers that need more than 64 bits.
    largest: u128,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Data {
    Integers(Vec<i64>),
    /// Integers of a type that needs more than 64 bits.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Bytes {
        ends: Vec<usize>,
        bytes: Vec<u8>,
    },
    /// Strings as codes of a dictionary. They are [written out](Cells::write_out) before they go to a file.
    #[serde(skip)]
    Codes {
        codes: Vec<u32>,
        names: Dictionary,
    },
}

/// One more than the largest number of as many digits as there can be.
const DIGITS_LIMIT: u128 = 10u128.pow(LogicalType::MAX_PRECISION as u32);

impl Cells {
    /// No values of that type.
    pub(crate) fn new(logical_type: LogicalType) -> Self {
        Self::with_capacity(logical_type, 0)
    }

    /// The same, with room for this many.
    pub(crate) fn with_capacity(logical_type: LogicalType, rows: usize) -> Self {
        let data = match logical_type.physical() {
            PhysicalType::Integers if logical_type.fits_64_bits() => Data::Integers(Vec::with_capacity(rows)),
            PhysicalType::Integers => Data::Wide(Vec::with_capacity(rows)),
            PhysicalType::Floats => Data::Floats(Vec::with_capacity(rows)),
            PhysicalType::Bytes => Data::Bytes { ends: Vec::with_capacity(rows), bytes: Vec::new() },
        };
        // Decimals of few digits have been stored with more of them.
        let largest = if logical_type == LogicalType::Uuid { u128::MAX } else { DIGITS_LIMIT - 1 };
        Self { data, validity: BitmapBuffer::default(), largest }
    }

    /// Adds a value; `None` is null. Returns whether it is within what the type holds.
    pub(crate) fn push(&mut self, value: Option<Value<'_>>) -> bool {
        self.write_out();
        self.validity.push(value.is_some());
        let mut fits = true;
        match (&mut self.data, value) {
            (Data::Integers(values), Some(Value::Integer(value))) => {
                fits = i64::try_from(value).is_ok();
                values.push(value as i64);
            }
            (Data::Integers(values), _) => values.push(0),
            (Data::Wide(values), Some(Value::Integer(value))) => {
                fits = value.unsigned_abs() <= self.largest;
                values.push(value);
            }
            (Data::Wide(values), _) => values.push(0),
            (Data::Floats(values), Some(Value::Float(value))) => values.push(value),
            (Data::Floats(values), _) => values.push(0.0),
            (Data::Bytes { ends, bytes }, value) => {
                if let Some(Value::Bytes(value)) = value {
                    bytes.extend_from_slice(value);
                }
                ends.push(bytes.len());
            }
            (Data::Codes { .. }, _) => unreachable!("they were written out"),
        }
        fits
    }

    /// Adds integers of up to 64 bits, whose nulls [`Cells::extend_validity`] sets next.
    ///
    /// # Panics
    /// If the column is of another type, as below.
    pub(crate) fn extend_integers(&mut self, values: impl Iterator<Item = i64>) {
        match &mut self.data {
            Data::Integers(known) => known.extend(values),
            Data::Wide(known) => known.extend(values.map(i128::from)),
            Data::Floats(_) | Data::Bytes { .. } | Data::Codes { .. } => unreachable!("a column of integers"),
        }
    }

    /// The same for floats.
    pub(crate) fn extend_floats(&mut self, values: impl Iterator<Item = f64>) {
        match &mut self.data {
            Data::Floats(known) => known.extend(values),
            Data::Integers(_) | Data::Wide(_) | Data::Bytes { .. } | Data::Codes { .. } => {
                unreachable!("a column of floats")
            }
        }
    }

    /// The same for strings, each of which `write` appends.
    pub(crate) fn extend_strings(&mut self, rows: usize, mut write: impl FnMut(usize, &mut Vec<u8>)) {
        self.extend_texts(|ends, bytes| {
            ends.extend((0..rows).map(|row| {
                write(row, bytes);
                bytes.len()
            }));
        });
    }

    /// The same for strings that `write` appends, with where each ends.
    pub(crate) fn extend_texts(&mut self, write: impl FnOnce(&mut Vec<usize>, &mut Vec<u8>)) {
        self.write_out();
        let Data::Bytes { ends, bytes } = &mut self.data else { unreachable!("a column of strings") };
        write(ends, bytes);
    }

    /// The same for strings that are codes of a dictionary. Those of nulls may be any.
    pub(crate) fn extend_codes(&mut self, codes: Vec<u32>, names: &Dictionary) {
        match &mut self.data {
            Data::Bytes { ends, .. } if ends.is_empty() => {
                self.data = Data::Codes { codes, names: names.clone() };
            }
            _ => self.extend_strings(codes.len(), |row, out| {
                if (codes[row] as usize) < names.len() {
                    names.append(codes[row], out);
                }
            }),
        }
    }

    /// Replaces codes by their strings.
    pub(crate) fn write_out(&mut self) {
        let Data::Codes { codes, names } = &mut self.data else { return };
        let (codes, names) = (std::mem::take(codes), names.clone());
        self.data = Data::Bytes { ends: Vec::with_capacity(codes.len()), bytes: Vec::new() };
        let valid = std::mem::take(&mut self.validity);
        let is_valid = |row| valid.bitmap().is_none_or(|valid| valid.get(row));
        self.extend_strings(codes.len(), |row, out| {
            if is_valid(row) {
                names.append(codes[row], out);
            }
        });
        self.validity = valid;
    }

    /// Sets the validity of the next rows; all are valid unless `any_null`.
    pub(crate) fn extend_validity(&mut self, rows: usize, is_valid: impl FnMut(usize) -> bool, any_null: bool) {
        match any_null {
            true => (0..rows).map(is_valid).for_each(|valid| self.validity.push(valid)),
            false => self.validity.push_values(rows),
        }
    }

    /// The value of a row; `None` if it is null.
    pub(crate) fn get(&self, row: usize) -> Option<Value<'_>> {
        if self.is_null(row) {
            return None;
        }
        Some(match &self.data {
            Data::Integers(values) => Value::Integer(values[row].into()),
            Data::Wide(values) => Value::Integer(values[row]),
            Data::Floats(values) => Value::Float(values[row]),
            Data::Bytes { ends, bytes } => {
                let start = if row == 0 { 0 } else { ends[row - 1] };
                Value::Bytes(&bytes[start..ends[row]])
            }
            Data::Codes { codes, names } => Value::Bytes(names.get(codes[row])),
        })
    }

    /// Some rows as a column of a batch, whose offsets of strings are `offsets`.
    pub(crate) fn column<'a>(&'a self, rows: Range<usize>, offsets: &'a mut Vec<i32>) -> Result<Column<'a>, EvalError> {
        let data = match &self.data {
            Data::Integers(values) => batch::Data::Integers(Integers::I64(&values[rows.clone()])),
            Data::Wide(values) => batch::Data::Integers(Integers::I128(&values[rows.clone()])),
            Data::Floats(values) => batch::Data::Floats(&values[rows.clone()]),
            Data::Codes { codes, names } => batch::Data::Codes { codes: &codes[rows.clone()], dictionary: names },
            Data::Bytes { ends, bytes } => {
                let start = rows.start.checked_sub(1).map_or(0, |before| ends[before]);
                let ends = &ends[rows.clone()];
                let end = ends.last().map_or(start, |end| *end);
                i32::try_from(end - start).map_err(|_| EvalError::TooLarge(None))?;
                offsets.clear();
                offsets.push(0);
                offsets.extend(ends.iter().map(|end| (end - start) as i32));
                batch::Data::Bytes(ByteStrings::new(offsets, &bytes[start..end]))
            }
        };
        Ok(Column { data, validity: self.validity.bitmap().map(|validity| validity.slice(rows)) })
    }

    /// The approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.data {
            Data::Integers(values) => size_of_val(values.as_slice()),
            Data::Wide(values) => size_of_val(values.as_slice()),
            Data::Floats(values) => size_of_val(values.as_slice()),
            Data::Bytes { ends, bytes } => size_of_val(ends.as_slice()) + bytes.len(),
            Data::Codes { codes, .. } => size_of_val(codes.as_slice()),
        }
    }

    /// The rows of these numbers.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        fn picked<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
            rows.iter().map(|&row| values[row as usize]).collect()
        }
        let data = match &self.data {
            Data::Integers(values) => Data::Integers(picked(values, rows)),
            Data::Wide(values) => Data::Wide(picked(values, rows)),
            Data::Floats(values) => Data::Floats(picked(values, rows)),
            Data::Codes { codes, names } => Data::Codes { codes: picked(codes, rows), names: names.clone() },
            Data::Bytes { ends, bytes } => {
                let mut taken = Vec::with_capacity(if rows.len() == ends.len() { bytes.len() } else { 0 });
                let string = |row: usize| row.checked_sub(1).map_or(0, |before| ends[before])..ends[row];
                let end = |&row: &u32| {
                    taken.extend_from_slice(&bytes[string(row as usize)]);
                    taken.len()
                };
                Data::Bytes { ends: rows.iter().map(end).collect(), bytes: taken }
            }
        };
        let mut taken = Self { data, validity: BitmapBuffer::default(), largest: self.largest };
        taken.extend_validity(rows.len(), |row| !self.is_null(rows[row] as usize), self.validity.nulls() > 0);
        taken
    }

    /// Compares a row with a row of a column of the same type; nulls come first or last whatever the direction.
    pub(crate) fn compare(
        &self,
        row: usize,
        other: &Self,
        other_row: usize,
        descending: bool,
        nulls_first: bool,
    ) -> Ordering {
        let (one, other) = (self.get(row), other.get(other_row));
        let ordering = compare_values(one, other, nulls_first);
        if one.is_none() || other.is_none() {
            return ordering;
        }
        if descending { ordering.reverse() } else { ordering }
    }

    /// Whether this many rows are known to be integers of which each is larger than the one before.
    pub(crate) fn are_increasing(&self, rows: usize) -> bool {
        match (&self.data, self.validity.bitmap()) {
            (Data::Integers(values), None) => values[..rows].is_sorted_by(|one, next| one < next),
            _ => false,
        }
    }

    /// A number that orders rows as [`Cells::compare`] does, as far as it can.
    pub(crate) fn prefix(&self, row: usize, descending: bool, nulls_first: bool) -> u128 {
        let is_wide = matches!(self.data, Data::Wide(_));
        prefix_of(self.get(row), is_wide, descending, nulls_first)
    }

    /// Calls `each` with each of this many rows and its [prefix](Cells::prefix).
    pub(crate) fn each_prefix(
        &self,
        rows: usize,
        descending: bool,
        nulls_first: bool,
        mut each: impl FnMut(usize, u128),
    ) {
        match (&self.data, self.validity.bitmap()) {
            (Data::Integers(values), None) => {
                let prefix = |value: i64| prefix_of(Some(Value::Integer(value.into())), false, descending, nulls_first);
                values[..rows].iter().enumerate().for_each(|(row, &value)| each(row, prefix(value)));
            }
            (Data::Wide(values), None) => {
                let prefix = |value: i128| prefix_of(Some(Value::Integer(value)), true, descending, nulls_first);
                values[..rows].iter().enumerate().for_each(|(row, &value)| each(row, prefix(value)));
            }
            _ => (0..rows).for_each(|row| each(row, self.prefix(row, descending, nulls_first))),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        self.validity.bitmap().is_some_and(|validity| !validity.get(row))
    }
}

/// A number that orders values of one type, as far as it can: integers are wide if 64 bits do not hold all of them.
#[inline]
pub(crate) fn prefix_of(value: Option<Value<'_>>, is_wide: bool, descending: bool, nulls_first: bool) -> u128 {
    let prefix = match value {
        None => return if nulls_first { u128::MIN } else { u128::MAX },
        Some(Value::Integer(value)) if is_wide => value as u128 ^ 1 << 127,
        Some(Value::Integer(value)) => u128::from(value as u64 ^ 1 << 63) << 64,
        Some(Value::Float(value)) => u128::from(float_key(value)) << 64,
        Some(Value::Bytes(bytes)) => {
            let mut first = [0; 16];
            let length = bytes.len().min(16);
            first[..length].copy_from_slice(&bytes[..length]);
            u128::from_be_bytes(first)
        }
    };
    if descending { !prefix } else { prefix }
}

/// How values of one type are ordered.
pub(crate) fn compare_values(one: Option<Value<'_>>, other: Option<Value<'_>>, nulls_first: bool) -> Ordering {
    match (one, other) {
        (Some(Value::Integer(one)), Some(Value::Integer(other))) => one.cmp(&other),
        (Some(Value::Float(one)), Some(Value::Float(other))) => float_key(one).cmp(&float_key(other)),
        (Some(Value::Bytes(one)), Some(Value::Bytes(other))) => one.cmp(other),
        (one, other) if nulls_first => one.is_some().cmp(&other.is_some()),
        (one, other) => one.is_none().cmp(&other.is_none()),
    }
}
