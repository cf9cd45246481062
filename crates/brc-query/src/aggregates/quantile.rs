//! A quantile: the smallest value that so large a part of all values does not exceed, as a value of the column's type.

use super::{Bound, Form, Function, numbers};
use crate::states::StateKind;

pub(super) static QUANTILE: Function = Function {
    name: "quantile",
    aliases: &["quantile_disc"],
    about: "the smallest value that the given part of all values does not exceed",
    form: Form::Fraction,
    bind: |field| {
        let output = numbers(field)?.logical_type;
        Ok(Bound {
            output,
            state: Some(StateKind::Values),
            value: |group| {
                let place = |count: usize| ((group.fraction * count as f64).ceil() as usize).max(1) - 1;
                group.state()?.ranked(group.group, place)
            },
        })
    },
};
