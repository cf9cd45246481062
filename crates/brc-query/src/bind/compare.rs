//! Comparisons: of a column with a constant a range, of all else a function.

use super::{Binder, Result, constant, literal};
use crate::functions::compare;
use crate::node::{FunctionName, Node, Typed};
use crate::sql::{Kind, Literal, Syntax};
use brc_core::{Comparison, LogicalType};

impl Binder<'_> {
    pub(super) fn compare(&mut self, comparison: Comparison, left: &Syntax, right: &Syntax) -> Result {
        for side in [left, right] {
            if side.kind == Kind::Literal(Literal::Null) {
                let message = "nothing is equal to null; write 'is null' or 'is not null'";
                return self.error(message, side.position);
            }
        }
        let (one, other) = match (&left.kind, &right.kind) {
            (Kind::Literal(one), Kind::Literal(_)) => {
                let other = self.bind(right)?;
                (self.literal_like(one, other.logical_type, left.position)?, other)
            }
            (Kind::Literal(literal), _) => {
                let column = self.bind(right)?;
                match self.with_constant(&column, comparison.mirrored(), literal, left.position)? {
                    Some(condition) => return Ok(condition),
                    None => (self.literal_like(literal, column.logical_type, left.position)?, column),
                }
            }
            (_, Kind::Literal(literal)) => {
                let column = self.bind(left)?;
                match self.with_constant(&column, comparison, literal, right.position)? {
                    Some(condition) => return Ok(condition),
                    None => {
                        let constant = self.literal_like(literal, column.logical_type, right.position)?;
                        (column, constant)
                    }
                }
            }
            _ => {
                let one = self.bind(left)?;
                let other = self.bind_beside(&one, right)?;
                (one, other)
            }
        };
        for (column, constant, comparison) in [(&one, &other, comparison), (&other, &one, comparison.mirrored())] {
            if let Some(literal) = literal::written(constant)
                && let Some(condition) = self.with_constant(column, comparison, &literal, right.position)?
            {
                return Ok(condition);
            }
        }
        self.function(comparison, one, other, right.position)
    }

    /// What a value is compared with. A name without a column, beside a string, is often a string without its quotes.
    fn bind_beside(&mut self, one: &Typed, other: &Syntax) -> Result {
        let is_name = one.logical_type == LogicalType::String && matches!(other.kind, Kind::Column(_));
        self.bind(other).map_err(|error| if is_name { error.with_hint(constant::STRINGS) } else { error })
    }

    /// A column compared with a constant; `None` if it is no column.
    fn with_constant(
        &self,
        column: &Typed,
        comparison: Comparison,
        literal: &Literal,
        position: usize,
    ) -> Result<Option<Typed>> {
        let Node::Column(index) = column.node else { return Ok(None) };
        let field = &self.scope.fields()[index];
        match constant::comparison(index, field, comparison, literal) {
            Some(predicate) => Ok(Some(Typed::truth(Node::Condition(predicate), field.nullable))),
            None => {
                let (name, logical_type) = (&field.name, field.logical_type);
                let (kind, hint) = (literal.kind(), constant::hint(literal, logical_type));
                let message = format!("column '{name}' is of type {logical_type}, but is compared with {kind}{hint}");
                self.mismatch(message, position)
            }
        }
    }

    fn function(&self, comparison: Comparison, one: Typed, other: Typed, position: usize) -> Result {
        let (from, to) = (one.logical_type, other.logical_type);
        let Some(common) = common(from, to) else {
            return self.mismatch(format!("a value of type {from} is compared with one of type {to}"), position);
        };
        // Numbers are compared as they are: exactly.
        let is_one_kind = from == to || (from.is_numeric() && to.is_numeric());
        let side = |side| if is_one_kind { Ok(side) } else { self.cast(side, common, false, position) };
        let arguments = vec![side(one)?, side(other)?];
        let nullable = arguments.iter().any(|argument| argument.nullable);
        let function = FunctionName(compare::function(comparison));
        self.folded(Typed::truth(Node::Call { function, arguments }, nullable), position)
    }
}

/// The type that holds the values of both.
pub(super) fn common(one: LogicalType, other: LogicalType) -> Option<LogicalType> {
    if one == other {
        return Some(one);
    }
    match (one, other) {
        (LogicalType::String, LogicalType::Binary) | (LogicalType::Binary, LogicalType::String) => {
            Some(LogicalType::Binary)
        }
        (LogicalType::Date, timestamp @ LogicalType::Timestamp { .. })
        | (timestamp @ LogicalType::Timestamp { .. }, LogicalType::Date) => Some(timestamp),
        (LogicalType::Timestamp { unit: one, zone }, LogicalType::Timestamp { unit: other, zone: other_zone }) => {
            Some(LogicalType::Timestamp { unit: one.max(other), zone: zone || other_zone })
        }
        (LogicalType::Time { unit: one }, LogicalType::Time { unit: other }) => {
            Some(LogicalType::Time { unit: one.max(other) })
        }
        _ if one.is_numeric() && other.is_numeric() => Some(numbers(one, other)),
        _ => None,
    }
}

fn numbers(one: LogicalType, other: LogicalType) -> LogicalType {
    let whole = |it: LogicalType| match it {
        LogicalType::Int8 => Some(3),
        LogicalType::Int16 => Some(5),
        LogicalType::Int32 => Some(10),
        LogicalType::Int64 => Some(19),
        LogicalType::UInt64 => Some(20),
        LogicalType::Decimal { precision, scale } => Some(precision - scale),
        _ => None,
    };
    let is_decimal = |it: LogicalType| matches!(it, LogicalType::Decimal { .. } | LogicalType::UInt64);
    match (whole(one), whole(other)) {
        (Some(first), Some(second)) if is_decimal(one) || is_decimal(other) => {
            let scale = one.scale().max(other.scale());
            let precision = first.max(second) + scale;
            if precision <= LogicalType::MAX_PRECISION {
                LogicalType::Decimal { precision, scale }
            } else {
                LogicalType::Decimal { precision: LogicalType::MAX_PRECISION, scale }
            }
        }
        (Some(_), Some(_)) => LogicalType::Int64,
        _ => LogicalType::Float64,
    }
}
