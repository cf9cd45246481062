//! Binds names to columns and constants to their types.

use super::number::Range;
use super::{Column, Constant, Literal, Node, SyntaxError};
use crate::columns;
use brc_core::{Comparison, DataType, Predicate, Schema};

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
    match (schema.fields()[index].data_type, &constant.value) {
        (DataType::String, Literal::Text(text)) => {
            Ok(Predicate::Text { column: index, comparison, value: text.clone() })
        }
        (DataType::Decimal { scale }, Literal::Number(number)) => Ok(match number.range(comparison, scale) {
            Range::Inside(low, high) => Predicate::Number { column: index, low, high },
            Range::Except(value) => {
                Predicate::Not(Box::new(Predicate::Number { column: index, low: value, high: value }))
            }
            Range::None => Predicate::Constant(false),
        }),
        (data_type, literal) => {
            let (found, hint) = match literal {
                Literal::Text(_) => ("a string", ""),
                Literal::Number(_) => ("a number", "; write strings in single quotes"),
            };
            let message =
                format!("column '{}' is of type {data_type}, but is compared with {found}{hint}", column.name);
            Err(SyntaxError::new(message, constant.position, source))
        }
    }
}

/// Joins the ranges that the same column has to lie in, so that rows are compared once.
fn intersected(parts: Vec<Predicate>) -> Vec<Predicate> {
    let mut joined: Vec<Predicate> = Vec::with_capacity(parts.len());
    for part in parts {
        if let Predicate::Number { column, low, high } = part {
            let same = joined.iter_mut().find_map(|earlier| match earlier {
                Predicate::Number { column: other, low, high } if *other == column => Some((low, high)),
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
