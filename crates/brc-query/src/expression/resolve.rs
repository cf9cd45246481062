//! Binds names to columns and constants to their types.

use super::range::{self, Place};
use super::{Column, Constant, Literal, Node, SyntaxError};
use crate::columns;
use brc_core::{Comparison, LogicalType, Predicate, Schema, TimeUnit, Value, calendar};

pub(super) fn resolve(node: &Node, source: &str, schema: &Schema) -> Result<Predicate, SyntaxError> {
    let all = |parts: &[Node]| parts.iter().map(|part| resolve(part, source, schema)).collect::<Result<Vec<_>, _>>();
    match node {
        Node::Compare { column, comparison, constant } => compare(column, *comparison, constant, source, schema),
        Node::IsNull { column } => Ok(Predicate::IsNull { column: find(column, source, schema)? }),
        Node::And(parts) => Ok(Predicate::And(intersected(all(parts)?))),
        Node::Or(parts) => Ok(Predicate::Or(all(parts)?)),
        Node::Not(part) => Ok(Predicate::Not(Box::new(resolve(part, source, schema)?))),
    }
}

fn find(column: &Column, source: &str, schema: &Schema) -> Result<usize, SyntaxError> {
    columns::find(schema, &column.name)
        .map_err(|unknown| SyntaxError::new(unknown.to_string(), column.position, source))
}

fn compare(
    column: &Column,
    comparison: Comparison,
    constant: &Constant,
    source: &str,
    schema: &Schema,
) -> Result<Predicate, SyntaxError> {
    let index = find(column, source, schema)?;
    let field = &schema.fields()[index];
    let logical_type = field.logical_type;
    match among(&constant.value, logical_type) {
        Some(Found::Bytes(value)) => Ok(Predicate::Compare { column: index, comparison, value }),
        Some(Found::Integer(place)) => Ok(range::of_integers(index, field, comparison, place)),
        Some(Found::Float(value)) => Ok(range::of_floats(index, comparison, value)),
        None => {
            let hint = match (&constant.value, logical_type) {
                (Literal::Number(_), LogicalType::String | LogicalType::Binary) => "; write strings in single quotes",
                (_, LogicalType::Bool) => "; compare it with true or false",
                (_, LogicalType::Date) => "; write dates as date '2024-01-31'",
                (_, LogicalType::Time { .. }) => "; write times as time '23:59:59'",
                (_, LogicalType::Timestamp { .. }) => "; write points in time as timestamp '2024-01-31 23:59:59'",
                _ => "",
            };
            let (name, found) = (&column.name, constant.value.kind());
            let message = format!("column '{name}' is of type {logical_type}, but is compared with {found}{hint}");
            Err(SyntaxError::new(message, constant.position, source))
        }
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
fn intersected(parts: Vec<Predicate>) -> Vec<Predicate> {
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
