//! The values of one column while rows are parsed.

use super::changes::Changes;
use super::column_state::{BadValue, ColumnState, Inference, Kernel};
use super::fields::FieldRules;
use super::parser::ColumnType;
use super::strings::Strings;
use super::values::{self, Parsed};
use crate::infer::{EXACT_UNITS, Seen, is_exact_float};
use crate::rows::ColumnFields;
use brc_core::bounds::bounds;
use brc_core::{Bitmap, BitmapBuffer, Column, Data, Integers, LogicalType, Value, decimal as decimals};
use brc_kernels::cpu::Level;

/// A column under construction.
pub(super) struct TypedColumn {
    values: ColumnBuffer,
    state: ColumnState,
    should_be_utf8: bool,
}

enum ColumnBuffer {
    Integers(Vec<i64>),
    /// Values that may not fit in 64 bits.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Strings),
}

impl TypedColumn {
    pub(super) fn new(column: &ColumnType, should_be_utf8: bool) -> Self {
        let mut new = Self {
            values: ColumnBuffer::Integers(Vec::new()),
            state: ColumnState {
                logical_type: LogicalType::Int64,
                form: None,
                nullable: true,
                validity: BitmapBuffer::default(),
                inference: None,
                changes: Changes::default(),
            },
            should_be_utf8,
        };
        new.set_type(column);
        new
    }

    /// Clears the rows, and sets a different type. Codes keep their meaning.
    pub(super) fn set_type(&mut self, column: &ColumnType) {
        self.clear();
        let state = &mut self.state;
        ((state.logical_type, state.form), state.nullable) = (column.read_as(), column.nullable());
        state.changes = Changes::default();
        state.inference = match *column {
            ColumnType::Fixed { .. } => None,
            ColumnType::Inferred { seen, exact, given } => Some(Inference { seen, exact, given, misfits: false }),
        };
        match (&self.values, state.logical_type) {
            (ColumnBuffer::Strings(_), LogicalType::String | LogicalType::Binary) => {}
            (_, LogicalType::String | LogicalType::Binary) => self.values = ColumnBuffer::Strings(Strings::default()),
            (_, float) if float.is_float() => self.values = ColumnBuffer::Floats(Vec::new()),
            (_, narrow) if narrow.fits_64_bits() => self.values = ColumnBuffer::Integers(Vec::new()),
            _ => self.values = ColumnBuffer::Wide(Vec::new()),
        }
    }

