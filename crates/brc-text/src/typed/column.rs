//! One column of the rows that are parsed.

use super::nulls::NullTokens;
use super::parser::ColumnType;
use super::values::{self, Parsed};
use crate::infer::{Seen, is_exact_float};
use crate::rows::Field;
use crate::unquote::unquote;
use brc_core::{
    Bitmap, BitmapBuffer, ByteStrings, Column, Data, Integers, LogicalType, RowFault, Value, decimal as decimals,
};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use brc_kernels::structure::Syntax;
use std::borrow::Cow;

/// How fields become values, for all columns.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) syntax: &'a Syntax,
    pub(super) nulls: &'a NullTokens,
    pub(super) trim: bool,
}

impl Fields<'_> {
    /// The value of a field; `None` if it is null.
    #[inline]
    pub(super) fn value<'f>(&self, field: Field<'f>) -> Option<Cow<'f, [u8]>> {
        if !field.is_quoted && !self.trim {
            return (!self.nulls.contain(field.bytes)).then_some(Cow::Borrowed(field.bytes));
        }
        self.odd_value(field)
    }

    #[cold]
    fn odd_value<'f>(&self, field: Field<'f>) -> Option<Cow<'f, [u8]>> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let mut bytes = field.bytes;
        let is_in_quotes = |bytes: &[u8]| self.syntax.quote().is_some_and(|quote| bytes.first() == Some(&quote));
        if self.trim && !is_in_quotes(bytes) {
            let start = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
            let end = bytes.iter().rposition(|byte| !is_blank(byte)).map_or(start, |last| last + 1);
            bytes = &bytes[start..end];
        }
        let is_closed = bytes.len() > 1 && bytes.last() == bytes.first();
        if !is_in_quotes(bytes) && self.nulls.contain(bytes) {
            return None;
        }
        if !(field.is_quoted || self.trim && is_in_quotes(bytes) && is_closed) {
            return Some(Cow::Borrowed(bytes));
        }
        let mut value = Vec::with_capacity(bytes.len());
        unquote(self.syntax, bytes, &mut value);
        Some(Cow::Owned(value))
    }
}

/// A column that fills up.
pub(super) struct TypedColumn {
    values: Values,
    checks: Checks,
}

enum Values {
    Integers(Vec<i64>),
    /// Those that may not fit 64 bits.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Strings),
}

/// What is known of the values beside them.
struct Checks {
    logical_type: LogicalType,
    nullable: bool,
    validity: BitmapBuffer,
    inference: Option<Inference>,
    /// How many values are written in another way than they stood in the text.
    altered: u64,
}

struct Inference {
    seen: Seen,
    exact: bool,
    /// Whether the type does not hold all values.
    misfits: bool,
}

/// A value that has not the type of its column.
pub(super) struct BadValue {
    /// Its place among those that were taken at once.
    pub(super) row: usize,
    pub(super) fault: RowFault,
}

impl TypedColumn {
    pub(super) fn new(column: &ColumnType) -> Self {
        let mut new = Self {
            values: Values::Integers(Vec::new()),
            checks: Checks {
                logical_type: LogicalType::Int64,
                nullable: true,
                validity: BitmapBuffer::default(),
                inference: None,
                altered: 0,
            },
        };
        new.set_type(column);
        new
    }

    /// Goes on with another type, without rows. Codes keep their meaning.
    pub(super) fn set_type(&mut self, column: &ColumnType) {
        self.clear();
        let checks = &mut self.checks;
        (checks.logical_type, checks.nullable, checks.altered) = (column.logical_type(), column.nullable(), 0);
        checks.inference = match *column {
            ColumnType::Fixed { .. } => None,
            ColumnType::Inferred { seen, exact } => Some(Inference { seen, exact, misfits: false }),
        };
        match (&self.values, checks.logical_type) {
            (Values::Strings(_), LogicalType::String | LogicalType::Binary) => {}
            (_, LogicalType::String | LogicalType::Binary) => self.values = Values::Strings(Strings::default()),
            (_, LogicalType::Float64) => self.values = Values::Floats(Vec::new()),
            (_, narrow) if narrow.fits_64_bits() => self.values = Values::Integers(Vec::new()),
            _ => self.values = Values::Wide(Vec::new()),
        }
    }

