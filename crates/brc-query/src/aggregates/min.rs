//! The smallest value of a column of any type, as a value of that type.

use super::{Bound, Form, Function, bounds_of};

pub(super) static MIN: Function = Function {
    name: "min",
    aliases: &[],
    about: "the smallest value",
    form: Form::Column,
    bind: |field| {
        let (output, state) = bounds_of(field)?;

        Ok(Bound { output, state: Some(state), value: |group| group.state()?.bounds(group.group).map(|(min, _)| min) })
    },
};
