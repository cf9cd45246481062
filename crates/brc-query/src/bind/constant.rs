//! Constants among the values of a column: a comparison of the two becomes a range.

use super::range::{self, Place};
use crate::sql::Literal;
use brc_core::{Comparison, Field, LogicalType, Predicate, TimeUnit, Value, calendar};

/// The condition that a column compares so with a constant; `None` if they do not compare.
pub(super) fn comparison(column: usize, field: &Field, comparison: Comparison, literal: &Literal) -> Option<Predicate> {
    Some(match among(literal, field.logical_type)? {
        Found::Bytes(value) => Predicate::Compare { column, comparison, value },
        Found::Integer(place) => range::of_integers(column, field, comparison, place),
        Found::Float(value) => range::of_floats(column, comparison, value),
    })
}

/// How to write strings, for messages.
pub(super) const STRINGS: &str = "; write strings in single quotes";

/// How to write what values of a type are compared with, for messages.
pub(super) fn hint(literal: &Literal, logical_type: LogicalType) -> &'static str {
    match (literal, logical_type) {
        (Literal::Number(_), LogicalType::String | LogicalType::Binary) => STRINGS,
        (_, LogicalType::Bool) => "; compare it with true or false",
        (_, LogicalType::Date) => "; write dates as date '2024-01-31'",
        (_, LogicalType::Time { .. }) => "; write times as time '23:59:59'",
        (_, LogicalType::Timestamp { .. }) => "; write points in time as timestamp '2024-01-31 23:59:59'",
        _ => "",
    }
}

/// A constant as one that values of a column compare with.
enum Found {
    Bytes(Vec<u8>),
    Integer(Place),
    Float(f64),
}

/// What a constant is among the values of a type; `None` if they do not compare.
fn among(literal: &Literal, logical_type: LogicalType) -> Option<Found> {
    let exactly = |floor: i64| Found::Integer(Place { floor: floor.into(), exact: true });
    match (logical_type, literal) {
        (LogicalType::String | LogicalType::Binary, Literal::Text(text)) => Some(Found::Bytes(text.clone())),
        (LogicalType::Bool, Literal::Bool(value)) => Some(exactly((*value).into())),
        (LogicalType::Bool, Literal::Text(text)) => match Value::parse(text, logical_type) {
            Ok(Value::Integer(value)) => Some(Found::Integer(Place { floor: value, exact: true })),
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
            Some(Found::Integer(Place { floor, exact }))
        }
        (LogicalType::Float64, Literal::Number(number)) => Some(Found::Float(number.to_float())),
        (LogicalType::Float64, Literal::Text(text)) => match Value::parse(text, logical_type) {
            Ok(Value::Float(value)) => Some(Found::Float(value)),
            _ => None,
        },
        (LogicalType::Date, Literal::Text(text) | Literal::Date(text)) if calendar::parse_date(text).is_some() => {
            calendar::parse_date(text).map(exactly)
        }
        (LogicalType::Date, Literal::Text(text) | Literal::Timestamp(text)) => {
            let microseconds = calendar::parse_timestamp(text, TimeUnit::Microsecond, false)?;
            Some(floored(microseconds, TimeUnit::Microsecond.per_second() * 86_400))
        }
        (LogicalType::Time { unit }, Literal::Text(text) | Literal::Time(text)) => finer(unit)
            .find_map(|finer| Some((finer, calendar::parse_time(text, finer)?)))
            .map(|(finer, value)| floored(value, finer.per_second() / unit.per_second())),
        (
            LogicalType::Timestamp { unit, zone },
            Literal::Text(text) | Literal::Date(text) | Literal::Timestamp(text),
        ) => {
            // Without an offset an instant is one of UTC.
            let parse = |unit: TimeUnit| {
                let instant = calendar::parse_timestamp(text, unit, zone);
                instant.or_else(|| calendar::parse_timestamp(text, unit, false).filter(|_| zone))
            };
            finer(unit)
                .find_map(|finer| Some((finer, parse(finer)?)))
                .map(|(finer, value)| floored(value, finer.per_second() / unit.per_second()))
        }
        (
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Float64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. }
            | LogicalType::String
            | LogicalType::Binary,
            _,
        ) => None,
    }
}

/// The unit and those that are finer.
fn finer(unit: TimeUnit) -> impl Iterator<Item = TimeUnit> {
    TimeUnit::ALL.into_iter().filter(move |finer| *finer >= unit)
}

/// A number of units of which so many make one of the column.
fn floored(value: i64, units: i64) -> Found {
    let floor = value.div_euclid(units).into();
    Found::Integer(Place { floor, exact: value.rem_euclid(units) == 0 })
}

/// Joins the ranges that the same column has to lie in, so that rows are compared once.
pub(super) fn intersected(parts: Vec<Predicate>) -> Vec<Predicate> {
    let mut joined: Vec<Predicate> = Vec::with_capacity(parts.len());
    for part in parts {
        if let Predicate::Range { column, low, high } = part {
            let same = joined.iter_mut().find_map(|earlier| match earlier {
                Predicate::Range { column: other, low, high } if *other == column => Some((low, high)),
                _ => None,
            });
            if let Some((earlier_low, earlier_high)) = same {
                *earlier_low = low.max(*earlier_low);
                *earlier_high = high.min(*earlier_high);
                continue;
            }
        }
        joined.push(part);
    }
    joined
}
