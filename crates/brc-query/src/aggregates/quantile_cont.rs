//! A continuous quantile: what lies so far from the smallest value to the largest, between the two values around it. Of
//! numbers it is a float64, the one nearest to the exact quantile; of dates and times a point in time.

use super::avg::units;
use super::fraction::{Rank, WHOLE, between, ordered};
use super::{AggregateFunction, Bound, Form, Group};
use crate::states::StateKind;
use crate::values::ratio::nearest;
use brc_core::Value;
use num_bigint::BigInt;

pub(super) static QUANTILE_CONT: AggregateFunction = AggregateFunction {
    name: "quantile_cont",
    aliases: &["percentile_cont"],
    about: "the value at this fraction of all values, interpolated; also percentile_cont(0.9) within group (order by x)",
    example: ("quantile_cont(price, 0.75)", "11.75"),
    form: Form::Fraction,
    bind: |fields| Ok(Bound::new(between(ordered(fields)?.logical_type).0, StateKind::Values, value)),
};

fn value<'a>(group: &Group<'a>) -> Option<Value<'a>> {
    let mut found = None;
    let values = group.state()?.ranked(group.group, |count| {
        found = Rank::between(group, count);
        let index = found.map_or(0, |place| place.index);
        [index, index + usize::from(found.is_some_and(|place| place.parts > 0))]
    })?;
    let (place, logical_type) = (found?, group.logical_type?);
    Some(match values {
        [Value::Integer(low), Value::Integer(high)] if logical_type.is_temporal() => {
            Value::Integer(place.point(low, high, between(logical_type).1))
        }
        [Value::Integer(low), Value::Integer(high)] => {
            let sum = BigInt::from(low) * (WHOLE - place.parts) + BigInt::from(high) * place.parts;
            Value::Float(nearest(&sum, &(units(group.scales[0]) * WHOLE), 0))
        }
        [Value::Float(low), Value::Float(high)] => Value::Float(interpolated(low, high, place.parts)),
        _ => return None,
    })
}

/// A float that lies this many parts of the way from one to another.
fn interpolated(low: f64, high: f64, parts: u128) -> f64 {
    let fraction = parts as f64 / WHOLE as f64;
    if parts == 0 || low == high {
        low
    } else if (high - low).is_finite() {
        low + (high - low) * fraction
    } else {
        low * (1.0 - fraction) + high * fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_beyond_each_other_are_interpolated() {
        let half = WHOLE / 2;
        for (low, high, parts, expected) in [
            (1.0, 2.0, half, 1.5),
            (f64::MIN, f64::MAX, half, 0.0),
            (f64::NEG_INFINITY, 1.0, half, f64::NEG_INFINITY),
            (f64::INFINITY, f64::INFINITY, half, f64::INFINITY),
            (1.0, f64::INFINITY, 0, 1.0),
        ] {
            assert_eq!(interpolated(low, high, parts), expected, "{low} {high}");
        }
        assert!(interpolated(f64::NEG_INFINITY, f64::INFINITY, half).is_nan());
    }
}
