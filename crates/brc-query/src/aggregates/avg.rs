//! The average: the float64 nearest to the exact sum over the count.

use super::{AggregateFunction, Bound, Form, Group, numbers, sums_of};
use crate::states::Sum;
use crate::values::ratio::{nearest, nearest_small};
use brc_core::{LogicalType, Value};
use num_bigint::BigUint;

pub(super) static AVG: AggregateFunction = AggregateFunction {
    name: "avg",
    aliases: &["average"],
    about: "the average, as the float64 nearest to the exact one",
    example: ("avg(price)", "10.5"),
    form: Form::Column,
    bind: |fields| {
        let logical_type = numbers(fields)?.logical_type;
        Ok(Bound::new(LogicalType::Float64, sums_of(logical_type), value))
    },
};

fn value<'a>(group: &Group<'a>) -> Option<Value<'a>> {
    Some(Value::Float(match group.state()?.sum(group.group)? {
        Sum::Integer { sum, count } => match 10u128.pow(group.scales[0].into()).checked_mul(count.into()) {
            Some(units) => nearest_small(sum, units),
            None => nearest(&sum.into(), &(units(group.scales[0]) * count), 0),
        },
        Sum::Wide(state) => nearest(&state.sum(), &(units(group.scales[0]) * state.count), 0),
        Sum::Float(sum) => sum.mean(),
    }))
}

/// How many units of a scale are one.
pub(super) fn units(scale: u8) -> BigUint {
    BigUint::from(10u8).pow(scale.into())
}
