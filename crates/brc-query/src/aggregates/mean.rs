//! The exact mean, rounded half up to the column's scale, as in the One Billion Row Challenge: of integers an integer,
//! of decimals a decimal of the same scale. Of floats it is the float nearest to the exact mean.

use super::{AggregateFunction, Bound, Form, numbers, sums_of};
use crate::states::Sum;
use brc_core::{LogicalType, Value, decimal};
use num_bigint::BigInt;

pub(super) static MEAN: AggregateFunction = AggregateFunction {
    name: "mean",
    aliases: &[],
    about: "the average, rounded half up to the column's scale",
    example: ("mean(price)", "10.50"),
    form: Form::Column,
    bind: |fields| {
        let logical_type = numbers(fields)?.logical_type;
        let output = if logical_type.is_float() { LogicalType::Float64 } else { logical_type };
        Ok(Bound::new(output, sums_of(logical_type), |group| group.state()?.sum(group.group).map(value_of)))
    },
};

fn value_of<'a>(sum: Sum) -> Value<'a> {
    match sum {
        Sum::Integer { sum, count } => Value::Integer(decimal::mean(sum, count)),
        Sum::Wide(state) => {
            let (sum, count): (BigInt, BigInt) = (state.sum() * 2 + state.count, (u128::from(state.count) * 2).into());
            let toward_zero = &sum / &count;
            let below = sum.sign() == num_bigint::Sign::Minus && &toward_zero * &count != sum;
            // A mean lies between two values, so it fits.
            Value::Integer(i128::try_from(toward_zero).unwrap_or(i128::MAX) - i128::from(below))
        }
        Sum::Float(sum) => Value::Float(sum.mean()),
    }
}
