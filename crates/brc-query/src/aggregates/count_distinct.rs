//! The number of distinct values of a column of any type: an int64. All NaNs are one value, and so are the two zeros.

use super::{Bound, Form, Function};
use crate::states::StateKind;
use brc_core::{LogicalType, Value};

pub(super) static COUNT_DISTINCT: Function = Function {
    name: "count",
    aliases: &[],
    about: "the number of distinct values",
    form: Form::Distinct,
    bind: |field| {
        field.ok_or("a column")?;
        Ok(Bound {
            output: LogicalType::Int64,
            state: Some(StateKind::Distinct),
            value: |group| Some(Value::Integer(group.state()?.count(group.group).into())),
        })
    },
};
