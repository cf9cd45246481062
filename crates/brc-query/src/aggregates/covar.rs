//! Covariances of two columns of numbers, of a sample and of a population: the floats nearest to the exact ones, which are
//! infinite beyond all floats.

use super::{AggregateFunction, Bound, Form, Group, avg::units, pairs};
use crate::states::{PairMoment, StateKind};
use crate::values::ratio::nearest;
use brc_core::{LogicalType, Value};
use num_bigint::{BigInt, BigUint};

pub(super) static COVAR_SAMP: AggregateFunction = AggregateFunction {
    name: "covar_samp",
    aliases: &["covar"],
    about: "the sample covariance",
    example: ("covar_samp(sold, price)", "-7.0"),
    form: Form::Numbers,
    bind: |fields| {
        pairs(fields)?;
        Ok(Bound::new(LogicalType::Float64, StateKind::Pairs, |group| covariance(group, 1)))
    },
};

pub(super) static COVAR_POP: AggregateFunction = AggregateFunction {
    name: "covar_pop",
    aliases: &[],
    about: "the population covariance",
    example: ("covar_pop(sold, price)", "-5.25"),
    form: Form::Numbers,
    bind: |fields| {
        pairs(fields)?;
        Ok(Bound::new(LogicalType::Float64, StateKind::Pairs, |group| covariance(group, 0)))
    },
};

fn covariance<'a>(group: &Group<'a>, less: u64) -> Option<Value<'a>> {
    let products = match Products::of(group)? {
        Found::Finite(products) => products,
        Found::Special(count) => return (count > less).then_some(Value::Float(f64::NAN)),
    };
    let count = products.moment.count;
    if count <= less {
        return None;
    }
    let denominator = BigUint::from(count) * (count - less) * units(group.scales[0]) * units(group.scales[1]);
    Some(Value::Float(nearest(&products.xy, &denominator, -2 * products.exponent())))
}

/// `n Σab − Σa Σb` of the pairs of a group, times two to the power of twice the exponent, in units of the columns'
/// scales.
pub(super) struct Products {
    pub(super) moment: PairMoment,
    pub(super) xx: BigInt,
    pub(super) yy: BigInt,
    pub(super) xy: BigInt,
}

/// What a group has.
pub(super) enum Found {
    Finite(Box<Products>),
    /// This many pairs, in one of which a value is no finite number.
    Special(u64),
}

impl Products {
    /// Those of a group; `None` if it has no pairs.
    pub(super) fn of(group: &Group<'_>) -> Option<Found> {
        let state = group.state()?;
        let Some(moment) = state.pair_moment(group.group) else {
            return Some(Found::Special(state.count(group.group)));
        };
        if moment.count == 0 {
            return None;
        }
        let product = |sum: &BigInt, one: &BigInt, other: &BigInt| sum * moment.count - one * other;
        let xx = product(&moment.xx, &moment.x, &moment.x);
        let yy = product(&moment.yy, &moment.y, &moment.y);
        let xy = product(&moment.xy, &moment.x, &moment.y);
        Some(Found::Finite(Box::new(Self { moment, xx, yy, xy })))
    }

    pub(super) fn exponent(&self) -> i64 {
        self.moment.exponent.into()
    }
}
