//! The largest value of a column of any type, as a value of that type.

use super::{Bound, Form, Function, bounds_of};

pub(super) static MAX: Function = Function {
    name: "max",
    aliases: &[],
    about: "the largest value",
    form: Form::Column,
    bind: |field| {
        let (output, state) = bounds_of(field)?;
        Ok(Bound { output, state: Some(state), value: |group| group.state()?.bounds(group.group).map(|(_, max)| max) })
    },
};
