//! One row by the schema, checked in full: the definition of what a row is, and of what is wrong with one that is not.
//!
//! `serde_json` reads the object. It hands each value over as it stands in the line, so that numbers stay exact and strings
//! without escapes are borrowed.

use super::{hex, number};
use crate::frames::has_any_64_bits;
use crate::text::{BadRow, LONGEST_LINE};
use brc_core::{Field, LogicalType, RowFault, Schema, float32};
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, error::Category};
use std::borrow::Cow;
use std::fmt;

/// The value of one column of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Text(Cow<'a, str>),
    Binary(Vec<u8>),
    /// Of any type that lies on integers.
    Integer(i128),
    Float(f64),
}

/// Reads a row, without its line end, into one value for each column.
pub(super) fn parse<'a>(line: &'a [u8], schema: &Schema, values: &mut Vec<Option<Value<'a>>>) -> Result<(), BadRow> {
    let fields = schema.fields();
    values.clear();
    values.resize(fields.len(), None);
    let mut expected = 0;
    let column_of = |key: &str| {
        let in_order = fields.get(expected).is_some_and(|field| field.name == key);
        let column = if in_order { Some(expected) } else { schema.index_of(key) };
        let unknown = || BadRow { column: None, fault: RowFault::UnknownColumn(RowFault::quote(key.as_bytes())) };
        let column = column.ok_or_else(unknown)?;
        expected = column + 1;
        Ok(column)
    };
    members(line, column_of, |column, raw| {
        let bad = |fault| BadRow { column: Some(column), fault };
        let (Some(place), Some(field)) = (values.get_mut(column), fields.get(column)) else { return Ok(()) };
        if place.is_some() {
            return Err(bad(RowFault::DuplicateColumn));
        }
        *place = Some(value(raw, field).map_err(bad)?);
        Ok(())
    })?;
    for (column, (place, field)) in values.iter_mut().zip(fields).enumerate() {
        match place {
            None if field.nullable => *place = Some(Value::Null),
            None => return Err(BadRow { column: Some(column), fault: RowFault::MissingColumn }),
            Some(_) => {}
        }
    }
    Ok(())
}

fn value<'a>(raw: &'a RawValue, field: &Field) -> Result<Value<'a>, RowFault> {
    let logical_type = field.logical_type;
    let kind = Kind::of(raw);
    if kind == Kind::Null && field.nullable {
        return Ok(Value::Null);
    }
    let wrong = RowFault::WrongType { found: kind.name(), expected: logical_type };
    match logical_type {
        LogicalType::Bool if kind == Kind::Boolean => Ok(Value::Integer((raw.get() == "true").into())),
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
            if kind == Kind::Number =>
        {
            integer(raw.get(), logical_type)
        }
        LogicalType::Float32 if kind == Kind::Number => float_32(raw.get()),
        LogicalType::Float64 if kind == Kind::Number => float(raw.get()),
        LogicalType::Float32 | LogicalType::Float64 if kind == Kind::String => not_finite_float(raw.get()).ok_or(wrong),
        LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } | LogicalType::Uuid
            if kind == Kind::String =>
        {
            match brc_core::Value::parse(string(raw)?.as_bytes(), logical_type)? {
                brc_core::Value::Integer(units) => Ok(Value::Integer(units)),
                brc_core::Value::Float(_) | brc_core::Value::Bytes(_) => Err(wrong),
            }
        }
        LogicalType::String if kind == Kind::String => string(raw).map(Value::Text),
        LogicalType::Binary if kind == Kind::String => {
            let text = string(raw)?;
            let malformed =
                || RowFault::MalformedValue { text: RowFault::quote(text.as_bytes()), expected: logical_type };
            hex::parse(&text).map(Value::Binary).ok_or_else(malformed)
        }
        LogicalType::Bool
        | LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Float64
        | LogicalType::Date
        | LogicalType::Time { .. }
        | LogicalType::Timestamp { .. }
        | LogicalType::String
        | LogicalType::Binary
        | LogicalType::Uuid => Err(wrong),
    }
}

/// An integer, or a decimal in units of its scale.
fn integer(text: &str, logical_type: LogicalType) -> Result<Value<'_>, RowFault> {
    let scale = logical_type.scale();
    if has_any_64_bits(logical_type) {
        return number::parse(text, scale).map(|number| Value::Integer(number.into()));
    }
    let out_of_range = || RowFault::OutOfRange { text: RowFault::quote(text.as_bytes()), expected: logical_type };
    let number = match number::parse_wide(text, scale) {
        Err(RowFault::NumberTooLarge(..)) => return Err(out_of_range()),
        number => brc_core::Value::Integer(number?),
    };
    match number.check(logical_type) {
        Ok(brc_core::Value::Integer(number)) => Ok(Value::Integer(number)),
        _ => Err(out_of_range()),
    }
}

/// A float; one that is too large to be one is not taken for infinity.
fn float(text: &str) -> Result<Value<'_>, RowFault> {
    let fault = || RowFault::OutOfRange { text: RowFault::quote(text.as_bytes()), expected: LogicalType::Float64 };
    text.parse().ok().filter(|float: &f64| float.is_finite()).map(Value::Float).ok_or_else(fault)
}

/// A float of 32 bits, rounded once; one that is too large to be one is not taken for infinity.
fn float_32(text: &str) -> Result<Value<'_>, RowFault> {
    let fault = || RowFault::OutOfRange { text: RowFault::quote(text.as_bytes()), expected: LogicalType::Float32 };
    let float = float32::parse(text.as_bytes()).filter(|float| float.is_finite());
    float.map(float32::widen).map(Value::Float).ok_or_else(fault)
}

