//! A quantile: the smallest value that so large a part of all values does not exceed, as a value of the column's type.

use super::fraction::{Rank, ordered};
use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;

pub(super) static QUANTILE: AggregateFunction = AggregateFunction {
    name: "quantile",
    aliases: &["quantile_disc", "percentile_disc"],
    about: "the smallest value that at least this fraction of all values does not exceed",
    example: ("quantile(price, 0.75)", "11.50"),
    form: Form::Fraction,
    bind: |fields| {
        let output = ordered(fields)?.logical_type;
        Ok(Bound::new(output, StateKind::Values, |group| {
            let place = |count| Rank::of_first(group, count).unwrap_or(0);
            let [value] = group.state()?.ranked(group.group, |count| [place(count)])?;
            Some(value)
        }))
    },
};
