//! Compares constants with the values that a column or an expression can have: the comparison becomes a range.

use super::range::{self, FloatFloor, IntegerFloor};
use crate::sql::Literal;
use brc_core::{Comparison, LogicalType, Predicate, TimeUnit, Value, calendar, float32, uuid};
use std::collections::HashMap;

/// What is compared with constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tested {
    /// The column that it is in a predicate.
    pub(super) column: usize,
    /// Its type.
    pub(super) of: LogicalType,
    pub(super) nullable: bool,
}

impl Tested {
    /// The condition that it compares so with a constant; `None` if they do not compare.
    pub(super) fn comparison(self, comparison: Comparison, literal: &Literal) -> Option<Predicate> {
        Some(match among(literal, self.of)? {
            Found::Bytes(value) => Predicate::Compare { column: self.column, comparison, value },
            Found::Integer(place) => range::of_integers(self, comparison, place),
            Found::Float(place) => range::of_floats(self.column, comparison, place),
        })
    }
}

/// How to write strings, for messages.
pub(crate) const STRINGS: &str = "; write strings in single quotes";

/// How to write what values of a type are compared with, for messages.
pub(super) fn hint(literal: &Literal, logical_type: LogicalType) -> &'static str {
    match (literal, logical_type) {
        (Literal::Number(_), LogicalType::String | LogicalType::Binary) => STRINGS,
        (Literal::Text(_), of_type) if of_type.is_numeric() => "; write numbers without quotes",
        (Literal::Text(_), LogicalType::Date) => " that is not a date; write dates as date '2024-01-31'",
        (Literal::Text(_), LogicalType::Time { .. }) => " that is not a time; write times as time '23:59:59'",
        (Literal::Text(_), LogicalType::Timestamp { .. }) => {
            " that is not a point in time; write such as timestamp '2024-01-31 23:59:59'"
        }
        (_, LogicalType::Bool) => "; compare it with true or false",
        (_, LogicalType::Date) => "; write dates as date '2024-01-31'",
        (_, LogicalType::Uuid) => "; write UUIDs as '123e4567-e89b-12d3-a456-426614174000'",
        (_, LogicalType::Time { .. }) => "; write times as time '23:59:59'",
        (_, LogicalType::Timestamp { .. }) => "; write points in time as timestamp '2024-01-31 23:59:59'",
        _ => "",
    }
}

/// A constant as one that values of a column compare with.
enum Found {
    Bytes(Vec<u8>),
    Integer(IntegerFloor),
    Float(FloatFloor),
}

/// What a constant is among the values of a type; `None` if they do not compare.
fn among(literal: &Literal, logical_type: LogicalType) -> Option<Found> {
    let exactly = |floor: i64| Found::Integer(IntegerFloor { floor: floor.into(), exact: true });
    match (logical_type, literal) {
        (LogicalType::String | LogicalType::Binary, Literal::Text(text)) => Some(Found::Bytes(text.clone())),
        (LogicalType::Bool, Literal::Bool(value)) => Some(exactly((*value).into())),
        (LogicalType::Bool, Literal::Text(text)) => match Value::parse(text, logical_type) {
            Ok(Value::Integer(value)) => Some(Found::Integer(IntegerFloor { floor: value, exact: true })),
            _ => None,
        },
        (
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. },
            Literal::Number(number),
        ) => {
            let (floor, exact) = number.floor(logical_type.scale());
            Some(Found::Integer(IntegerFloor { floor, exact }))
        }
        (LogicalType::Float32, Literal::Number(number)) if number.is_float() => {
            Some(Found::Float(FloatFloor { floor: rounded(number.to_float()), exact: true }))
        }
        (LogicalType::Float32 | LogicalType::Float64, Literal::Number(number)) => {
            Some(Found::Float(FloatFloor::of(number)))
        }
        (LogicalType::Uuid, Literal::Text(text)) => {
            uuid::parse(text).map(|floor| Found::Integer(IntegerFloor { floor, exact: true }))
        }
        (LogicalType::Float32 | LogicalType::Float64, Literal::Text(text)) => match Value::parse(text, logical_type) {
            Ok(Value::Float(floor)) => Some(Found::Float(FloatFloor { floor, exact: true })),
            _ => None,
        },
        (LogicalType::Date, Literal::Date(text)) => calendar::parse_date(text).map(exactly),
        (LogicalType::Date, Literal::Text(text) | Literal::Timestamp(text)) => {
            Some(floored(nanoseconds(text)?, FINEST.per_second() * calendar::DAY_SECONDS))
        }
        (LogicalType::Time { unit }, Literal::Text(text) | Literal::Time(text)) => {
            let nanoseconds = calendar::parse_time(text, FINEST)?;
            Some(floored(nanoseconds.into(), FINEST.per_second() / unit.per_second()))
        }
        (LogicalType::Timestamp { unit, .. }, Literal::Text(text) | Literal::Date(text) | Literal::Timestamp(text)) => {
            Some(floored(nanoseconds(text)?, FINEST.per_second() / unit.per_second()))
        }
        (
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
            | LogicalType::Uuid,
            _,
        ) => None,
    }
}

/// In this unit any constant is exact.
const FINEST: TimeUnit = TimeUnit::Nanosecond;

/// A point in time. Without a distance from UTC it is one of UTC.
fn nanoseconds(text: &[u8]) -> Option<i128> {
    [false, true].into_iter().find_map(|zone| calendar::parse_wide_timestamp(text, FINEST, zone))
}

/// A constant among floats of 32 bits: the nearest of them, so that `f = 1.1` finds what is shown as 1.1. One beyond
/// all of them stays what it is.
pub(super) fn rounded(constant: f64) -> f64 {
    let nearest = float32::widen(float32::nearest(constant));
    if nearest.is_finite() { nearest } else { constant }
}

/// A number of units of which this many make one of the column.
fn floored(value: i128, units: i64) -> Found {
    let units = i128::from(units);
    Found::Integer(IntegerFloor { floor: value.div_euclid(units), exact: value.rem_euclid(units) == 0 })
}

/// Joins the ranges that the same column has to lie in, so that rows are compared once.
pub(super) fn intersected(parts: Vec<Predicate>) -> Vec<Predicate> {
    let mut joined: Vec<Predicate> = Vec::with_capacity(parts.len());
    let mut ranges = HashMap::new();
    for part in parts {
        let next = joined.len();
        let index = match part {
            Predicate::Range { column, .. } => *ranges.entry(column).or_insert(next),
            _ => next,
        };
        match (joined.get_mut(index), part) {
            (Some(Predicate::Range { low, high, .. }), Predicate::Range { low: new_low, high: new_high, .. }) => {
                (*low, *high) = (new_low.max(*low), new_high.min(*high));
            }
            (_, part) => joined.push(part),
        }
    }
    joined
}