/// A float for which JSON has no number, from its string with quotes.
fn not_finite_float(quoted: &str) -> Option<Value<'static>> {
    match quoted {
        "\"NaN\"" => Some(Value::Float(f64::NAN)),
        "\"Infinity\"" => Some(Value::Float(f64::INFINITY)),
        "\"-Infinity\"" => Some(Value::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

/// The string that a string of JSON stands for.
fn string(raw: &RawValue) -> Result<Cow<'_, str>, RowFault> {
    let quoted = raw.get();
    match quoted.get(1..quoted.len() - 1) {
        Some(text) if !text.contains('\\') => Ok(Cow::Borrowed(text)),
        // Only now the escapes are looked at: half of a surrogate pair may be among them.
        _ => match serde_json::from_str(quoted) {
            Ok(text) => Ok(Cow::Owned(text)),
            Err(error) => Err(RowFault::MalformedString(reason(&error))),
        },
    }
}

/// What a value of JSON is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Number,
    Null,
    Boolean,
    Array,
    Object,
}

impl Kind {
    pub(super) fn of(raw: &RawValue) -> Self {
        match raw.get().as_bytes().first() {
            Some(b'"') => Self::String,
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'[') => Self::Array,
            Some(b'{') => Self::Object,
            _ => Self::Number,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Reads the object of a line: `column_of` tells what column a key means, `value` takes the value that follows.
///
/// # Errors
/// What these two return, or what is wrong with the object.
pub(super) fn members<'a>(
    line: &'a [u8],
    column_of: impl FnMut(&str) -> Result<usize, BadRow>,
    value: impl FnMut(usize, &'a RawValue) -> Result<(), BadRow>,
) -> Result<(), BadRow> {
    let whole = |fault| Err(BadRow { column: None, fault });
    if line.len() > LONGEST_LINE {
        return whole(RowFault::LineTooLong(LONGEST_LINE));
    }
    match line.iter().find(|byte| !is_space(**byte)) {
        None => return whole(RowFault::EmptyLine),
        Some(b'{') => {}
        Some(_) => return whole(RowFault::NoObject),
    }
    let (mut bad, mut column) = (None, None);
    let object = Members { column_of, value, bad: &mut bad, column: &mut column };
    let mut deserializer = Deserializer::from_slice(line);
    let outcome = object.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match outcome {
        Ok(()) => bad.map_or(Ok(()), Err),
        // A line that is not JSON at all is called so, whatever its keys are.
        Err(error) => {
            let noted = bad.filter(|_| error.is_data());
            Err(noted.unwrap_or_else(|| BadRow { column, fault: malformed(line, &error) }))
        }
    }
}

/// Whether a byte is a space between the tokens of JSON.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn malformed(line: &[u8], error: &serde_json::Error) -> RowFault {
    if error.classify() == Category::Eof {
        return RowFault::ObjectNotEnded;
    }
    let at = error.column();
    let reason = not_finite(line, at).map_or_else(|| reason(error), |word| format!("{word} is not a JSON value"));
    RowFault::MalformedJson { reason, at }
}

/// The float without a JSON form that some programs write nevertheless, if it is what stands around that byte, from 1.
fn not_finite(line: &[u8], at: usize) -> Option<&'static str> {
    let (before, after) = line.split_at_checked(at)?;
    let is_word = |byte: &&u8| byte.is_ascii_alphabetic();
    let start = at - before.iter().rev().take_while(is_word).count();
    let end = at + after.iter().take_while(is_word).count();
    ["NaN", "Infinity"].into_iter().find(|word| word.as_bytes() == &line[start..end])
}

/// What is wrong, without the place: the line is always the first.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or(&message).to_owned()
}

/// Takes the members of an object, and notes what is wrong with them.
struct Members<'m, C, V> {
    column_of: C,
    value: V,
    bad: &'m mut Option<BadRow>,
    /// The column of the value that is being read.
    column: &'m mut Option<usize>,
}

impl<'de, C, V> DeserializeSeed<'de> for Members<'_, C, V>
where
    C: FnMut(&str) -> Result<usize, BadRow>,
    V: FnMut(usize, &'de RawValue) -> Result<(), BadRow>,
{
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, C, V> Visitor<'de> for Members<'_, C, V>
where
    C: FnMut(&str) -> Result<usize, BadRow>,
    V: FnMut(usize, &'de RawValue) -> Result<(), BadRow>,
{
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(column) = map.next_key_seed(Key(&mut self.column_of))? {
            let outcome = match column {
                Ok(column) => {
                    *self.column = Some(column);
                    let raw = map.next_value()?;
                    *self.column = None;
                    (self.value)(column, raw)
                }
                Err(bad) => {
                    map.next_value::<IgnoredAny>()?;
                    self.bad.get_or_insert(bad);
                    Ok(())
                }
            };
            if let Err(bad) = outcome {
                self.bad.get_or_insert(bad);
                return Err(A::Error::custom("a bad row"));
            }
        }
        Ok(())
    }
}

/// Looks a key up without a copy of it.
struct Key<'m, C>(&'m mut C);

impl<'de, C: FnMut(&str) -> Result<usize, BadRow>> DeserializeSeed<'de> for Key<'_, C> {
    type Value = Result<usize, BadRow>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<C: FnMut(&str) -> Result<usize, BadRow>> Visitor<'_> for Key<'_, C> {
    type Value = Result<usize, BadRow>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok((self.0)(key))
    }
}
