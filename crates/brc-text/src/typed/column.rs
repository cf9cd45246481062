//! The values of one column while rows are parsed.

use super::changes::{Changes, differ, differs_if_altered};
use super::fields::FieldRules;
use super::parser::ColumnType;
use super::strings::Strings;
use super::values::{self, DigitCounts, Parsed, Text};
use crate::form::{Form, GivenForms};
use crate::infer::{NullTokenSet, Seen, is_exact_float};
use crate::rows::{ColumnFields, Field};
use brc_core::bounds::bounds;
use brc_core::{Bitmap, BitmapBuffer, Column, Data, Integers, LogicalType, RowFault, Value, decimal as decimals};
use brc_kernels::cpu::Level;
use brc_kernels::fields::{self, FieldColumn, FloatShapes};

/// A column under construction.
pub(super) struct TypedColumn {
    values: ColumnBuffer,
    state: ColumnState,
}

enum ColumnBuffer {
    Integers(Vec<i64>),
    /// Values that may not fit in 64 bits.
    Wide(Vec<i128>),
    Floats(Vec<f64>),
    Strings(Strings),
}

/// The type, validity and inference state of a column.
struct ColumnState {
    logical_type: LogicalType,
    /// The form of the values, if not the usual one.
    form: Option<Form>,
    nullable: bool,
    validity: BitmapBuffer,
    inference: Option<Inference>,
    changes: Changes,
}

struct Inference {
    seen: Seen,
    exact: bool,
    given: GivenForms,
    /// Whether some value does not fit the type.
    misfits: bool,
}

/// Parses the fields of a column. The flag requests that only values in canonical text form are parsed.
type Kernel<'k, T> = &'k mut dyn FnMut(&FieldColumn<'_>, bool, &mut Vec<T>) -> fields::Parsed;

/// The result for a value that is not in the usual text form.
enum SlowResult<'t> {
    Value(Value<'t>),
    /// A null token.
    Null,
    /// The value does not fit the type of the column.
    None,
}

/// A value that does not fit the type of its column.
pub(super) struct BadValue {
    /// The index of its row in the range that was parsed.
    pub(super) row: usize,
    pub(super) fault: RowFault,
}

impl TypedColumn {
    pub(super) fn new(column: &ColumnType) -> Self {
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
        let Self { values, state } = self;
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
            ColumnBuffer::Strings(strings) => strings.as_column(),
        };
        Column::from(data).with_validity(self.state.validity.bitmap())
    }

    /// The total length of the strings in bytes; 0 if they are codes.
    pub(super) fn string_bytes(&self) -> usize {
        if let ColumnBuffer::Strings(strings) = &self.values { strings.len_bytes() } else { 0 }
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
            ColumnBuffer::Strings(strings) => strings.keep(&kept),
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
            ColumnBuffer::Strings(strings) => strings.clear(),
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
        const LIMIT: u128 = 1_000_000_000_000_000;
        let is_exact =
            |value: i128| value.unsigned_abs() < LIMIT || is_exact_float(decimals::to_string(value, scale).as_bytes());
        match self {
            _ if min.unsigned_abs().max(max.unsigned_abs()) < LIMIT => true,
            Self::Integers(values) => values.iter().all(|&value| is_exact(value.into())),
            Self::Wide(values) => values.iter().all(|&value| is_exact(value)),
            Self::Floats(_) | Self::Strings(_) => true,
        }
    }
}

