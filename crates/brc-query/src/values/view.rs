//! Access to the rows of any column.

use crate::runtime::memory::Allowance;
use crate::values::error::{BatchError, EvalError};
use crate::values::text::{Text, push_text};
use brc_core::batch::codes_of;
use brc_core::{
    Array, Bitmap, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, StringBuffer, Value,
};
use brc_kernels::arithmetic;
use brc_kernels::cpu::Level;
use brc_kernels::filter::words;
use std::borrow::Cow;

/// Some rows of a column, with its strings written out.
pub(crate) fn gathered(logical_type: LogicalType, column: &Column<'_>, rows: &[u32]) -> Result<Array, EvalError> {
    let view = View::of(column)?;
    Ok(Array::of(logical_type, rows.iter().map(|&row| view.get(row as usize)))?)
}

/// The rows of a column, each at hand by its number.
pub(crate) struct View<'a> {
    pub(crate) data: ViewData<'a>,
    validity: Option<Bitmap<'a>>,
}

pub(crate) enum ViewData<'a> {
    Narrow(Cow<'a, [i64]>),
    Wide(&'a [i128]),
    Floats(&'a [f64]),
    Strings(ByteStrings<'a>),
    Codes(Cow<'a, [u32]>, &'a Dictionary),
}

impl<'a> View<'a> {
    /// A view of a column, of which all codes that count are checked to be in its dictionary.
    pub(crate) fn of(column: &Column<'a>) -> Result<Self, BatchError> {
        fn widened<T: Copy + Into<i64>>(values: &[T]) -> ViewData<'static> {
            ViewData::Narrow(Cow::Owned(arithmetic::widened(Level::best(), values)))
        }
        let data = match column.data {
            Data::Integers(Integers::I8(values)) => widened(values),
            Data::Integers(Integers::I16(values)) => widened(values),
            Data::Integers(Integers::I32(values)) => widened(values),
            Data::Integers(Integers::I64(values)) => ViewData::Narrow(Cow::Borrowed(values)),
            Data::Integers(Integers::I128(values)) => ViewData::Wide(values),
            Data::Floats(values) => ViewData::Floats(values),
            Data::Bytes(strings) => ViewData::Strings(strings),
            Data::Codes { codes, dictionary } => ViewData::Codes(Cow::Borrowed(codes), dictionary),
            Data::Runs { dictionary, .. } => {
                let mut codes = Vec::new();
                codes_of(column, &mut codes);
                ViewData::Codes(Cow::Owned(codes), dictionary)
            }
        };
        let view = Self { data, validity: column.validity.filter(|validity| validity.count_nulls() > 0) };
        if let ViewData::Codes(codes, dictionary) = &view.data {
            let known = |(row, &code): (usize, &u32)| (code as usize) < dictionary.len() || !view.is_valid(row);
            if !codes.iter().enumerate().all(known) {
                return Err(BatchError("a code is not in its dictionary"));
            }
        }
        Ok(view)
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.validity.is_none_or(|validity| validity.get(row))
    }

    /// The value of a row; `None` if it is null.
    pub(crate) fn get(&self, row: usize) -> Option<Value<'_>> {
        self.is_valid(row).then(|| match &self.data {
            ViewData::Narrow(values) => Value::Integer(values[row].into()),
            ViewData::Wide(values) => Value::Integer(values[row]),
            ViewData::Floats(values) => Value::Float(values[row]),
            ViewData::Strings(_) | ViewData::Codes(..) => Value::Bytes(self.bytes(row)),
        })
    }

    /// The integer of a row that has one.
    pub(crate) fn integer(&self, row: usize) -> i128 {
        match &self.data {
            ViewData::Narrow(values) => values[row].into(),
            ViewData::Wide(values) => values[row],
            ViewData::Floats(_) | ViewData::Strings(_) | ViewData::Codes(..) => 0,
        }
    }

    /// The same, where it fits 64 bits.
    pub(crate) fn narrow(&self, row: usize) -> i64 {
        match &self.data {
            ViewData::Narrow(values) => values[row],
            ViewData::Wide(values) => values[row] as i64,
            ViewData::Floats(_) | ViewData::Strings(_) | ViewData::Codes(..) => 0,
        }
    }

    /// The float of a row that has one.
    pub(crate) fn float(&self, row: usize) -> f64 {
        match &self.data {
            ViewData::Floats(values) => values[row],
            ViewData::Narrow(_) | ViewData::Wide(_) | ViewData::Strings(_) | ViewData::Codes(..) => 0.0,
        }
    }

    /// The string of a row that has one.
    pub(crate) fn bytes(&self, row: usize) -> &[u8] {
        match &self.data {
            ViewData::Strings(strings) => strings.get(row),
            ViewData::Codes(codes, dictionary) => dictionary.get(codes[row]),
            ViewData::Narrow(_) | ViewData::Wide(_) | ViewData::Floats(_) => &[],
        }
    }
}

/// The rows for which a function is computed: those where no argument is null.
pub(crate) struct Rows<'a> {
    pub(crate) count: usize,
    valid: Option<Bitmap<'a>>,
    allowance: Allowance,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(count: usize, valid: Option<Bitmap<'a>>, allowance: Allowance) -> Self {
        Self { count, valid, allowance }
    }

    pub(crate) fn is_valid(&self, row: usize) -> bool {
        self.valid.is_none_or(|valid| valid.get(row))
    }

    pub(crate) fn are_all_valid(&self) -> bool {
        self.valid.is_none_or(|valid| valid.count_nulls() == 0)
    }

    /// Integers of up to 64 bits, row by row.
    pub(crate) fn narrow(&self, mut of: impl FnMut(usize) -> Result<i64, EvalError>) -> Result<Array, EvalError> {
        let value = |row| if self.is_valid(row) { of(row) } else { Ok(0) };
        Ok((0..self.count).map(value).collect::<Result<Vec<_>, _>>()?.into())
    }

    /// Truths, row by row.
    pub(crate) fn truths(&self, mut of: impl FnMut(usize) -> bool) -> Result<Array, EvalError> {
        let value = |row| i8::from(self.is_valid(row) && of(row));
        Ok((0..self.count).map(value).collect::<Vec<_>>().into())
    }

    /// Integers of a type, row by row, which must lie within its bounds.
    pub(crate) fn integers(
        &self,
        logical_type: LogicalType,
        mut of: impl FnMut(usize) -> Result<Option<i128>, EvalError>,
    ) -> Result<Array, EvalError> {
        if !logical_type.fits_64_bits() {
            return self.values(logical_type, |row| Ok(of(row)?.map(Value::Integer)));
        }
        let mut valid = vec![u64::MAX; words(self.count)];
        let values = self.narrow(|row| {
            Ok(match of(row)? {
                Some(value) => value as i64,
                None => {
                    valid[row / 64] &= !(1 << (row % 64));
                    0
                }
            })
        })?;
        Ok(Array { validity: BitmapBuffer::of_words(&valid, self.count), ..values })
    }

    /// Floats, row by row.
    pub(crate) fn floats(&self, mut of: impl FnMut(usize) -> f64) -> Result<Array, EvalError> {
        let value = |row| if self.is_valid(row) { of(row) } else { 0.0 };
        Ok((0..self.count).map(value).collect::<Vec<_>>().into())
    }

    /// Strings, row by row: what is appended.
    pub(crate) fn strings(&self, mut of: impl FnMut(usize, &mut Text<'_>)) -> Result<Array, EvalError> {
        let mut strings = StringBuffer::default();
        for row in 0..self.count {
            push_text(&mut strings, self.allowance, |out| {
                if self.is_valid(row) {
                    of(row, out);
                }
            })?;
        }
        Ok(strings.into())
    }

    /// Values of a type, row by row, which `None` makes null.
    pub(crate) fn values<'v>(
        &self,
        logical_type: LogicalType,
        mut of: impl FnMut(usize) -> Result<Option<Value<'v>>, EvalError>,
    ) -> Result<Array, EvalError> {
        let value = |row| if self.is_valid(row) { of(row) } else { Ok(None) };
        let values = (0..self.count).map(value).collect::<Result<Vec<_>, _>>()?;
        Ok(Array::of(logical_type, values)?)
    }
}

/// The rows that are valid in both.
pub(crate) fn both_valid(rows: usize, one: Option<Bitmap<'_>>, other: Option<Bitmap<'_>>) -> BitmapBuffer {
    match (one, other) {
        (Some(one), Some(other)) => {
            let words: Vec<u64> = one.words().zip(other.words()).map(|((one, _), (other, _))| one & other).collect();
            BitmapBuffer::of_words(&words, rows)
        }
        (one, other) => {
            let mut both = BitmapBuffer::default();
            both.extend(one.or(other), rows);
            both
        }
    }
}
