//! The correlation of two columns of numbers, from exact sums; null where one of them does not vary.

use super::covar::{Found, Products};
use super::{AggregateFunction, Bound, Form, pairs};
use crate::states::StateKind;
use crate::values::ratio::root;
use brc_core::{LogicalType, Value};
use num_bigint::Sign;

pub(super) static CORR: AggregateFunction = AggregateFunction {
    name: "corr",
    aliases: &[],
    about: "the correlation coefficient",
    example: ("corr(sold, price)", "-0.9625334218796219"),
    form: Form::Numbers,
    bind: |fields| {
        pairs(fields)?;
        Ok(Bound::new(LogicalType::Float64, StateKind::Pairs, |group| {
            let products = match Products::of(group)? {
                Found::Finite(products) => products,
                Found::Special(count) => return (count > 1).then_some(Value::Float(f64::NAN)),
            };
            let Products { xx, yy, xy, .. } = &*products;
            let varied = (xx * yy).to_biguint().filter(|varied| varied.bits() > 0)?;
            let size = root(&(xy * xy), &varied, 0);
            Some(Value::Float(if xy.sign() == Sign::Minus { -size } else { size }))
        }))
    },
};
