//! The number of rows, or of those in which a column has a value: an int64.

use super::{AggregateFunction, Bound, Form, WriteAll};
use crate::states::StateKind;
use brc_core::{LogicalType, Value};

pub(super) static COUNT: AggregateFunction = AggregateFunction {
    name: "count",
    aliases: &[],
    about: "the number of rows, or of values of a column that are not null",
    example: ("count(price)", "4"),
    form: Form::Rows,
    bind: |fields| {
        let output = LogicalType::Int64;
        Ok(match fields.first() {
            Some(field) if field.nullable => Bound::new(output, StateKind::Counts, |group| {
                Some(Value::Integer(group.state()?.count(group.group).into()))
            }),
            _ => Bound {
                output,
                state: None,
                value: |group| Some(Value::Integer(group.rows.into())),
                text: None,
                all: Some(WriteAll::Rows),
            },
        })
    },
};