    /// Appends fields, one per row.
    pub(super) fn take<'f>(&mut self, fields: ColumnFields<'f>, rules: FieldRules<'_>, bad: &mut Vec<BadValue>) {
        let Self { values, state, .. } = self;
        let narrow = |value: Value<'_>| match value {
            Value::Integer(value) => i64::try_from(value).unwrap_or_default(),
            Value::Float(_) | Value::Bytes(_) => 0,
        };
        let wide = |value: Value<'_>| if let Value::Integer(value) = value { value } else { 0 };
        let widened = |parsed: Parsed<i64>| parsed.map(|(value, altered)| (i128::from(value), altered));
        let float = |value: Value<'_>| if let Value::Float(value) = value { value } else { 0.0 };
        if let Some(form) = state.form {
            return match values {
                ColumnBuffer::Strings(strings) => state.strings(strings, fields, rules, bad),
                ColumnBuffer::Integers(out) => state.formed(form, out, fields, rules, bad, narrow),
                ColumnBuffer::Wide(out) => state.formed(form, out, fields, rules, bad, wide),
                ColumnBuffer::Floats(out) => state.formed(form, out, fields, rules, bad, float),
            };
        }
        let level = Level::best();
        match (values, state.logical_type) {
            (ColumnBuffer::Strings(strings), _) => state.strings(strings, fields, rules, bad),
            (ColumnBuffer::Floats(out), LogicalType::Float32) => {
                state.take(out, fields, rules, bad, None, values::float32, float);
            }
            (ColumnBuffer::Floats(out), _) => state.floats(out, fields, rules, bad),
            (ColumnBuffer::Wide(out), LogicalType::Uuid) => {
                state.take(out, fields, rules, bad, None, values::uuid, wide);
            }
            (ColumnBuffer::Wide(out), LogicalType::Decimal { scale, .. }) if scale <= 18 => {
                state.take(out, fields, rules, bad, None, |text| widened(values::decimal(text, scale)), wide);
            }
            (ColumnBuffer::Wide(out), _) => state.take(out, fields, rules, bad, None, |_| None, wide),
            (ColumnBuffer::Integers(out), LogicalType::Int64) => {
                let kernel: Kernel<'_, i64> = &mut |column, _, out| column.integers(level, out);
                state.take(out, fields, rules, bad, Some(kernel), values::integer, narrow);
            }
            (ColumnBuffer::Integers(out), LogicalType::Decimal { precision, scale }) => {
                let digits = precision.min(18);
                let kernel: Kernel<'_, i64> =
                    &mut |column, exact, out| column.decimals(level, scale, digits, exact, out);
                let fits = |(value, _): &(i64, bool)| value.abs() < 10i64.pow(digits.into());
                state.take(
                    out,
                    fields,
                    rules,
                    bad,
                    Some(kernel),
                    |text| values::decimal(text, scale).filter(fits),
                    narrow,
                );
            }
            (ColumnBuffer::Integers(out), LogicalType::Date) => {
                let kernel: Kernel<'_, i64> = &mut |column, _, out| column.dates(level, out);
                state.take(out, fields, rules, bad, Some(kernel), values::date, narrow);
            }
            (ColumnBuffer::Integers(out), LogicalType::Time { unit }) => {
                state.take(out, fields, rules, bad, None, |text| values::time(text, unit), narrow);
            }
            (ColumnBuffer::Integers(out), LogicalType::Timestamp { unit, zone }) => {
                state.take(out, fields, rules, bad, None, |text| values::timestamp(text, unit, zone), narrow);
            }
            (ColumnBuffer::Integers(out), LogicalType::Bool) => {
                state.take(out, fields, rules, bad, None, values::boolean, narrow);
            }
            (
                ColumnBuffer::Integers(out),
                LogicalType::Int8
                | LogicalType::Int16
                | LogicalType::Int32
                | LogicalType::UInt64
                | LogicalType::Float32
                | LogicalType::Float64
                | LogicalType::String
                | LogicalType::Binary
                | LogicalType::Uuid,
            ) => state.take(out, fields, rules, bad, None, |_| None, narrow),
        }
    }

    /// Appends a null for a missing field. Returns whether the column is nullable.
    pub(super) fn append_null(&mut self) -> bool {
        match &mut self.values {
            ColumnBuffer::Integers(values) => values.push(0),
            ColumnBuffer::Wide(values) => values.push(0),
            ColumnBuffer::Floats(values) => values.push(0.0),
            ColumnBuffer::Strings(strings) => strings.appender(&[]).push_null(),
        }
        self.state.validity.push(false);
        self.state.nullable
    }

    /// The rows, as a borrowed column.
    pub(super) fn as_column(&self) -> Column<'_> {
        let data = match &self.values {
            ColumnBuffer::Integers(values) => Data::Integers(Integers::I64(values)),
            ColumnBuffer::Wide(values) => Data::Integers(Integers::I128(values)),
            ColumnBuffer::Floats(values) => Data::Floats(values),
            ColumnBuffer::Strings(strings) => strings.values.as_data(),
        };
        Column::from(data).with_validity(self.state.validity.bitmap())
    }

    /// The total length of the strings in bytes; 0 if they are codes.
    pub(super) fn string_bytes(&self) -> usize {
        if let ColumnBuffer::Strings(strings) = &self.values { strings.values.len_bytes() } else { 0 }
    }

    /// Removes rows, given in ascending order.
    pub(super) fn remove(&mut self, rows: &[usize]) {
        let total = self.state.validity.len();
        let mut removed = rows.iter().copied().peekable();
        let kept: Vec<usize> = (0..total).filter(|row| removed.next_if_eq(row).is_none()).collect();
        let mut validity = BitmapBuffer::default();
        let before = self.state.validity.bitmap();
        kept.iter().for_each(|&row| validity.push(before.is_none_or(|bitmap: Bitmap<'_>| bitmap.get(row))));
        self.state.validity = validity;
        match &mut self.values {
            ColumnBuffer::Integers(values) => *values = kept.iter().map(|&row| values[row]).collect(),
            ColumnBuffer::Wide(values) => *values = kept.iter().map(|&row| values[row]).collect(),
            ColumnBuffer::Floats(values) => *values = kept.iter().map(|&row| values[row]).collect(),
            ColumnBuffer::Strings(strings) => strings.values.keep(&kept),
        }
    }

    /// Removes all rows, but keeps what they require of the type.
    pub(super) fn clear(&mut self) {
        if let Some(inference) = &mut self.state.inference {
            let seen = self.values.seen(self.state.logical_type);
            inference.seen = inference.seen.join(if self.state.form.is_some() { seen.as_formed() } else { seen });
        }
        match &mut self.values {
            ColumnBuffer::Integers(values) => values.clear(),
            ColumnBuffer::Wide(values) => values.clear(),
            ColumnBuffer::Floats(values) => values.clear(),
            ColumnBuffer::Strings(strings) => {
                if self.should_be_utf8 && self.state.logical_type == LogicalType::String {
                    self.state.changes.not_utf8 = strings.not_utf8().map(<[u8]>::to_vec);
                }
                strings.values.clear();
            }
        }
        self.state.validity.clear();
    }

    /// What all values so far require; `None` if the type is not inferred.
    pub(super) fn seen(&self) -> Option<Seen> {
        self.state.inference.as_ref().map(|inference| inference.seen)
    }

    /// Whether some value does not fit the inferred type.
    pub(super) fn misfits(&self) -> bool {
        self.state.inference.as_ref().is_some_and(|inference| inference.misfits)
    }

    /// The changes of values since the type was set.
    pub(super) fn changes(&self) -> &Changes {
        &self.state.changes
    }
}

impl ColumnBuffer {
    /// What the values require of an inferred type, apart from what was recorded value by value.
    fn seen(&self, logical_type: LogicalType) -> Seen {
        let bounds = match self {
            Self::Integers(values) => bounds(values).map(|(min, max)| (min.into(), max.into())),
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
                let mut seen = Seen::of_range(min, max, logical_type.scale());
                if logical_type.scale() == 3 && self.has_number_below(1000) {
                    seen = seen.join(Seen::ungrouped());
                }
                if self.are_exact_floats(min, max, logical_type.scale()) { seen } else { seen.join(Seen::inexact()) }
            }
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Float32
            | LogicalType::Float64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::String
            | LogicalType::Binary
            | LogicalType::Uuid => Seen::NOTHING,
        }
    }

    /// Whether a nonzero value has a magnitude below `bound`.
    fn has_number_below(&self, bound: u64) -> bool {
        let is_below = |value: u128| value < bound.into() && value > 0;
        match self {
            Self::Integers(values) => values.iter().any(|value| is_below(value.unsigned_abs().into())),
            Self::Wide(values) => values.iter().any(|value| is_below(value.unsigned_abs())),
            Self::Floats(_) | Self::Strings(_) => false,
        }
    }

    /// Whether all values are exact as floats, as those of at most fifteen digits are.
    fn are_exact_floats(&self, min: i128, max: i128, scale: u8) -> bool {
        let is_exact = |value: i128| {
            value.unsigned_abs() < EXACT_UNITS || is_exact_float(decimals::to_string(value, scale).as_bytes())
        };
        match self {
            _ if min.unsigned_abs().max(max.unsigned_abs()) < EXACT_UNITS => true,
            Self::Integers(values) => values.iter().all(|&value| is_exact(value.into())),
            Self::Wide(values) => values.iter().all(|&value| is_exact(value)),
            Self::Floats(_) | Self::Strings(_) => true,
        }
    }
}
