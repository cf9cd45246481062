//! One column of the rows that are parsed.

use super::changes::{Changes, differ, differs_if_altered};
use super::fields::Fields;
use super::parser::ColumnType;
use super::strings::Strings;
use super::values::{self, Parsed, Shape, Text};
use crate::form::{Form, GivenForms};
use crate::infer::{NullTokenSet, Seen, is_exact_float};
use crate::rows::{ColumnFields, Field};
use brc_core::bounds::bounds;
use brc_core::{Bitmap, BitmapBuffer, Column, Data, Integers, LogicalType, RowFault, Value, decimal as decimals};
use brc_kernels::cpu::Level;
use brc_kernels::fields::{self, FieldColumn, FloatShapes};

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
    /// How values are written, if not in the usual form.
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
    /// Whether the type does not hold all values.
    misfits: bool,
}

/// Parses the fields of a column, with values that are written as they will be if that is demanded.
type Kernel<'k, T> = &'k mut dyn FnMut(&FieldColumn<'_>, bool, &mut Vec<T>) -> fields::Parsed;

/// What becomes of a value that is not written in the usual way.
enum Odd<'t> {
    Value(Value<'t>),
    /// A word for a missing value.
    Null,
    /// The column has no such value.
    None,
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

    /// Goes on with another type, without rows. Codes keep their meaning.
    pub(super) fn set_type(&mut self, column: &ColumnType) {
        self.clear();
        let checks = &mut self.checks;
        ((checks.logical_type, checks.form), checks.nullable) = (column.read_as(), column.nullable());
        checks.changes = Changes::default();
        checks.inference = match *column {
            ColumnType::Fixed { .. } => None,
            ColumnType::Inferred { seen, exact, given } => Some(Inference { seen, exact, given, misfits: false }),
        };
        match (&self.values, checks.logical_type) {
            (Values::Strings(_), LogicalType::String | LogicalType::Binary) => {}
            (_, LogicalType::String | LogicalType::Binary) => self.values = Values::Strings(Strings::default()),
            (_, float) if float.is_float() => self.values = Values::Floats(Vec::new()),
            (_, narrow) if narrow.fits_64_bits() => self.values = Values::Integers(Vec::new()),
            _ => self.values = Values::Wide(Vec::new()),
        }
    }

    /// Takes fields, one a row.
    pub(super) fn take<'f>(&mut self, fields: ColumnFields<'f>, how: Fields<'_>, bad: &mut Vec<BadValue>) {
        let Self { values, checks } = self;
        let narrow = |value: Value<'_>| match value {
            Value::Integer(value) => i64::try_from(value).unwrap_or_default(),
            Value::Float(_) | Value::Bytes(_) => 0,
        };
        let wide = |value: Value<'_>| if let Value::Integer(value) = value { value } else { 0 };
        let widened = |parsed: Parsed<i64>| parsed.map(|(value, altered)| (i128::from(value), altered));
        let float = |value: Value<'_>| if let Value::Float(value) = value { value } else { 0.0 };
        if let Some(form) = checks.form {
            return match values {
                Values::Strings(strings) => checks.strings(strings, fields, how, bad),
                Values::Integers(out) => checks.formed(form, out, fields, how, bad, narrow),
                Values::Wide(out) => checks.formed(form, out, fields, how, bad, wide),
                Values::Floats(out) => checks.formed(form, out, fields, how, bad, float),
            };
        }
        let level = Level::best();
        match (values, checks.logical_type) {
            (Values::Strings(strings), _) => checks.strings(strings, fields, how, bad),
            (Values::Floats(out), LogicalType::Float32) => {
                checks.take(out, fields, how, bad, None, values::float32, float);
            }
            (Values::Floats(out), _) => checks.floats(out, fields, how, bad),
            (Values::Wide(out), LogicalType::Uuid) => checks.take(out, fields, how, bad, None, values::uuid, wide),
            (Values::Wide(out), LogicalType::Decimal { scale, .. }) if scale <= 18 => {
                checks.take(out, fields, how, bad, None, |text| widened(values::decimal(text, scale)), wide);
            }
            (Values::Wide(out), _) => checks.take(out, fields, how, bad, None, |_| None, wide),
            (Values::Integers(out), LogicalType::Int64) => {
                let kernel: Kernel<'_, i64> = &mut |column, _, out| column.integers(level, out);
                checks.take(out, fields, how, bad, Some(kernel), values::integer, narrow);
            }
            (Values::Integers(out), LogicalType::Decimal { precision, scale }) => {
                let digits = precision.min(18);
                let kernel: Kernel<'_, i64> =
                    &mut |column, exact, out| column.decimals(level, scale, digits, exact, out);
                let fits = |(value, _): &(i64, bool)| value.abs() < 10i64.pow(digits.into());
                checks.take(
                    out,
                    fields,
                    how,
                    bad,
                    Some(kernel),
                    |text| values::decimal(text, scale).filter(fits),
                    narrow,
                );
            }
            (Values::Integers(out), LogicalType::Date) => {
                let kernel: Kernel<'_, i64> = &mut |column, _, out| column.dates(level, out);
                checks.take(out, fields, how, bad, Some(kernel), values::date, narrow);
            }
            (Values::Integers(out), LogicalType::Time { unit }) => {
                checks.take(out, fields, how, bad, None, |text| values::time(text, unit), narrow);
            }
            (Values::Integers(out), LogicalType::Timestamp { unit, zone }) => {
                checks.take(out, fields, how, bad, None, |text| values::timestamp(text, unit, zone), narrow);
            }
            (Values::Integers(out), LogicalType::Bool) => {
                checks.take(out, fields, how, bad, None, values::boolean, narrow);
            }
            (
                Values::Integers(out),
                LogicalType::Int8
                | LogicalType::Int16
                | LogicalType::Int32
                | LogicalType::UInt64
                | LogicalType::Float32
                | LogicalType::Float64
                | LogicalType::String
                | LogicalType::Binary
                | LogicalType::Uuid,
            ) => checks.take(out, fields, how, bad, None, |_| None, narrow),
        }
    }

    /// Adds a null, for a field that is missing. Returns whether the column allows it.
    pub(super) fn take_null(&mut self) -> bool {
        match &mut self.values {
            Values::Integers(values) => values.push(0),
            Values::Wide(values) => values.push(0),
            Values::Floats(values) => values.push(0.0),
            Values::Strings(strings) => strings.taking(&[]).push_null(),
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
        if let Values::Strings(strings) = &self.values { strings.len_bytes() } else { 0 }
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
            let demand = self.values.demand(self.checks.logical_type);
            inference.seen = inference.seen.join(if self.checks.form.is_some() { demand.as_formed() } else { demand });
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

    /// How many values changed since the type was set.
    pub(super) fn changes(&self) -> &Changes {
        &self.checks.changes
    }
}

impl Values {
    /// What values demand of a type that is inferred, as far as it was not seen value by value.
    fn demand(&self, logical_type: LogicalType) -> Seen {
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

    /// Whether there is a number nearer to zero than that.
    fn has_number_below(&self, bound: u64) -> bool {
        let is_below = |value: u128| value < bound.into() && value > 0;
        match self {
            Self::Integers(values) => values.iter().any(|value| is_below(value.unsigned_abs().into())),
            Self::Wide(values) => values.iter().any(|value| is_below(value.unsigned_abs())),
            Self::Floats(_) | Self::Strings(_) => false,
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
    /// Takes fields whose values lie in `out`: nearly all by the kernel, and what is odd for that by the function `fast`.
    #[allow(clippy::too_many_arguments)]
    fn take<'f, T: Copy + Default>(
        &mut self,
        out: &mut Vec<T>,
        fields: ColumnFields<'f>,
        how: Fields<'_>,
        bad: &mut Vec<BadValue>,
        kernel: Option<Kernel<'_, T>>,
        mut fast: impl FnMut(Text<'f>) -> Parsed<T>,
        of_value: impl Fn(Value<'_>) -> T,
    ) {
        let differs = differs_if_altered(self.logical_type, self.form.is_some());
        let exact = self.inference.as_ref().is_some_and(|inference| inference.exact);
        // A number may turn out to have thousands before its point, if it always has three digits after it.
        let had_groups = self.may_have_groups();
        let mut may_have_groups = had_groups;
        let first = out.len();
        let odd = match kernel.and_then(|kernel| Some(kernel(&how.for_kernels(&fields)?, exact || had_groups, out))) {
            Some(parsed) => parsed.odd,
            None => {
                out.resize(first + fields.len(), T::default());
                (0..fields.len() as u32).collect()
            }
        };
        let mut next = 0;
        for row in odd.into_iter().map(|row| row as usize) {
            let field = fields.get(row);
            let usual = how.usual(field).and_then(|text| {
                let (value, altered) = fast(text)?;
                may_have_groups &= !(altered && text.bytes().contains(&b'.'));
                Some((value, altered, altered && differs(text.bytes())))
            });
            // The first value that will be written differently is shown, and takes the long way.
            let value = if let Some((value, altered, is_changed)) = usual
                && !(altered && (exact || self.form.is_some()))
                && !(is_changed && self.changes.example.is_none())
            {
                self.changes.altered += u64::from(is_changed);
                Some(value)
            } else {
                let text = how.value(field);
                match text.as_deref().map_or(Odd::Null, |text| self.odd(row, text, how, bad)) {
                    Odd::Value(value) => Some(of_value(value)),
                    Odd::None => None,
                    Odd::Null => {
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

    /// Whether no number of a column of three decimals had fewer of them, so that its point may separate thousands.
    fn may_have_groups(&self) -> bool {
        let has_three = self.logical_type.scale() == 3 && self.form.is_none();
        has_three && self.inference.as_ref().is_some_and(|it| !it.seen.is_ungrouped())
    }

    /// Takes fields that are written in a form, which are read one by one: what the form would not write so is written again, to see what differs.
    fn formed<'f, T: Copy + Default>(
        &mut self,
        form: Form,
        out: &mut Vec<T>,
        fields: ColumnFields<'f>,
        how: Fields<'_>,
        bad: &mut Vec<BadValue>,
        of_value: impl Fn(Value<'_>) -> T + Copy,
    ) {
        let logical_type = self.logical_type;
        let mut written = Vec::with_capacity(40);
        let fast = |text: Text<'f>| {
            if let Some(value) = form.parse_exact(text.bytes(), logical_type) {
                return Some((of_value(Value::Integer(value.into())), false));
            }
            let value = form.parse(text.bytes(), logical_type).ok()?;
            written.clear();
            form.write(value, logical_type, &mut written);
            Some((of_value(value), differ(text.bytes(), &written)))
        };
        self.take(out, fields, how, bad, None, fast, of_value);
    }

    fn floats<'f>(&mut self, out: &mut Vec<f64>, fields: ColumnFields<'f>, how: Fields<'_>, bad: &mut Vec<BadValue>) {
        let mut shapes = FloatShapes::NONE;
        let (mut most, mut least_scale) = (Shape { whole: 0, scale: 0 }, u8::MAX);
        let fast = |text| {
            let ((value, shape), altered) = values::float(text).or_else(|| values::printed_float(text))?;
            // `NaN` has no digits: alone, it must not count as a whole number.
            if value.is_finite() {
                most = Shape { whole: most.whole.max(shape.whole), scale: most.scale.max(shape.scale) };
                least_scale = least_scale.min(shape.scale);
            }
            Some((value, altered))
        };
        let kernel: Kernel<'_, f64> = &mut |column, exact, out| column.floats(Level::best(), exact, out, &mut shapes);
        let of_value = |value: Value<'_>| if let Value::Float(value) = value { value } else { 0.0 };
        self.take(out, fields, how, bad, Some(kernel), fast, of_value);
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

    /// Takes note of a word for a missing value.
    fn null_token<'t>(&mut self, token: NullTokenSet) -> Odd<'t> {
        self.changes.nulled += 1;
        self.changes.null_tokens = self.changes.null_tokens.union(token);
        Odd::Null
    }

    fn null(&mut self, row: usize, field: Field<'_>, bad: &mut Vec<BadValue>) {
        self.validity.push(false);
        if !self.nullable {
            bad.push(BadValue { row, fault: null_fault(field.bytes, self.logical_type) });
        }
    }

    /// What becomes of a text that is not written in the usual way.
    #[cold]
    fn odd<'t>(&mut self, row: usize, text: &'t [u8], how: Fields<'_>, bad: &mut Vec<BadValue>) -> Odd<'t> {
        let logical_type = self.logical_type;
        let parsed = match &self.form {
            Some(form) => form.parse(text, logical_type),
            None => Value::parse(text, logical_type),
        };
        if let Some(Inference { seen: of_all, exact, given, misfits }) = &mut self.inference {
            let seen = if how.infer_nulls { Seen::of(text) } else { Seen::of_value(text) }.in_forms(text, given);
            *of_all = of_all.join(seen);
            let holds = of_all.type_and_form(*exact, given) == (Some(logical_type), self.form);
            let nulls = seen.null_tokens(logical_type);
            if holds && !nulls.is_empty() {
                return self.null_token(nulls);
            }
            if !holds || parsed.is_err() {
                // A type that holds the value by what it demands can parse it.
                *misfits = true;
                return Odd::None;
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
                Odd::Value(value)
            }
            Err(fault) => {
                let nulls = Seen::of(text).null_tokens(logical_type);
                if how.infer_nulls && self.nullable && !nulls.is_empty() {
                    return self.null_token(nulls);
                }
                bad.push(BadValue { row, fault });
                Odd::None
            }
        }
    }

    fn strings<'f>(
        &mut self,
        strings: &mut Strings,
        fields: ColumnFields<'f>,
        how: Fields<'_>,
        bad: &mut Vec<BadValue>,
    ) {
        // A column without a value so far has a type only when the first one comes.
        let is_string = |Inference { seen, exact, given, .. }: &Inference| {
            let is_string = seen.type_in(*exact, given) == Some(LogicalType::String);
            !seen.is_untyped() && is_string && (*exact || seen.ambiguity(given).is_none())
        };
        let is_known = self.inference.as_ref().is_none_or(is_string);
        let column = how.strings_for_kernels(&fields).filter(|_| is_known);
        let mut places = std::mem::take(&mut strings.found);
        let odd = match column {
            Some(column) => column.strings(Level::best(), &mut places),
            None => (0..fields.len() as u32).collect(),
        };
        let mut taking = strings.taking(fields.text());
        // Up to which row strings were taken, and up to which it is known which are null.
        let (mut taken, mut valid) = (0, 0);
        for row in odd.into_iter().map(|row| row as usize) {
            taking.extend(places.get(taken..row).unwrap_or_default());
            taken = row + 1;
            let field = fields.get(row);
            if is_known && let Some(value) = how.usual_string(field) {
                taking.push(value);
            } else if let Some(value) = how.value(field) {
                if !is_known {
                    self.odd(row, &value, how, bad);
                }
                taking.push_other(&value);
            } else {
                self.validity.push_values(row - valid);
                valid = row + 1;
                self.null(row, field, bad);
                taking.push_null();
            }
        }
        taking.extend(places.get(taken..).unwrap_or_default());
        taking.end();
        self.validity.push_values(fields.len() - valid);
        strings.found = places;
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
