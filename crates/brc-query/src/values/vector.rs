//! Columns that expressions compute, and access to the rows of any column.

use crate::runtime::memory::Allowance;
use crate::values::error::{BatchError, EvalError};
use brc_core::batch::codes_of;
use brc_core::{
    Bitmap, BitmapBuffer, ByteStrings, Column, Data, Dictionary, Integers, LogicalType, PhysicalType, Value,
};
use brc_kernels::arithmetic;
use brc_kernels::cpu::Level;
use brc_kernels::filter::words;
use std::borrow::Cow;
use std::sync::Arc;

/// A column of a batch that owns its memory.
#[derive(Debug, Clone)]
pub(crate) struct Vector {
    pub(crate) values: Values,
    pub(crate) validity: BitmapBuffer,
}

/// Its values; rows that are null have any.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// 1 is true, 0 false.
    Truths(Vec<i8>),
    Short(Vec<i32>),
    Narrow(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Strings),
    Codes {
        codes: Vec<u32>,
        dictionary: Arc<Dictionary>,
    },
}

/// Strings in sequence.
#[derive(Debug, Clone)]
pub(crate) struct Strings {
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    /// Those that lie from each of the offsets, which ascend from 0, to the next.
    pub(crate) fn of_parts(offsets: Vec<i32>, bytes: Vec<u8>) -> Self {
        Self { offsets, bytes }
    }

    /// All of them.
    pub(crate) fn strings(&self) -> ByteStrings<'_> {
        ByteStrings::new(&self.offsets, &self.bytes)
    }

    /// Adds what `write` appends.
    pub(crate) fn push(&mut self, allowance: Allowance, write: impl FnOnce(&mut Text<'_>)) -> Result<(), EvalError> {
        let mut text = Text { bytes: &mut self.bytes, allowance, fault: None };
        write(&mut text);
        match text.fault {
            Some(fault) => Err(fault),
            None => {
                self.offsets.push(i32::try_from(self.bytes.len()).map_err(|_| EvalError::TooLarge(None))?);
                Ok(())
            }
        }
    }
}

/// The strings of a batch while another is written. What would be too much is not appended, nor is anything after
/// it.
pub(crate) struct Text<'a> {
    bytes: &'a mut Vec<u8>,
    allowance: Allowance,
    fault: Option<EvalError>,
}

impl Text<'_> {
    pub(crate) fn extend_from_slice(&mut self, more: &[u8]) {
        if self.has_room_for(more.len()) {
            self.bytes.extend_from_slice(more);
        }
    }

    /// Appends bytes that are as many as `length`.
    pub(crate) fn extend(&mut self, length: usize, more: impl Iterator<Item = u8>) {
        if self.has_room_for(length) {
            self.bytes.extend(more);
        }
    }

    /// Appends the text form of a value.
    pub(crate) fn push_value(&mut self, value: Value<'_>, logical_type: LogicalType) {
        match value {
            Value::Bytes(bytes) => self.extend_from_slice(bytes),
            // Numbers have few digits.
            Value::Integer(_) | Value::Float(_) if self.has_room_for(0) => value.write(logical_type, self.bytes),
            Value::Integer(_) | Value::Float(_) => {}
        }
    }

    /// Whether this many bytes may be appended; room is made for them.
    pub(crate) fn has_room_for(&mut self, more: usize) -> bool {
        let (length, capacity) = (self.bytes.len(), self.bytes.capacity());
        if self.fault.is_some() || more <= capacity - length {
            return self.fault.is_none();
        }
        let needed = length.saturating_add(more);
        let grown = needed.max(capacity.saturating_mul(2)).min(MOST_BYTES);
        if needed > MOST_BYTES {
            self.fault = Some(EvalError::TooLarge(None));
        } else if !self.allowance.allows(capacity, grown) {
            self.fault = Some(EvalError::TooLarge(Some(self.allowance.0)));
        } else {
            self.bytes.reserve_exact(grown - length);
        }
        self.fault.is_none()
    }
}

/// Offsets of strings have 31 bits.
const MOST_BYTES: usize = i32::MAX as usize;

impl From<Values> for Vector {
    fn from(values: Values) -> Self {
        Self { values, validity: BitmapBuffer::default() }
    }
}

