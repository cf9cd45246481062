//! Binds names to columns and constants to their types.

use super::number::Range;
use super::{Column, Constant, Literal, Node, SyntaxError};
use crate::columns;
use brc_core::{Comparison, PhysicalType, Predicate, Schema};

pub(super) fn resolve(node: &Node, source: &str, schema: &Schema) -> Result<Predicate, SyntaxError> {
    let all = |parts: &[Node]| parts.iter().map(|part| resolve(part, source, schema)).collect::<Result<Vec<_>, _>>();
    match node {
        Node::Compare { column, comparison, constant } => compare(column, *comparison, constant, source, schema),
        Node::And(parts) => Ok(Predicate::And(intersected(all(parts)?))),
        Node::Or(parts) => Ok(Predicate::Or(all(parts)?)),
        Node::Not(part) => Ok(Predicate::Not(Box::new(resolve(part, source, schema)?))),
    }
}

fn compare(
    column: &Column,
    comparison: Comparison,
    constant: &Constant,
    source: &str,
    schema: &Schema,
) -> Result<Predicate, SyntaxError> {
    let index = columns::find(schema, &column.name)
        .map_err(|unknown| SyntaxError::new(unknown.to_string(), column.position, source))?;
    let logical_type = schema.fields()[index].logical_type;
    match (logical_type.physical(), &constant.value) {
        (PhysicalType::Bytes, Literal::Text(text)) => {
            Ok(Predicate::Compare { column: index, comparison, value: text.clone() })
        }
        (PhysicalType::Integers, Literal::Number(number)) if logical_type.is_numeric() => {
            Ok(match number.range(comparison, logical_type.scale()) {
                Range::Inside(low, high) => Predicate::Range { column: index, low: low.into(), high: high.into() },
                Range::Except(value) => {
                    let value = value.into();
                    Predicate::Not(Box::new(Predicate::Range { column: index, low: value, high: value }))
                }
                Range::None => Predicate::Constant(false),
            })
        }
        (PhysicalType::Bytes | PhysicalType::Integers | PhysicalType::Floats, literal) => {
            let (found, hint) = match literal {
                Literal::Text(_) => ("a string", ""),
                Literal::Number(_) => ("a number", "; write strings in single quotes"),
            };
            let message =
                format!("column '{}' is of type {logical_type}, but is compared with {found}{hint}", column.name);
            Err(SyntaxError::new(message, constant.position, source))
        }
    }
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
