//! The largest values of a group, the largest first, as a string with commas between.

use super::{AggregateFunction, Bound, Form, numbers};
use crate::states::StateKind;

pub(super) static TOP: AggregateFunction = AggregateFunction {
    name: "top",
    aliases: &[],
    about: "the largest numbers, largest first, as one string",
    example: ("top(sold, 3)", "9, 6, 5"),
    form: Form::Count,
    bind: |fields| {
        numbers(fields)?;
        Ok(Bound::text(StateKind::Largest(0), |group, out| {
            let wanted: usize = group.parameter.parse().ok()?;
            let logical_type = group.logical_type?;
            let mut count = 0;
            group.state()?.ranked(group.group, |found| {
                count = found;
                [0]
            })?;
            for place in (0..count).rev().take(wanted) {
                if !out.is_empty() {
                    out.extend_from_slice(b", ");
                }
                let [value] = group.state()?.ranked(group.group, |_| [place])?;
                value.write(logical_type, out);
            }
            Some(())
        }))
    },
};
