//! The order of values of one type.

use crate::values::float_key::float_key;
use brc_core::Value;
use std::cmp::Ordering;

/// How two values of one type are ordered.
pub(super) fn order(one: Value<'_>, other: Value<'_>) -> Ordering {
    match (one, other) {
        (Value::Integer(one), Value::Integer(other)) => one.cmp(&other),
        (Value::Float(one), Value::Float(other)) => float_key(one).cmp(&float_key(other)),
        (Value::Bytes(one), Value::Bytes(other)) => one.cmp(other),
        (Value::Integer(_) | Value::Float(_) | Value::Bytes(_), _) => Ordering::Equal,
    }
}
