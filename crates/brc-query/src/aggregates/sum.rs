//! The exact sum: of integers and decimals a decimal of 38 digits and the column's scale, of floats the float nearest
//! to it.

use super::{AggregateFunction, Bound, Form, WriteAll, numbers, sums_of};
use crate::states::{State, Sum};
use brc_core::{LogicalType, PhysicalType, Value};

pub(super) static SUM: AggregateFunction = AggregateFunction {
    name: "sum",
    aliases: &[],
    about: "the exact sum",
    example: ("sum(price)", "42.00"),
    form: Form::Column,
    bind: |fields| {
        let logical_type = numbers(fields)?.logical_type;
        let output = match logical_type.physical() {
            PhysicalType::Floats => LogicalType::Float64,
            PhysicalType::Integers | PhysicalType::Bytes => {
                LogicalType::Decimal { precision: LogicalType::MAX_PRECISION, scale: logical_type.scale() }
            }
        };
        let bound = Bound::new(output, sums_of(logical_type), |group| group.state()?.sum(group.group).map(value_of));
        Ok(Bound { all: Some(WriteAll::State(State::sums)), ..bound })
    },
};

fn value_of<'a>(sum: Sum) -> Value<'a> {
    match sum {
        Sum::Integer { sum, .. } => Value::Integer(sum),
        // What does not fit is out of the type's bounds, which is found out where values are taken.
        Sum::Wide(state) => Value::Integer(i128::try_from(state.sum()).unwrap_or(i128::MAX)),
        Sum::Float(sum) => Value::Float(sum.value()),
    }
}
