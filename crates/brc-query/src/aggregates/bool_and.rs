//! `bool_and(b)`: whether a condition is true of all values of a group, leaving out nulls.

use super::{AggregateFunction, Bound, Form, bools};
use crate::states::StateKind;
use brc_core::LogicalType;

pub(super) static BOOL_AND: AggregateFunction = AggregateFunction {
    name: "bool_and",
    aliases: &["every", "logical_and"],
    about: "whether a condition is true of all values",
    example: ("bool_and(sold > 0)", "true"),
    form: Form::Set,
    bind: |fields| {
        bools(fields)?;
        Ok(Bound::new(LogicalType::Bool, StateKind::Integers, |group| {
            group.state()?.bounds(group.group).map(|(min, _)| min)
        }))
    },
};
