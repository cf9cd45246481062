//! `sign(x)`: whether a number is below zero, zero or above.

use super::{Bound, Function, Mismatch, count, number};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static SIGN: Function = Function {
    name: "sign",
    aliases: &[],
    usage: "sign(x)",
    about: "-1, 0 or 1, as x is below zero, zero or above; 0 of NaN",
    example: ("sign(-2.5)", "-1"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, SIGN.usage)?;
    let is_float = number(arguments, 0)?.is_float();
    Ok(Bound::new(LogicalType::Int64, move |views, rows| match is_float {
        true => rows.narrow(|row| {
            let value = views[0].float(row);
            Ok(i64::from(value > 0.0) - i64::from(value < 0.0))
        }),
        false => rows.narrow(|row| Ok(views[0].integer(row).signum() as i64)),
    }))
}
