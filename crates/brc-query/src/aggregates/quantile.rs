//! A quantile: the smallest value that so large a part of all values does not exceed, as a value of the column's type.

use super::{AggregateFunction, Bound, Form, numbers};
use crate::states::StateKind;

pub(super) static QUANTILE: AggregateFunction = AggregateFunction {
    name: "quantile",
    aliases: &["quantile_disc"],
    about: "the smallest value that at least this fraction of all values does not exceed",
    example: ("quantile(price, 0.75)", "11.50"),
    form: Form::Fraction,
    bind: |fields| {
        let output = numbers(fields)?.logical_type;
        Ok(Bound::new(output, StateKind::Values, |group| {
            let fraction: f64 = group.parameter.parse().ok()?;
            let place = |count: usize| ((fraction * count as f64).ceil() as usize).max(1) - 1;
            let [value] = group.state()?.ranked(group.group, |count| [place(count)])?;
            Some(value)
        }))
    },
};
