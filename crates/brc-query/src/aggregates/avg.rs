//! The average: the float64 nearest to the exact sum over the count.

use super::{Bound, Form, Function, Group, numbers, sums_of};
use crate::ratio::{nearest, nearest_small};
use crate::states::Sum;
use brc_core::{LogicalType, Value};
use num_bigint::BigUint;

pub(super) static AVG: Function = Function {
    name: "avg",
    aliases: &[],
    about: "the float nearest to the exact sum over the count",
    form: Form::Column,
    bind: |field| {
        let logical_type = numbers(field)?.logical_type;
        Ok(Bound { output: LogicalType::Float64, state: Some(sums_of(logical_type)), value })
    },
};

fn value<'a>(group: &Group<'a>) -> Option<Value<'a>> {
    Some(Value::Float(match group.state()?.sum(group.group)? {
        Sum::Integer { sum, count } => match 10u128.pow(group.scale.into()).checked_mul(count.into()) {
            Some(units) => nearest_small(sum, units),
            None => nearest(&sum.into(), &(units(group.scale) * count), 0),
        },
        Sum::Wide(state) => nearest(&state.sum(), &(units(group.scale) * state.count), 0),
        Sum::Float(sum) => sum.mean(),
    }))
}

/// How many units of a scale are one.
pub(super) fn units(scale: u8) -> BigUint {
    BigUint::from(10u8).pow(scale.into())
}
