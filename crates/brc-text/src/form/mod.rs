//! Formats of values: the ways in which people write numbers, dates and times, other than brc's own.
//!
//! `31/12/2024` and `1.234,56` are as much a date and a number as `2024-12-31` and `1234.56`. A [`Form`] parses them
//! and formats them again. It is stored with the table, so that the text can be reproduced.

mod exact;
mod number;
mod parts;
mod reader;
mod terms;
mod time;

pub use number::NumberForm;
pub(crate) use number::are_signed_digits;
pub use parts::{Padding, Parts, ZoneOffset};
pub use time::{FormError, TimeForm};

use brc_core::{LogicalType, RowFault, Schema, TimeUnit, Value};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The prefix of the metadata keys that hold forms; the column name follows it.
const METADATA_KEY: &str = "brc.form.";

/// How the values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Numbers with separators of their own.
    Number(NumberForm),
    /// Dates, times of day, or both.
    Time(TimeForm),
}

impl Form {
    /// Parses a value in this form. A form that starts like brc's own dates or times accepts those, too.
    ///
    /// # Errors
    /// If the text is not a value of that type.
    pub fn parse(&self, text: &[u8], logical_type: LogicalType) -> Result<Value<'static>, RowFault> {
        match self {
            Form::Number(form) => {
                let mut canonical = [0; NumberForm::MAX_BYTES];
                let number = match form.canonical(text, &mut canonical) {
                    Some(number) => number,
                    // Infinity and NaN are written alike in all forms.
                    None if logical_type.is_float() && !text.iter().any(u8::is_ascii_digit) => text,
                    None => return Err(RowFault::MalformedNumber(RowFault::quote(text))),
                };
                owned(Value::parse(number, logical_type)?, text, logical_type)
            }
            Form::Time(form) => match form.parse(text).and_then(|parts| form.value(&parts, logical_type)) {
                Some(value) => Ok(Value::Integer(value.into())),
                None if form.takes_usual() => owned(Value::parse(text, logical_type)?, text, logical_type),
                None => Err(malformed(text, logical_type)),
            },
        }
    }

    /// Appends the text of a value of that type; in the usual form if this one would lose a part of it, such as seconds.
    pub fn write(&self, value: Value<'_>, logical_type: LogicalType, out: &mut Vec<u8>) {
        match (self, value) {
            (Form::Number(form), value) => {
                let mut canonical = Vec::with_capacity(40);
                value.write(logical_type, &mut canonical);
                form.write(&canonical, out);
            }
            (Form::Time(form), Value::Integer(integer)) => {
                match i64::try_from(integer).ok().and_then(|integer| Parts::of(integer, logical_type)) {
                    Some(parts) if parts.has_usual_year() && form.expresses(&parts) => form.write(&parts, out),
                    _ => value.write(logical_type, out),
                }
            }
            (Form::Time(_), value) => value.write(logical_type, out),
        }
    }

    /// The forms of the columns of a table, from its metadata. Forms that no longer match the type of their column are
    /// dropped.
    #[must_use]
    pub fn of_columns(schema: &Schema) -> Vec<Option<Form>> {
        let form = |field: &brc_core::Field| {
            let form: Form = schema.metadata_of(&format!("{METADATA_KEY}{}", field.name))?.parse().ok()?;
            form.goes_with(field.logical_type).then_some(form)
        };
        schema.fields().iter().map(form).collect()
    }

    /// The forms in which to write the columns of a table as one text. If a column has a decimal comma, numbers in the
    /// usual form get one, too: `1.250` would be read as a thousand in such a text.
    #[must_use]
    pub fn of_text(schema: &Schema) -> Vec<Option<Form>> {
        let mut forms = Self::of_columns(schema);
        if forms.iter().flatten().any(Self::has_decimal_comma) {
            for (form, field) in forms.iter_mut().zip(schema.fields()) {
                if form.is_none() && has_decimals(field.logical_type) {
                    *form = Some(Form::Number(NumberForm::COMMA));
                }
            }
        }
        forms
    }

    fn has_decimal_comma(&self) -> bool {
        matches!(self, Form::Number(form) if form.decimal() == b',')
    }

    /// The metadata entry (key, value) that records this form for a column.
    #[must_use]
    pub fn metadata(&self, column: &str) -> (String, String) {
        (format!("{METADATA_KEY}{column}"), self.to_string())
    }

    /// A schema of rows of a table, with the forms of its columns. `columns` are their positions in the table; `None`
    /// is a computed column. Integers have no points between thousands unless another column has a decimal comma: some
    /// rows of a table may not tell that `1.250` is a thousand.
    #[must_use]
    pub fn carry(table: &Schema, columns: &[Option<usize>], schema: Schema) -> Schema {
        let forms = Self::of_columns(table);
        let form = |column: &Option<usize>| forms.get((*column)?).copied().flatten();
        let has_comma = schema.fields().iter().zip(columns).any(|(field, column)| {
            has_decimals(field.logical_type) && form(column).is_some_and(|form| form.has_decimal_comma())
        });
        let is_clear = |form: &Form| match form {
            Form::Number(form) => has_comma || !form.has_thousands_by(b'.'),
            Form::Time(_) => true,
        };
        let form = |(field, column): (&brc_core::Field, &Option<usize>)| {
            Some(form(column).filter(is_clear)?.metadata(&field.name))
        };
        let carried: Vec<(String, String)> = schema.fields().iter().zip(columns).filter_map(form).collect();
        let others = schema.metadata().iter().filter(|(key, _)| !key.starts_with(METADATA_KEY)).cloned();
        let metadata = others.chain(carried).collect();
        schema.with_metadata(metadata)
    }

    /// The type of values of this form: a decimal for numbers, and times with second precision.
    #[must_use]
    pub fn logical_type(&self) -> LogicalType {
        match self {
            Form::Number(_) => LogicalType::decimal(0),
            Form::Time(form) => form.logical_type(TimeUnit::Second),
        }
    }

    /// Whether values of that type can be written in this form.
    #[must_use]
    pub fn goes_with(&self, logical_type: LogicalType) -> bool {
        match self {
            Form::Number(_) => logical_type.is_numeric(),
            Form::Time(form) => form.goes_with(logical_type),
        }
    }
}

