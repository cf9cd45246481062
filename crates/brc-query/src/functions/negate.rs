//! `-a`: the number of the other sign.

use super::{Bound, Function, Mismatch, count, exact, number};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::LogicalType;

pub(super) static NEGATE: Function = Function {
    name: "negate",
    aliases: &[],
    usage: "-a",
    about: "the negated number",
    example: ("-(1 - 4)", "3"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, "-a")?;
    let logical_type = number(arguments, 0)?;
    let output = match (exact::digits(&arguments[0]), logical_type) {
        (None, _) => return Ok(Bound::new(logical_type, |views, rows| rows.floats(|row| -views[0].float(row)))),
        (Some(_), LogicalType::Decimal { .. }) => logical_type,
        (Some(digits), _) if digits.is_int64 => LogicalType::Int64,
        (Some(digits), _) => exact::decimal(digits.precision, 0),
    };
    Ok(Bound::new(output, move |views, rows| {
        rows.integers(output, |row| {
            let value = views[0].integer(row);
            let fits = output.bounds().is_some_and(|(min, max)| (min..=max).contains(&-value));
            if fits {
                Ok(Some(-value))
            } else {
                Err(EvalError::Value(format!("-({value}) is out of range for {output}")))
            }
        })
    }))
}
