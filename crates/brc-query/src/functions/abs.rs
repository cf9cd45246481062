//! `abs(x)`: a number without its sign.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::LogicalType;

pub(super) static ABS: Function = Function {
    name: "abs",
    aliases: &[],
    usage: "abs(x)",
    about: "the absolute value",
    example: ("abs(-2.5)", "2.5"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, "abs(x)")?;
    let logical_type = number(arguments, 0)?;
    let output = match exact::digits(&arguments[0]) {
        None => return Ok(Bound::new(logical_type, |views, rows| rows.floats(|row| views[0].float(row).abs()))),
        Some(digits) if digits.is_int64 => LogicalType::Int64,
        Some(_) => logical_type,
    };
    Ok(Bound::new(output, move |views, rows| {
        rows.integers(output, |row| {
            let value = views[0].integer(row);
            let fits = output.bounds().is_some_and(|(_, max)| value.unsigned_abs() <= max.unsigned_abs());
            match fits {
                true => Ok(Some(value.abs())),
                false => Err(EvalError::Value(format!("abs({value}) is out of range for {output}"))),
            }
        })
    }))
}
