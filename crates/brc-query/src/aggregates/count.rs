//! The number of rows, or of those in which a column has a value: an int64.

use super::{Bound, Form, Function};
use crate::states::StateKind;
use brc_core::{LogicalType, Value};

pub(super) static COUNT: Function = Function {
    name: "count",
    aliases: &[],
    about: "the number of rows, or of values of a column",
    form: Form::Rows,
    bind: |field| {
        let output = LogicalType::Int64;
        Ok(match field {
            Some(field) if field.nullable => Bound {
                output,
                state: Some(StateKind::Counts),
                value: |group| Some(Value::Integer(group.state()?.count(group.group).into())),
            },
            _ => Bound { output, state: None, value: |group| Some(Value::Integer(group.rows.into())) },
        })
    },
};
