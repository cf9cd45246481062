//! Variances and standard deviations, of a sample and of a population: float64. A variance is the float nearest to that
//! of the exact values, which is infinite if it is beyond all floats.

use super::avg::units;
use super::{AggregateFunction, Bound, Form, Group, numbers};
use crate::states::StateKind;
use crate::values::ratio::{nearest, root};
use brc_core::{Field, LogicalType, Value};
use num_bigint::{BigInt, BigUint};

pub(super) static VAR_SAMP: AggregateFunction = AggregateFunction {
    name: "var_samp",
    aliases: &["var", "variance"],
    about: "the sample variance",
    example: ("var_samp(price)", "4.666666666666667"),
    form: Form::Column,
    bind: |fields| bound(fields, |group| variance(group, 1, nearest)),
};

pub(super) static VAR_POP: AggregateFunction = AggregateFunction {
    name: "var_pop",
    aliases: &["varp"],
    about: "the population variance",
    example: ("var_pop(price)", "3.5"),
    form: Form::Column,
    bind: |fields| bound(fields, |group| variance(group, 0, nearest)),
};

pub(super) static STDDEV_SAMP: AggregateFunction = AggregateFunction {
    name: "stddev_samp",
    aliases: &["stddev", "stdev"],
    about: "the sample standard deviation",
    example: ("stddev_samp(price)", "2.160246899469287"),
    form: Form::Column,
    bind: |fields| bound(fields, |group| variance(group, 1, root)),
};

pub(super) static STDDEV_POP: AggregateFunction = AggregateFunction {
    name: "stddev_pop",
    aliases: &["stdevp"],
    about: "the population standard deviation",
    example: ("stddev_pop(price)", "1.8708286933869707"),
    form: Form::Column,
    bind: |fields| bound(fields, |group| variance(group, 0, root)),
};

fn bound(fields: &[&Field], value: for<'a> fn(&Group<'a>) -> Option<Value<'a>>) -> Result<Bound, &'static str> {
    numbers(fields)?;
    Ok(Bound::new(LogicalType::Float64, StateKind::Moments, value))
}

/// What is made of a quotient of this numerator and denominator, times two to some power.
type Rounded = fn(&BigInt, &BigUint, i64) -> f64;

/// `(n Σx² − (Σx)²) / (n (n − less))`; `None` of too few values. NaN where a value is no finite number.
fn variance<'a>(group: &Group<'a>, less: u64, rounded: Rounded) -> Option<Value<'a>> {
    let state = group.state()?;
    let Some(moment) = state.moment(group.group) else {
        return (state.count(group.group) > less).then_some(Value::Float(f64::NAN));
    };
    if moment.count <= less {
        return None;
    }
    let numerator: BigInt = moment.squares * moment.count - &moment.sum * &moment.sum;
    let denominator = BigUint::from(moment.count) * (moment.count - less) * units(group.scales[0]).pow(2);
    Some(Value::Float(rounded(&numerator, &denominator, -2 * i64::from(moment.exponent))))
}
