//! Parses one value by the type of its column.
//!
//! If the type was given, a value of a different type is an error. If it is inferred, the value determines its demand
//! on the type: numbers are numbers in any spelling, strings are never numbers, and dates and times are strings of
//! their form.

use super::escapes::unescape;
use super::hex;
use super::number;
use super::syntax::{Member, ValueKind, compact};
use crate::frames::has_any_64_bits;
use brc_core::{LogicalType, RowFault, decimal, float32};
use brc_text::infer::Seen;
use std::borrow::Cow;

/// A value of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    /// A string or binary data.
    Bytes(Cow<'a, [u8]>),
    /// Any type stored as integers.
    Integer(i128),
    Float(f64),
}

impl From<brc_core::Value<'_>> for Value<'_> {
    fn from(value: brc_core::Value<'_>) -> Self {
        match value {
            brc_core::Value::Integer(integer) => Self::Integer(integer),
            brc_core::Value::Float(float) => Self::Float(float),
            brc_core::Value::Bytes(bytes) => Self::Bytes(Cow::Owned(bytes.to_vec())),
        }
    }
}

/// A value as a string.
fn string<'t>(text: &'t [u8], member: &Member) -> Result<Cow<'t, [u8]>, RowFault> {
    let bytes = &text[member.value.clone()];
    if member.kind == (ValueKind::String { has_escapes: true }) { unescape(bytes) } else { Ok(Cow::Borrowed(bytes)) }
}

/// Parses a value that is not null as the given type.
///
/// # Errors
/// If it is not of that type.
pub(super) fn read<'t>(text: &'t [u8], member: &Member, logical_type: LogicalType) -> Result<Value<'t>, RowFault> {
    let bytes = &text[member.value.clone()];
    let is_string = matches!(member.kind, ValueKind::String { .. });
    let wrong = || RowFault::WrongType { found: member.kind.name(), expected: logical_type };
    match logical_type {
        LogicalType::Bool => boolean(member.kind).ok_or_else(wrong),
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
            if member.kind == ValueKind::Number =>
        {
            integer(bytes, logical_type)
        }
        LogicalType::Float32 | LogicalType::Float64 => match member.kind {
            ValueKind::Number if logical_type == LogicalType::Float32 => float_32(bytes),
            ValueKind::Number => float(bytes),
            ValueKind::NotFinite | ValueKind::String { .. } => not_finite_float(bytes).ok_or_else(wrong),
            ValueKind::Null | ValueKind::True | ValueKind::False | ValueKind::Array | ValueKind::Object => Err(wrong()),
        },
        LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } | LogicalType::Uuid
            if is_string =>
        {
            Ok(brc_core::Value::parse(&string(text, member)?, logical_type)?.into())
        }
        LogicalType::String if is_string => string(text, member).map(Value::Bytes),
        LogicalType::Binary if is_string => {
            let digits = string(text, member)?;
            let malformed = || RowFault::MalformedValue { text: RowFault::quote(&digits), expected: logical_type };
            hex::parse(&digits).map(|bytes| Value::Bytes(Cow::Owned(bytes))).ok_or_else(malformed)
        }
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Date
        | LogicalType::Time { .. }
        | LogicalType::Timestamp { .. }
        | LogicalType::String
        | LogicalType::Binary
        | LogicalType::Uuid => Err(wrong()),
    }
}

/// Parses a value that is not null as an inferred type; `None` if the type does not fit it.
pub(super) fn read_inferred<'t>(text: &'t [u8], member: &Member, logical_type: LogicalType) -> Option<Value<'t>> {
    let bytes = &text[member.value.clone()];
    match logical_type {
        LogicalType::String if matches!(member.kind, ValueKind::Array | ValueKind::Object) => {
            let mut nested = Vec::with_capacity(bytes.len());
            compact(bytes, &mut nested);
            Some(Value::Bytes(Cow::Owned(nested)))
        }
        LogicalType::String => string(text, member).ok().map(Value::Bytes),
        LogicalType::Bool => boolean(member.kind),
        LogicalType::Float64 => match member.kind {
            ValueKind::Number => float(bytes).ok(),
            ValueKind::NotFinite | ValueKind::String { .. } => not_finite_float(bytes),
            ValueKind::Null | ValueKind::True | ValueKind::False | ValueKind::Array | ValueKind::Object => None,
        },
        LogicalType::Int64 | LogicalType::UInt64 | LogicalType::Decimal { .. } if member.kind == ValueKind::Number => {
            let number = brc_core::Value::Integer(decimal::parse_wide(bytes, logical_type.scale()).ok()?);
            number.check(logical_type).ok().map(Value::from)
        }
        LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. } => match member.kind {
            ValueKind::String { .. } => {
                units(&string(text, member).ok()?, logical_type).map(|it| Value::Integer(it.into()))
            }
            ValueKind::Null
            | ValueKind::True
            | ValueKind::False
            | ValueKind::Number
            | ValueKind::NotFinite
            | ValueKind::Array
            | ValueKind::Object => None,
        },
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Binary
        | LogicalType::Uuid => None,
    }
}

