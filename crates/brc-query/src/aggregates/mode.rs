//! The value that occurs most often, of a column of any type. Of several, the smallest, so that it does not depend on
//! the order of rows.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;

pub(super) static MODE: AggregateFunction = AggregateFunction {
    name: "mode",
    aliases: &[],
    about: "the most frequent value; on a tie, the smallest",
    example: ("mode(city)", "Oslo"),
    form: Form::Column,
    bind: |fields| {
        let output = fields.first().ok_or("a column")?.logical_type;
        Ok(Bound::new(output, StateKind::Frequencies, |group| group.state()?.mode(group.group)))
    },
};
