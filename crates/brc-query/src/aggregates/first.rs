//! The value of the first row, in the table's order, that has one.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;

pub(super) static FIRST: AggregateFunction = AggregateFunction {
    name: "first",
    aliases: &["any_value"],
    about: "the first value, in row order",
    example: ("first(city)", "Oslo"),
    form: Form::InOrder,
    bind: |fields| {
        let output = fields.first().ok_or("a column")?.logical_type;
        Ok(Bound::new(output, StateKind::Extremes, |group| group.state()?.extreme(group.group, false)))
    },
};