/// A date or time of an inferred type in its units, if the form of the string implies such a type.
pub(super) fn units(text: &[u8], logical_type: LogicalType) -> Option<i64> {
    let is_one = match logical_type {
        LogicalType::Date => text.len() == 10,
        LogicalType::Time { .. } => text.len() >= 8,
        LogicalType::Timestamp { .. } => text.len() >= 10 && text[4] == b'-',
        LogicalType::Bool
        | LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Float64
        | LogicalType::String
        | LogicalType::Binary
        | LogicalType::Uuid => false,
    };
    match brc_core::Value::parse(text, logical_type) {
        Ok(brc_core::Value::Integer(units)) if is_one => i64::try_from(units).ok(),
        _ => None,
    }
}

/// The demand of a value on the inferred type of its column.
pub(super) fn demand(text: &[u8], member: &Member) -> Seen {
    match member.kind {
        ValueKind::Null => Seen::NOTHING,
        ValueKind::True | ValueKind::False => Seen::BOOL,
        ValueKind::Number | ValueKind::NotFinite => Seen::of_value(&text[member.value.clone()]),
        ValueKind::String { .. } => string(text, member).map_or(Seen::TEXT, |string| Seen::of_string(&string)),
        ValueKind::Array | ValueKind::Object => Seen::NESTED,
    }
}

fn boolean(kind: ValueKind) -> Option<Value<'static>> {
    match kind {
        ValueKind::True => Some(Value::Integer(1)),
        ValueKind::False => Some(Value::Integer(0)),
        ValueKind::Null
        | ValueKind::Number
        | ValueKind::NotFinite
        | ValueKind::String { .. }
        | ValueKind::Array
        | ValueKind::Object => None,
    }
}

/// An integer, or a decimal in units of its scale.
fn integer(text: &[u8], logical_type: LogicalType) -> Result<Value<'static>, RowFault> {
    let scale = logical_type.scale();
    if has_any_64_bits(logical_type) {
        return number::parse(text, scale).map(|number| Value::Integer(number.into()));
    }
    let out_of_range = || RowFault::OutOfRange { text: RowFault::quote(text), expected: logical_type };
    let number = match number::parse_wide(text, scale) {
        Err(RowFault::NumberTooLarge(..)) => return Err(out_of_range()),
        number => brc_core::Value::Integer(number?),
    };
    number.check(logical_type).map(Value::from).map_err(|()| out_of_range())
}

/// A float; an overflow is an error, not infinity.
fn float(text: &[u8]) -> Result<Value<'static>, RowFault> {
    let fault = || RowFault::OutOfRange { text: RowFault::quote(text), expected: LogicalType::Float64 };
    let float = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    float.filter(|float: &f64| float.is_finite()).map(Value::Float).ok_or_else(fault)
}

/// A 32-bit float, rounded once; an overflow is an error, not infinity.
fn float_32(text: &[u8]) -> Result<Value<'static>, RowFault> {
    let fault = || RowFault::OutOfRange { text: RowFault::quote(text), expected: LogicalType::Float32 };
    let float = float32::parse(text).filter(|float| float.is_finite());
    float.map(float32::widen).map(Value::Float).ok_or_else(fault)
}

/// A float that is not a JSON number.
fn not_finite_float(word: &[u8]) -> Option<Value<'static>> {
    match word {
        b"NaN" => Some(Value::Float(f64::NAN)),
        b"Infinity" => Some(Value::Float(f64::INFINITY)),
        b"-Infinity" => Some(Value::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}
