//! The value of a column where another is smallest.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;

pub(super) static MIN_BY: AggregateFunction = AggregateFunction {
    name: "min_by",
    aliases: &["arg_min", "argmin"],
    about: "the value of x in the row where y is smallest",
    example: ("min_by(day, price)", "2024-02-01"),
    form: Form::Pair,
    bind: |fields| {
        let output = fields.first().ok_or("a column")?.logical_type;
        Ok(Bound::new(output, StateKind::Extremes, |group| group.state()?.extreme(group.group, false)))
    },
};
