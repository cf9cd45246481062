//! The smallest value of a column of any type, as a value of that type.

use super::{AggregateFunction, Bound, Form, bounds_of};

pub(super) static MIN: AggregateFunction = AggregateFunction {
    name: "min",
    aliases: &[],
    about: "the smallest value",
    example: ("min(price)", "7.50"),
    form: Form::Set,
    bind: |fields| {
        let (output, state) = bounds_of(fields)?;
        Ok(Bound::new(output, state, |group| group.state()?.bounds(group.group).map(|(min, _)| min)))
    },
};
