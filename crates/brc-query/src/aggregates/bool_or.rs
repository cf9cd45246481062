//! `bool_or(b)`: whether a condition is true of any value of a group, leaving out nulls.

use super::{AggregateFunction, Bound, Form, bools};
use crate::states::StateKind;
use brc_core::LogicalType;

pub(super) static BOOL_OR: AggregateFunction = AggregateFunction {
    name: "bool_or",
    aliases: &["logical_or"],
    about: "whether a condition is true of any value",
    example: ("bool_or(sold > 9)", "false"),
    form: Form::Set,
    bind: |fields| {
        bools(fields)?;
        Ok(Bound::new(LogicalType::Bool, StateKind::Integers, |group| {
            group.state()?.bounds(group.group).map(|(_, max)| max)
        }))
    },
};
