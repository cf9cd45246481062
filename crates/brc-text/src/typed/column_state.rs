//! Parses the fields of one column: nearly all by kernels, the rest value by value, recording what they require of the
//! type.

use super::changes::{Changes, differ, differs_if_altered};
use super::fields::FieldRules;
use super::strings::Strings;
use super::values::{self, DigitCounts, Parsed, Text};
use crate::form::{Form, GivenForms};
use crate::infer::{NullTokenSet, Seen};
use crate::rows::{ColumnFields, Field};
use crate::unquote::within_blanks;
use brc_core::{BitmapBuffer, LogicalType, RowFault, Value};
use brc_kernels::cpu::Level;
use brc_kernels::fields::{self, FieldColumn, FloatShapes};

/// The type, validity and inference state of a column.
pub(super) struct ColumnState {
    pub(super) logical_type: LogicalType,
    /// The form of the values, if not the usual one.
    pub(super) form: Option<Form>,
    pub(super) nullable: bool,
    pub(super) validity: BitmapBuffer,
    pub(super) inference: Option<Inference>,
    pub(super) changes: Changes,
}

pub(super) struct Inference {
    pub(super) seen: Seen,
    pub(super) exact: bool,
    pub(super) given: GivenForms,
    /// Whether some value does not fit the type.
    pub(super) misfits: bool,
}

/// Parses the fields of a column. The flag requests that only values in canonical text form are parsed.
pub(super) type Kernel<'k, T> = &'k mut dyn FnMut(&FieldColumn<'_>, bool, &mut Vec<T>) -> fields::Parsed;

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

impl ColumnState {
    /// Appends fields to `out`: nearly all by the kernel, those that it rejects by the function `fast`, and the rest by
    /// [`parse_slow`](Self::parse_slow), whose values `of_value` converts.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn take<'f, T: Copy + Default>(
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
    pub(super) fn formed<'f, T: Copy + Default>(
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

    pub(super) fn floats<'f>(
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

    pub(super) fn null(&mut self, row: usize, field: Field<'_>, bad: &mut Vec<BadValue>) {
        self.validity.push(false);
        if !self.nullable {
            bad.push(BadValue { row, fault: null_fault(field.bytes) });
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
        let parsed = parse_field(text, self.form, logical_type);
        if let Some(Inference { seen: of_all, exact, given, misfits }) = &mut self.inference {
            let seen = Seen::of_field(text, rules.infer_nulls, given);
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
                let nulls = null_tokens(text, logical_type);
                if rules.infer_nulls && self.nullable && !nulls.is_empty() {
                    return self.null_token(nulls);
                }
                bad.push(BadValue { row, fault });
                SlowResult::None
            }
        }
    }

    pub(super) fn strings<'f>(
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

/// Parses a field without quotes as a value of a type, in the usual form if no other is given. Blanks around it are part
/// of a string only.
///
/// # Errors
/// What is wrong with it.
pub fn parse_field(text: &[u8], form: Option<Form>, logical_type: LogicalType) -> Result<Value<'_>, RowFault> {
    let parse = |text| match form {
        Some(form) => form.parse(text, logical_type),
        None => Value::parse(text, logical_type),
    };
    parse(text).or_else(|fault| parse(&text[within_blanks(text)]).map_err(|_| fault))
}

/// The null tokens that a field is in a column of a type, likewise.
pub(super) fn null_tokens(text: &[u8], logical_type: LogicalType) -> NullTokenSet {
    Seen::of(&text[within_blanks(text)]).null_tokens(logical_type)
}

/// The fault of a null in a column that is not nullable.
pub(super) fn null_fault(field: &[u8]) -> RowFault {
    RowFault::Null(RowFault::quote(field))
}
