//! `a // b`: the quotient of integers, truncated toward zero. What is divided by zero is null.

use super::{Bound, Function, Mismatch, count, exact, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::LogicalType;

pub(super) static INTEGER_DIVIDE: Function = Function {
    name: "//",
    aliases: &[],
    usage: "a // b",
    about: "the quotient of integers, truncated; null if the divisor is zero",
    example: ("-7 // 2", "-3"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a // b")?;
    match exact::both(arguments)? {
        Some((one, other)) if one.scale == 0 && other.scale == 0 => {}
        _ => return refuse(usize::MAX, "needs integers"),
    }
    let output = match arguments.iter().all(|argument| argument.logical_type.fits_64_bits()) {
        true => LogicalType::Int64,
        false => exact::decimal(LogicalType::MAX_PRECISION, 0),
    };
    let bound = Bound::new(output, move |views, rows| {
        rows.integers(output, |row| {
            let (one, other) = (views[0].integer(row), views[1].integer(row));
            let quotient = one.checked_div(other);
            match output.bounds() {
                Some((min, max)) if quotient.is_some_and(|quotient| !(min..=max).contains(&quotient)) => {
                    Err(EvalError::Value(format!("{one} // {other} is out of range for {output}")))
                }
                _ => Ok(quotient),
            }
        })
    });
    Ok(bound.nullable())
}
