//! `bucket(x, width)`: where the interval of a width begins in which a number lies.

use super::{Bound, Function, Mismatch, constant_integer, count, exact, number, refuse};
use crate::functions::typed::{Scalar, Typed};
use crate::values::error::EvalError;
use brc_core::Value;

pub(super) static BUCKET: Function = Function {
    name: "bucket",
    aliases: &[],
    usage: "bucket(x, width)",
    about: "the largest multiple of width not greater than x",
    example: ("bucket(17, 5)", "15"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, BUCKET.usage)?;
    let logical_type = number(arguments, 0)?;
    let width_type = number(arguments, 1)?;
    if exact::digits(&arguments[0]).is_none() {
        return match arguments[1].constant() {
            Some(Some(_)) => Ok(exact::floats(arguments, |value, width| (value / width).floor() * width)),
            _ => refuse(1, "needs a constant number"),
        };
    }
    let (scale, width_scale) = (logical_type.scale(), width_type.scale());
    let width = match arguments[1].constant() {
        Some(Some(Scalar::Integer(width))) if width_scale <= scale => {
            width.checked_mul(exact::factor(width_scale, scale))
        }
        Some(Some(_)) if width_scale > scale => {
            return refuse(1, "needs a width with no more decimals than the number");
        }
        _ => constant_integer(arguments, 1).map(|width| Some(width.into()))?,
    };
    let Some(width) = width.filter(|&width| width > 0) else { return refuse(1, "needs a width above zero") };
    Ok(Bound::new(logical_type, move |views, rows| {
        rows.integers(logical_type, |row| {
            let value = views[0].integer(row);
            let start = value - value.rem_euclid(width);
            match logical_type.bounds() {
                Some((min, _)) if start < min => {
                    let value = Value::Integer(value).to_text(logical_type);
                    Err(EvalError::Value(format!("the bucket of {value} is out of range for {logical_type}")))
                }
                _ => Ok(Some(start)),
            }
        })
    }))
}