impl ColumnState {
    /// Appends fields to `out`: nearly all by the kernel, those that it rejects by the function `fast`, and the rest by
    /// [`parse_slow`](Self::parse_slow), whose values `of_value` converts.
    #[allow(clippy::too_many_arguments)]
    fn take<'f, T: Copy + Default>(
        &mut self,
        out: &mut Vec<T>,
        fields: ColumnFields<'f>,
        rules: FieldRules<'_>,
        bad: &mut Vec<BadValue>,
        kernel: Option<Kernel<'_, T>>,
        mut fast: impl FnMut(Text<'f>) -> Parsed<T>,
        of_value: impl Fn(Value<'_>) -> T,
    ) {
        let differs = differs_if_altered(self.logical_type, self.form.is_some());
        let exact = self.inference.as_ref().is_some_and(|inference| inference.exact);
        // If all numbers have three decimals, the point may turn out to be a thousands separator.
        let had_groups = self.may_have_groups();
        let mut may_have_groups = had_groups;
        let first = out.len();
        let odd = match kernel.and_then(|kernel| Some(kernel(&rules.for_kernels(&fields)?, exact || had_groups, out))) {
            Some(parsed) => parsed.odd,
            None => {
                out.resize(first + fields.len(), T::default());
                (0..fields.len() as u32).collect()
            }
        };
        let mut next = 0;
        for row in odd.into_iter().map(|row| row as usize) {
            let field = fields.get(row);
            let usual = rules.usual(field).and_then(|text| {
                let (value, altered) = fast(text)?;
                may_have_groups &= !(altered && text.bytes().contains(&b'.'));
                Some((value, altered, altered && differs(text.bytes())))
            });
            // The first value that will be written differently becomes the example, and takes the slow path.
            let value = if let Some((value, altered, is_changed)) = usual
                && !(altered && (exact || self.form.is_some()))
                && !(is_changed && self.changes.example.is_none())
            {
                self.changes.altered += u64::from(is_changed);
                Some(value)
            } else {
                let text = rules.value(field);
                match text.as_deref().map_or(SlowResult::Null, |text| self.parse_slow(row, text, rules, bad)) {
                    SlowResult::Value(value) => Some(of_value(value)),
                    SlowResult::None => None,
                    SlowResult::Null => {
                        self.validity.push_values(row - next);
                        next = row + 1;
                        self.null(row, field, bad);
                        None
                    }
                }
            };
            out[first + row] = value.unwrap_or_default();
        }
        self.validity.push_values(fields.len() - next);
        if let Some(inference) = self.inference.as_mut().filter(|_| had_groups && !may_have_groups) {
            inference.seen = inference.seen.join(Seen::ungrouped());
        }
    }

    /// Whether every number so far had three decimals, so that its point may be a thousands separator.
    fn may_have_groups(&self) -> bool {
        let has_three = self.logical_type.scale() == 3 && self.form.is_none();
        has_three && self.inference.as_ref().is_some_and(|it| !it.seen.is_ungrouped())
    }

    /// Appends fields that are written in a form. Values are parsed one by one; those that the form would not write
    /// identically are formatted for comparison.
    fn formed<'f, T: Copy + Default>(
        &mut self,
        form: Form,
        out: &mut Vec<T>,
        fields: ColumnFields<'f>,
        rules: FieldRules<'_>,
        bad: &mut Vec<BadValue>,
        of_value: impl Fn(Value<'_>) -> T + Copy,
    ) {
        let logical_type = self.logical_type;
        let mut written = Vec::with_capacity(40);
        // What a float requires of the type is not seen from its value.
        let is_slow = logical_type.is_float() && self.inference.is_some();
        let fast = |text: Text<'f>| {
            if is_slow {
                return None;
            }
            if let Some(value) = form.parse_exact(text.bytes(), logical_type) {
                return Some((of_value(Value::Integer(value.into())), false));
            }
            let value = form.parse(text.bytes(), logical_type).ok()?;
            written.clear();
            form.write(value, logical_type, &mut written);
            Some((of_value(value), differ(text.bytes(), &written)))
        };
        self.take(out, fields, rules, bad, None, fast, of_value);
    }

