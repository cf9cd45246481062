//! The exact sum: of integers and decimals a decimal of 38 digits and the column's scale, of floats the float nearest to it.

use super::{AggregateFunction, Bound, Form, numbers, sums_of};
use crate::cells::Cells;
use crate::partial::Partial;
use crate::states::Sum;
use brc_core::{LogicalType, PhysicalType, Value};
use std::ops::Range;

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
        let all = |partial: &Partial, state: Option<usize>, groups: Range<usize>, cells: &mut Cells| {
            state.is_some_and(|state| partial.state(state).sums(groups, cells))
        };
        Ok(Bound { all: Some(all), ..bound })
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
