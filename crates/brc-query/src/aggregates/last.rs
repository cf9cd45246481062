//! The value of the last row, in the table's order, that has one.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;

pub(super) static LAST: AggregateFunction = AggregateFunction {
    name: "last",
    aliases: &[],
    about: "the last value, in row order",
    example: ("last(price)", "7.50"),
    form: Form::InOrder,
    bind: |fields| {
        let output = fields.first().ok_or("a column")?.logical_type;
        Ok(Bound::new(output, StateKind::Extremes, |group| group.state()?.extreme(group.group, true)))
    },
};