    fn floats<'f>(
        &mut self,
        out: &mut Vec<f64>,
        fields: ColumnFields<'f>,
        rules: FieldRules<'_>,
        bad: &mut Vec<BadValue>,
    ) {
        let mut shapes = FloatShapes::NONE;
        let (mut most, mut least_scale) = (DigitCounts { whole: 0, scale: 0 }, u8::MAX);
        let fast = |text| {
            let ((value, shape), altered) = values::float(text).or_else(|| values::printed_float(text))?;
            // `NaN` has no digits: alone, it must not count as an integer.
            if value.is_finite() {
                most = DigitCounts { whole: most.whole.max(shape.whole), scale: most.scale.max(shape.scale) };
                least_scale = least_scale.min(shape.scale);
            }
            Some((value, altered))
        };
        let kernel: Kernel<'_, f64> = &mut |column, exact, out| column.floats(Level::best(), exact, out, &mut shapes);
        let of_value = |value: Value<'_>| if let Value::Float(value) = value { value } else { 0.0 };
        self.take(out, fields, rules, bad, Some(kernel), fast, of_value);
        let [whole, scale] = shapes.most;
        let (whole, scale) = (most.whole.max(whole), most.scale.max(scale));
        least_scale = least_scale.min(shapes.least_decimals);
        if let Some(inference) = &mut self.inference
            && least_scale <= scale
        {
            let seen = Seen::of_digits(whole, scale).join(Seen::of_digits(0, least_scale));
            inference.seen = inference.seen.join(seen);
        }
    }

    /// Records a null token.
    fn null_token<'t>(&mut self, token: NullTokenSet) -> SlowResult<'t> {
        self.changes.nulled += 1;
        self.changes.null_tokens = self.changes.null_tokens.union(token);
        SlowResult::Null
    }

    fn null(&mut self, row: usize, field: Field<'_>, bad: &mut Vec<BadValue>) {
        self.validity.push(false);
        if !self.nullable {
            bad.push(BadValue { row, fault: null_fault(field.bytes, self.logical_type) });
        }
    }

    /// Parses a text that is not in the usual form.
    #[cold]
    fn parse_slow<'t>(
        &mut self,
        row: usize,
        text: &'t [u8],
        rules: FieldRules<'_>,
        bad: &mut Vec<BadValue>,
    ) -> SlowResult<'t> {
        let logical_type = self.logical_type;
        let parsed = match &self.form {
            Some(form) => form.parse(text, logical_type),
            None => Value::parse(text, logical_type),
        };
        if let Some(Inference { seen: of_all, exact, given, misfits }) = &mut self.inference {
            let seen = if rules.infer_nulls { Seen::of(text) } else { Seen::of_value(text) }.in_forms(text, given);
            *of_all = of_all.join(seen);
            let holds = of_all.type_and_form(*exact, given) == (Some(logical_type), self.form);
            let nulls = seen.null_tokens(logical_type);
            if holds && !nulls.is_empty() {
                return self.null_token(nulls);
            }
            if !holds || parsed.is_err() {
                // A type that satisfies the requirements of the value can parse it.
                *misfits = true;
                return SlowResult::None;
            }
        }
        match parsed {
            Ok(value) => {
                let mut written = Vec::new();
                match &self.form {
                    Some(form) => form.write(value, logical_type, &mut written),
                    None => value.write(logical_type, &mut written),
                }
                if differ(text, &written) {
                    self.changes.altered += 1;
                    self.changes.example.get_or_insert_with(|| (text.to_vec(), written));
                }
                SlowResult::Value(value)
            }
            Err(fault) => {
                let nulls = Seen::of(text).null_tokens(logical_type);
                if rules.infer_nulls && self.nullable && !nulls.is_empty() {
                    return self.null_token(nulls);
                }
                bad.push(BadValue { row, fault });
                SlowResult::None
            }
        }
    }

    fn strings<'f>(
        &mut self,
        strings: &mut Strings,
        fields: ColumnFields<'f>,
        rules: FieldRules<'_>,
        bad: &mut Vec<BadValue>,
    ) {
        // While a column has no values, its type is unknown until the first one comes.
        let is_string = |Inference { seen, exact, given, .. }: &Inference| {
            let is_string = seen.type_in(*exact, given) == Some(LogicalType::String);
            !seen.is_untyped() && is_string && (*exact || seen.ambiguity(given).is_none())
        };
        let is_known = self.inference.as_ref().is_none_or(is_string);
        let column = rules.strings_for_kernels(&fields).filter(|_| is_known);
        let mut ranges = std::mem::take(&mut strings.range_buffer);
        let odd = match column {
            Some(column) => column.strings(Level::best(), &mut ranges),
            None => (0..fields.len() as u32).collect(),
        };
        let mut appender = strings.appender(fields.text());
        // The row up to which strings are appended, and the row up to which the validity is known.
        let (mut taken, mut valid) = (0, 0);
        for row in odd.into_iter().map(|row| row as usize) {
            appender.extend(ranges.get(taken..row).unwrap_or_default());
            taken = row + 1;
            let field = fields.get(row);
            if is_known && let Some(value) = rules.usual_string(field) {
                appender.push(value);
            } else if let Some(value) = rules.value(field) {
                if !is_known {
                    self.parse_slow(row, &value, rules, bad);
                }
                appender.push_other(&value);
            } else {
                self.validity.push_values(row - valid);
                valid = row + 1;
                self.null(row, field, bad);
                appender.push_null();
            }
        }
        appender.extend(ranges.get(taken..).unwrap_or_default());
        appender.end();
        self.validity.push_values(fields.len() - valid);
        strings.range_buffer = ranges;
    }
}

/// The fault of a null in a column that is not nullable.
pub(super) fn null_fault(field: &[u8], logical_type: LogicalType) -> RowFault {
    match logical_type {
        _ if !field.is_empty() => RowFault::Null(RowFault::quote(field)),
        LogicalType::String | LogicalType::Binary => RowFault::EmptyName,
        _ if logical_type.is_numeric() => RowFault::EmptyNumber,
        _ => RowFault::Null(String::new()),
    }
}