impl Vector {
    /// A column of values of that type, which `None` makes null.
    pub(crate) fn of<'a>(
        logical_type: LogicalType,
        values: impl IntoIterator<Item = Option<Value<'a>>>,
    ) -> Result<Self, EvalError> {
        let mut validity = BitmapBuffer::default();
        let values = values.into_iter().inspect(|value| validity.push(value.is_some()));
        let values = match logical_type.physical() {
            PhysicalType::Integers if logical_type.fits_64_bits() => {
                Values::Narrow(values.map(|value| integer(value) as i64).collect())
            }
            PhysicalType::Integers => Values::Wide(values.map(integer).collect()),
            PhysicalType::Floats => Values::Floats(values.map(float).collect()),
            PhysicalType::Bytes => {
                let mut strings = Strings::default();
                for value in values {
                    strings.push(Allowance::default(), |out| {
                        if let Some(Value::Bytes(bytes)) = value {
                            out.extend_from_slice(bytes);
                        }
                    })?;
                }
                Values::Strings(strings)
            }
        };
        Ok(Self { values, validity })
    }

    /// The same value in this many rows.
    pub(crate) fn repeat(logical_type: LogicalType, value: Option<Value<'_>>, rows: usize) -> Result<Self, EvalError> {
        Ok(match value {
            Some(Value::Integer(value)) if logical_type.fits_64_bits() => {
                Self::from(Values::Narrow(vec![value as i64; rows]))
            }
            Some(Value::Float(value)) => Self::from(Values::Floats(vec![value; rows])),
            Some(Value::Bytes(bytes)) => {
                Self::from(Values::Codes { codes: vec![0; rows], dictionary: Arc::new([bytes].into_iter().collect()) })
            }
            Some(Value::Integer(_)) | None => Self::of(logical_type, std::iter::repeat_n(value, rows))?,
        })
    }

    /// The column as batches have it.
    pub(crate) fn column(&self) -> Column<'_> {
        let data = match &self.values {
            Values::Truths(values) => Data::Integers(Integers::I8(values)),
            Values::Short(values) => Data::Integers(Integers::I32(values)),
            Values::Narrow(values) => Data::Integers(Integers::I64(values)),
            Values::Wide(values) => Data::Integers(Integers::I128(values)),
            Values::Floats(values) => Data::Floats(values),
            Values::Strings(strings) => Data::Bytes(strings.strings()),
            Values::Codes { codes, dictionary } => Data::Codes { codes, dictionary },
        };
        Column { data, validity: self.validity.bitmap() }
    }

    /// Some rows of a column.
    pub(crate) fn gather(logical_type: LogicalType, column: &Column<'_>, rows: &[u32]) -> Result<Self, EvalError> {
        let view = View::of(column)?;
        Self::of(logical_type, rows.iter().map(|&row| view.get(row as usize)))
    }
}

fn integer(value: Option<Value<'_>>) -> i128 {
    match value {
        Some(Value::Integer(value)) => value,
        _ => 0,
    }
}

fn float(value: Option<Value<'_>>) -> f64 {
    match value {
        Some(Value::Float(value)) => value,
        _ => 0.0,
    }
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
    pub(crate) fn narrow(&self, mut of: impl FnMut(usize) -> Result<i64, EvalError>) -> Result<Vector, EvalError> {
        let value = |row| if self.is_valid(row) { of(row) } else { Ok(0) };
        Ok(Vector::from(Values::Narrow((0..self.count).map(value).collect::<Result<_, _>>()?)))
    }

    /// Truths, row by row.
    pub(crate) fn truths(&self, mut of: impl FnMut(usize) -> bool) -> Result<Vector, EvalError> {
        let value = |row| i8::from(self.is_valid(row) && of(row));
        Ok(Vector::from(Values::Truths((0..self.count).map(value).collect())))
    }

    /// Integers of a type, row by row, which must lie within its bounds.
    pub(crate) fn integers(
        &self,
        logical_type: LogicalType,
        mut of: impl FnMut(usize) -> Result<Option<i128>, EvalError>,
    ) -> Result<Vector, EvalError> {
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
        Ok(Vector { validity: BitmapBuffer::of_words(&valid, self.count), ..values })
    }

    /// Floats, row by row.
    pub(crate) fn floats(&self, mut of: impl FnMut(usize) -> f64) -> Result<Vector, EvalError> {
        let value = |row| if self.is_valid(row) { of(row) } else { 0.0 };
        Ok(Vector::from(Values::Floats((0..self.count).map(value).collect())))
    }

    /// Strings, row by row: what is appended.
    pub(crate) fn strings(&self, mut of: impl FnMut(usize, &mut Text<'_>)) -> Result<Vector, EvalError> {
        let mut strings = Strings::default();
        for row in 0..self.count {
            strings.push(self.allowance, |out| {
                if self.is_valid(row) {
                    of(row, out);
                }
            })?;
        }
        Ok(Vector::from(Values::Strings(strings)))
    }

    /// Values of a type, row by row, which `None` makes null.
    pub(crate) fn values<'v>(
        &self,
        logical_type: LogicalType,
        mut of: impl FnMut(usize) -> Result<Option<Value<'v>>, EvalError>,
    ) -> Result<Vector, EvalError> {
        let value = |row| if self.is_valid(row) { of(row) } else { Ok(None) };
        let values = (0..self.count).map(value).collect::<Result<Vec<_>, _>>()?;
        Vector::of(logical_type, values)
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