    /// Takes fields, one a row.
    pub(super) fn take<'f>(
        &mut self,
        fields: impl Iterator<Item = Field<'f>>,
        how: Fields<'_>,
        bad: &mut Vec<BadValue>,
    ) {
        let Self { values, checks } = self;
        let narrow = |value: Value<'_>| match value {
            Value::Integer(value) => i64::try_from(value).unwrap_or_default(),
            Value::Float(_) | Value::Bytes(_) => 0,
        };
        let wide = |value: Value<'_>| if let Value::Integer(value) = value { value } else { 0 };
        let widened = |parsed: Parsed<i64>| parsed.map(|(value, altered)| (i128::from(value), altered));
        match (values, checks.logical_type) {
            (Values::Strings(strings), _) => checks.strings(strings, fields, how, bad),
            (Values::Floats(out), _) => {
                let float = |value: Value<'_>| if let Value::Float(value) = value { value } else { 0.0 };
                checks.take(out, fields, how, bad, |_| None, float);
            }
            (Values::Wide(out), LogicalType::Decimal { scale, .. }) if scale <= 18 => {
                checks.take(out, fields, how, bad, |text| widened(values::decimal(text, scale)), wide);
            }
            (Values::Wide(out), _) => checks.take(out, fields, how, bad, |_| None, wide),
            (Values::Integers(out), LogicalType::Int64) => {
                checks.take(out, fields, how, bad, values::integer, narrow);
            }
            (Values::Integers(out), LogicalType::Decimal { precision, scale }) => {
                let most = 10i64.pow(precision.min(18).into());
                let fits = |(value, _): &(i64, bool)| value.abs() < most;
                checks.take(out, fields, how, bad, |text| values::decimal(text, scale).filter(fits), narrow);
            }
            (Values::Integers(out), LogicalType::Date) => checks.take(out, fields, how, bad, values::date, narrow),
            (Values::Integers(out), LogicalType::Time { unit }) => {
                checks.take(out, fields, how, bad, |text| values::time(text, unit), narrow);
            }
            (Values::Integers(out), LogicalType::Timestamp { unit, zone }) => {
                checks.take(out, fields, how, bad, |text| values::timestamp(text, unit, zone), narrow);
            }
            (Values::Integers(out), LogicalType::Bool) => {
                checks.take(out, fields, how, bad, values::boolean, narrow);
            }
            (
                Values::Integers(out),
                LogicalType::Int8
                | LogicalType::Int16
                | LogicalType::Int32
                | LogicalType::UInt64
                | LogicalType::Float64
                | LogicalType::String
                | LogicalType::Binary,
            ) => checks.take(out, fields, how, bad, |_| None, narrow),
        }
    }

    /// Adds a null, for a field that is missing. Returns whether the column allows it.
    pub(super) fn take_null(&mut self) -> bool {
        match &mut self.values {
            Values::Integers(values) => values.push(0),
            Values::Wide(values) => values.push(0),
            Values::Floats(values) => values.push(0.0),
            Values::Strings(strings) => strings.push_null(),
        }
        self.checks.validity.push(false);
        self.checks.nullable
    }

    /// The rows.
    pub(super) fn lend(&self) -> Column<'_> {
        let data = match &self.values {
            Values::Integers(values) => Data::Integers(Integers::I64(values)),
            Values::Wide(values) => Data::Integers(Integers::I128(values)),
            Values::Floats(values) => Data::Floats(values),
            Values::Strings(strings) => strings.lend(),
        };
        Column::from(data).with_validity(self.checks.validity.bitmap())
    }

    /// How many bytes the strings of the rows have, where they are not codes.
    pub(super) fn string_bytes(&self) -> usize {
        if let Values::Strings(strings) = &self.values { strings.bytes.len() } else { 0 }
    }

    /// Leaves out rows, given in ascending order.
    pub(super) fn remove(&mut self, rows: &[usize]) {
        let total = self.checks.validity.len();
        let mut removed = rows.iter().copied().peekable();
        let kept: Vec<usize> = (0..total).filter(|row| removed.next_if_eq(row).is_none()).collect();
        let mut validity = BitmapBuffer::default();
        let before = self.checks.validity.bitmap();
        kept.iter().for_each(|&row| validity.push(before.is_none_or(|bitmap: Bitmap<'_>| bitmap.get(row))));
        self.checks.validity = validity;
        match &mut self.values {
            Values::Integers(values) => *values = kept.iter().map(|&row| values[row]).collect(),
            Values::Wide(values) => *values = kept.iter().map(|&row| values[row]).collect(),
            Values::Floats(values) => *values = kept.iter().map(|&row| values[row]).collect(),
            Values::Strings(strings) => strings.keep(&kept),
        }
    }

    /// Forgets the rows, but for what they demand of the type.
    pub(super) fn clear(&mut self) {
        if let Some(inference) = &mut self.checks.inference {
            inference.seen = inference.seen.join(self.values.demand(self.checks.logical_type));
        }
        match &mut self.values {
            Values::Integers(values) => values.clear(),
            Values::Wide(values) => values.clear(),
            Values::Floats(values) => values.clear(),
            Values::Strings(strings) => strings.clear(),
        }
        self.checks.validity.clear();
    }

    /// What all values so far demand; `None` if the type is not inferred.
    pub(super) fn seen(&self) -> Option<Seen> {
        self.checks.inference.as_ref().map(|inference| inference.seen)
    }

    /// Whether the inferred type turned out not to hold all values.
    pub(super) fn misfits(&self) -> bool {
        self.checks.inference.as_ref().is_some_and(|inference| inference.misfits)
    }

    pub(super) fn altered(&self) -> u64 {
        self.checks.altered
    }
}

impl Values {
    /// What values demand of a type that is inferred, as far as it was not seen value by value.
    fn demand(&self, logical_type: LogicalType) -> Seen {
        fn bounds<T: Copy + Ord + Into<i128>>(values: &[T]) -> Option<(i128, i128)> {
            Some(((*values.iter().min()?).into(), (*values.iter().max()?).into()))
        }
        let bounds = match self {
            Self::Integers(values) => bounds(values),
            Self::Wide(values) => bounds(values),
            Self::Floats(_) | Self::Strings(_) => None,
        };
        let Some((min, max)) = bounds else { return Seen::NOTHING };
        match logical_type {
            LogicalType::Timestamp { unit, .. } => {
                let [min, max] = [min, max].map(|bound| i64::try_from(bound).unwrap_or_default());
                Seen::of_times(min, max, unit)
            }
            LogicalType::Int64 | LogicalType::UInt64 | LogicalType::Decimal { .. } => {
                let seen = Seen::of_range(min, max, logical_type.scale());
                if self.are_exact_floats(min, max, logical_type.scale()) { seen } else { seen.join(Seen::inexact()) }
            }
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Float64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::String
            | LogicalType::Binary => Seen::NOTHING,
        }
    }

    /// Whether all of them are the same numbers as floats, as those of fifteen digits are.
    fn are_exact_floats(&self, min: i128, max: i128, scale: u8) -> bool {
        const MOST: u128 = 1_000_000_000_000_000;
        let is_exact =
            |value: i128| value.unsigned_abs() < MOST || is_exact_float(decimals::to_string(value, scale).as_bytes());
        match self {
            _ if min.unsigned_abs().max(max.unsigned_abs()) < MOST => true,
            Self::Integers(values) => values.iter().all(|&value| is_exact(value.into())),
            Self::Wide(values) => values.iter().all(|&value| is_exact(value)),
            Self::Floats(_) | Self::Strings(_) => true,
        }
    }
}

impl Checks {
    /// Takes fields whose values lie in `out`: nearly all by the function `fast`.
    fn take<'f, T: Copy + Default>(
        &mut self,
        out: &mut Vec<T>,
        fields: impl Iterator<Item = Field<'f>>,
        how: Fields<'_>,
        bad: &mut Vec<BadValue>,
        fast: impl Fn(&[u8]) -> Parsed<T>,
        of_value: impl Fn(Value<'_>) -> T,
    ) {
        let exact = self.inference.as_ref().is_some_and(|inference| inference.exact);
        for (row, field) in fields.enumerate() {
            let Some(text) = how.value(field) else {
                self.null(row, field, bad);
                out.push(T::default());
                continue;
            };
            self.validity.push(true);
            match fast(&text) {
                Some((value, altered)) if !(altered && exact) => {
                    self.altered += u64::from(altered);
                    out.push(value);
                }
                _ => {
                    let value = self.odd(row, &text, bad).map(&of_value);
                    out.push(value.unwrap_or_default());
                }
            }
        }
    }

    fn null(&mut self, row: usize, field: Field<'_>, bad: &mut Vec<BadValue>) {
        self.validity.push(false);
        if !self.nullable {
            bad.push(BadValue { row, fault: null_fault(field.bytes, self.logical_type) });
        }
    }

    /// The value of a text that is not written in the usual way; `None` if the type has no such value.
    #[cold]
    fn odd<'t>(&mut self, row: usize, text: &'t [u8], bad: &mut Vec<BadValue>) -> Option<Value<'t>> {
        let parsed = Value::parse(text, self.logical_type);
        if let Some(inference) = &mut self.inference {
            inference.seen = inference.seen.join(Seen::of(text));
            let holds = inference.seen.logical_type(inference.exact) == Some(self.logical_type);
            if !holds || parsed.is_err() {
                // A type that holds the value by what it demands can parse it.
                inference.misfits = true;
                return None;
            }
        }
        match parsed {
            Ok(value) => {
                self.altered += u64::from(value.to_text(self.logical_type).as_bytes() != text);
                Some(value)
            }
            Err(fault) => {
                bad.push(BadValue { row, fault });
                None
            }
        }
    }

    fn strings<'f>(
        &mut self,
        strings: &mut Strings,
        fields: impl Iterator<Item = Field<'f>>,
        how: Fields<'_>,
        bad: &mut Vec<BadValue>,
    ) {
        // A column without a value so far has a type only when the first one comes.
        let is_known = self
            .inference
            .as_ref()
            .is_none_or(|inference| inference.seen.logical_type(inference.exact) == Some(LogicalType::String));
        for (row, field) in fields.enumerate() {
            match how.value(field) {
                None => {
                    self.null(row, field, bad);
                    strings.push_null();
                }
                Some(text) => {
                    self.validity.push(true);
                    if !is_known {
                        self.odd(row, &text, bad);
                    }
                    strings.push(&text);
                }
            }
        }
    }
}

