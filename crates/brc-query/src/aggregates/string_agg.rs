//! All strings of a group in the order of their rows, with a separator between.

use super::{AggregateFunction, Bound, Form};
use crate::states::StateKind;
use brc_core::PhysicalType;

pub(super) static STRING_AGG: AggregateFunction = AggregateFunction {
    name: "string_agg",
    aliases: &["listagg", "group_concat"],
    about: "the strings in row order, joined by a separator",
    example: ("string_agg(city, '+')", "Oslo+Oslo+Bergen+Bergen+Oslo"),
    form: Form::Joined,
    bind: |fields| match fields.first() {
        Some(field) if field.logical_type.physical() == PhysicalType::Bytes => {
            Ok(Bound::text(StateKind::Listed, |group, out| {
                group.state()?.join(group.group, group.parameter.as_bytes(), out)
            }))
        }
        _ => Err("a column of strings"),
    },
};
