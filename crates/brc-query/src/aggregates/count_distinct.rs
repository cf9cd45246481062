//! The number of distinct values of a column of any type: an int64. All NaNs are one value, and so are the two zeros.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;
use brc_core::{LogicalType, Value};

pub(super) static COUNT_DISTINCT: AggregateFunction = AggregateFunction {
    name: "count",
    aliases: &[],
    about: "the number of distinct values",
    example: ("count(distinct city)", "2"),
    form: Form::Distinct,
    bind: |fields| {
        fields.first().ok_or("a column")?;
        Ok(Bound::new(LogicalType::Int64, StateKind::Distinct, |group| {
            Some(Value::Integer(group.state()?.count(group.group).into()))
        }))
    },
};
