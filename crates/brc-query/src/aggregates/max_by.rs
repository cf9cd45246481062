//! The value of a column where another is largest.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;

pub(super) static MAX_BY: AggregateFunction = AggregateFunction {
    name: "max_by",
    aliases: &["arg_max", "argmax"],
    about: "the value of x in the row where y is largest",
    example: ("max_by(day, price)", "2024-01-30"),
    form: Form::Pair,
    bind: |fields| {
        let output = fields.first().ok_or("a column")?.logical_type;
        Ok(Bound::new(output, StateKind::Extremes, |group| group.state()?.extreme(group.group, true)))
    },
};