fn has_decimals(logical_type: LogicalType) -> bool {
    logical_type.is_float() || logical_type.scale() > 0
}

fn owned(value: Value<'_>, text: &[u8], logical_type: LogicalType) -> Result<Value<'static>, RowFault> {
    match value {
        Value::Integer(integer) => Ok(Value::Integer(integer)),
        Value::Float(float) => Ok(Value::Float(float)),
        Value::Bytes(_) => Err(malformed(text, logical_type)),
    }
}

fn malformed(text: &[u8], logical_type: LogicalType) -> RowFault {
    RowFault::MalformedValue { text: RowFault::quote(text), expected: logical_type }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Number(form) => form.fmt(f),
            Form::Time(form) => form.fmt(f),
        }
    }
}

impl FromStr for Form {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        if text.contains('%') { text.parse().map(Form::Time) } else { text.parse().map(Form::Number) }
    }
}

/// The forms that the user sets for a column. `None` leaves a form to inference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GivenForms {
    /// The number form; other texts are not numbers then.
    pub number: Option<GivenNumber>,
    /// The form of dates, or of times of day.
    pub date: Option<TimeForm>,
    /// The form of timestamps.
    pub timestamp: Option<TimeForm>,
    /// The decimal separator in other columns of the table. Resolves numbers that can be read in two ways.
    pub likely_decimal: Option<u8>,
    /// Whether commas in numbers are no decimal marks: another column has decimal points, and commas may separate the
    /// values of a list.
    pub no_decimal_commas: bool,
    /// Whether commas in numbers may separate the values of lists.
    pub may_have_lists: bool,
    /// Whether points may be thousands separators: programs that write these hardly separate fields by commas.
    pub may_have_groups: bool,
    /// Whether a form of dates or timestamps is set for this column, not for all.
    pub is_own: bool,
    /// Whether the values are times of day: those without seconds are no durations.
    pub are_times: bool,
}

impl GivenForms {
    /// Whether no form is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.number.is_none() && self.date.is_none() && self.timestamp.is_none()
    }
}

/// A number form that the user sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenNumber {
    /// The form.
    pub form: NumberForm,
    /// Whether only the decimal separator was given, so that any thousands separator is accepted.
    pub any_thousands: bool,
}

/// The forms that the user sets for the columns of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TableForms {
    /// The number form of all columns.
    pub number: Option<GivenNumber>,
    /// Time forms, for the column of that name or for all. Later entries take precedence over earlier ones, and entries
    /// for one column over those for all.
    pub times: Vec<(Option<String>, TimeForm)>,
}

impl TableForms {
    /// The forms of a column.
    #[must_use]
    pub fn of_column(&self, name: &str) -> GivenForms {
        let last = |is_it: fn(&TimeForm) -> bool| {
            let of = |own: &Option<String>| own.as_ref().is_none_or(|own| own == name);
            let times = self.times.iter().filter(|(own, form)| of(own) && is_it(form));
            times.max_by_key(|(own, _)| own.is_some()).map(|(_, form)| *form)
        };
        GivenForms {
            number: self.number,
            date: last(|form| !form.is_timestamp()),
            timestamp: last(TimeForm::is_timestamp),
            likely_decimal: None,
            no_decimal_commas: false,
            may_have_lists: false,
            may_have_groups: false,
            is_own: self.times.iter().any(|(own, _)| own.as_deref() == Some(name)),
            are_times: false,
        }
    }
}

impl GivenForms {
    /// The form for values of that type.
    #[must_use]
    pub fn of_type(&self, logical_type: LogicalType) -> Option<Form> {
        let times = [self.date, self.timestamp].into_iter().flatten().map(Form::Time);
        let mut forms = self.number.map(|number| Form::Number(number.form)).into_iter().chain(times);
        forms.find(|form| form.goes_with(logical_type))
    }
}

#[cfg(test)]
mod tests;