/// What is wrong with a null where there must be none.
pub(super) fn null_fault(field: &[u8], logical_type: LogicalType) -> RowFault {
    match logical_type {
        _ if !field.is_empty() => RowFault::Null(RowFault::quote(field)),
        LogicalType::String | LogicalType::Binary => RowFault::EmptyName,
        _ if logical_type.is_numeric() => RowFault::EmptyNumber,
        _ => RowFault::Null(String::new()),
    }
}

/// Strings as codes as long as there are few distinct ones, else one by one.
struct Strings {
    /// `None` once there were too many distinct strings.
    interner: Option<Box<Interner>>,
    codes: Vec<u32>,
    /// How many rows were codes.
    rows: u64,
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        let interner = Some(Box::new(Interner::new(Level::best())));
        Self { interner, codes: Vec::new(), rows: 0, offsets: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    /// Up to so many distinct strings are never too many.
    const FEW: usize = 4096;
    /// How many bytes distinct strings may have together.
    const MOST_BYTES: usize = 16 << 20;

    #[inline]
    fn push(&mut self, text: &[u8]) {
        match &mut self.interner {
            Some(interner) => self.codes.push(interner.intern(text)),
            None => {
                self.bytes.extend_from_slice(text);
                self.push_end();
            }
        }
    }

    fn push_null(&mut self) {
        // Any code of the dictionary stands for a null, or 0.
        if self.interner.is_some() { self.codes.push(0) } else { self.push_end() }
    }

    /// Batches are delivered long before they have 2 GiB of strings.
    fn push_end(&mut self) {
        self.offsets.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
    }

    fn lend(&self) -> Data<'_> {
        match &self.interner {
            Some(interner) => Data::Codes { codes: &self.codes, dictionary: interner.dictionary() },
            None => Data::Bytes(ByteStrings::new(&self.offsets, &self.bytes)),
        }
    }

    fn keep(&mut self, rows: &[usize]) {
        if self.interner.is_some() {
            self.codes = rows.iter().map(|&row| self.codes[row]).collect();
            return;
        }
        let (offsets, bytes) = (std::mem::replace(&mut self.offsets, vec![0]), std::mem::take(&mut self.bytes));
        for string in rows.iter().map(|&row| &bytes[offsets[row] as usize..offsets[row + 1] as usize]) {
            self.bytes.extend_from_slice(string);
            self.push_end();
        }
    }

    fn clear(&mut self) {
        self.rows += self.codes.len() as u64;
        self.codes.clear();
        self.offsets.truncate(1);
        self.bytes.clear();
        self.interner.take_if(|interner| {
            let distinct = interner.dictionary().len();
            let too_many = distinct > Self::FEW && distinct as u64 * 4 > self.rows;
            too_many || interner.dictionary().value_bytes() > Self::MOST_BYTES
        });
    }
}
