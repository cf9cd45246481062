//! The median: the value in the middle, or the mean of the two in the middle, as a float64: the one nearest to it.

use super::avg::units;
use super::{AggregateFunction, Bound, Form, Group, numbers};
use crate::ratio::nearest;
use crate::states::StateKind;
use brc_core::{LogicalType, Value};
use num_bigint::BigInt;

pub(super) static MEDIAN: AggregateFunction = AggregateFunction {
    name: "median",
    aliases: &[],
    about: "the middle value, or the average of the two middle values, as float64",
    example: ("median(price)", "11.0"),
    form: Form::Column,
    bind: |fields| {
        numbers(fields)?;
        Ok(Bound::new(LogicalType::Float64, StateKind::Values, value))
    },
};

fn value<'a>(group: &Group<'a>) -> Option<Value<'a>> {
    Some(Value::Float(match group.state()?.ranked(group.group, |count| [(count - 1) / 2, count / 2])? {
        [Value::Integer(low), Value::Integer(high)] => {
            nearest(&(BigInt::from(low) + high), &(units(group.scales[0]) * 2u8), 0)
        }
        [Value::Float(low), Value::Float(high)] if (low + high).is_finite() => (low + high) / 2.0,
        [Value::Float(low), Value::Float(high)] => low / 2.0 + high / 2.0,
        _ => return None,
    }))
}
