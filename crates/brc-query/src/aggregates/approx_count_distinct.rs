//! About how many distinct values a column of any type has: a HyperLogLog estimate, exact up to 256 of them.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;
use brc_core::{LogicalType, Value};

pub(super) static APPROX_COUNT_DISTINCT: AggregateFunction = AggregateFunction {
    name: "approx_count_distinct",
    aliases: &[],
    about: "the approximate number of distinct values (HyperLogLog, mostly within 1.6 %)",
    example: ("approx_count_distinct(city)", "2"),
    form: Form::Set,
    bind: |fields| {
        fields.first().ok_or("a column")?;
        Ok(Bound::new(LogicalType::Int64, StateKind::Sketch, |group| {
            Some(Value::Integer(group.state()?.count(group.group).into()))
        }))
    },
};
