//! The median: the value in the middle, or the mean of the two in the middle. Of numbers it is a float64, the one
//! nearest to it; of dates and times a point in time.

use super::avg::units;
use super::fraction::{Rank, WHOLE, between, ordered};
use super::{AggregateFunction, Bound, Form, Group};
use crate::states::StateKind;
use crate::values::ratio::nearest;
use brc_core::Value;
use num_bigint::BigInt;

pub(super) static MEDIAN: AggregateFunction = AggregateFunction {
    name: "median",
    aliases: &[],
    about: "the middle value, or the average of the two middle values; float64, or a timestamp of dates and timestamps",
    example: ("median(price)", "11.0"),
    form: Form::Column,
    bind: |fields| Ok(Bound::new(between(ordered(fields)?.logical_type).0, StateKind::Values, value)),
};

fn value<'a>(group: &Group<'a>) -> Option<Value<'a>> {
    let logical_type = group.logical_type?;
    Some(match group.state()?.ranked(group.group, |count| [(count - 1) / 2, count / 2])? {
        [Value::Integer(low), Value::Integer(high)] if logical_type.is_temporal() => {
            let middle = Rank { index: 0, parts: WHOLE / 2 };
            Value::Integer(middle.point(low, high, between(logical_type).1))
        }
        [Value::Integer(low), Value::Integer(high)] => {
            Value::Float(nearest(&(BigInt::from(low) + high), &(units(group.scales[0]) * 2u8), 0))
        }
        [Value::Float(low), Value::Float(high)] if (low + high).is_finite() => Value::Float((low + high) / 2.0),
        [Value::Float(low), Value::Float(high)] => Value::Float(low / 2.0 + high / 2.0),
        _ => return None,
    })
}
