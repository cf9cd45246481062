//! The largest value of a column of any type, as a value of that type.

use super::{AggregateFunction, Bound, Form, bounds_of};

pub(super) static MAX: AggregateFunction = AggregateFunction {
    name: "max",
    aliases: &[],
    about: "the largest value",
    example: ("max(price)", "12.50"),
    form: Form::Set,
    bind: |fields| {
        let (output, state) = bounds_of(fields)?;
        Ok(Bound::new(output, state, |group| group.state()?.bounds(group.group).map(|(_, max)| max)))
    },
};
