//! What `round`, `floor` and `ceil` have in common: exact numbers stay exact.

use super::{Bound, Mismatch, exact, number};
use crate::node::Typed;
use crate::vector::Fault;

/// A number rounded to so many decimals: `exactly` rounds a quotient, given dividend and divisor.
pub(super) fn bound(
    arguments: &[Typed],
    decimals: i64,
    exactly: fn(i128, i128) -> i128,
    float: fn(f64) -> f64,
) -> Result<Bound, Mismatch> {
    let logical_type = number(arguments, 0)?;
    let Some(digits) = exact::digits(&arguments[0]) else {
        let power = 10f64.powi(decimals.clamp(-400, 400) as i32);
        return Ok(Bound::new(logical_type, move |views, rows| {
            rows.floats(|row| {
                let value = views[0].float(row);
                let rounded = float(value * power) / power;
                if rounded.is_finite() { rounded } else { value }
            })
        }));
    };
    let scale = u8::try_from(decimals.max(0)).map_or(digits.scale, |wanted| wanted.min(digits.scale));
    let cut = i64::from(digits.scale) - decimals;
    let output = match digits.is_int64 {
        true => logical_type,
        false => exact::decimal(digits.precision.saturating_add(1), scale),
    };
    if cut <= 0 {
        return Ok(Bound::new(logical_type, move |views, rows| {
            rows.integers(logical_type, |row| Ok(Some(views[0].integer(row))))
        }));
    }
    // Beyond 38 digits nothing is left of a number.
    let divisor = 10i128.pow(cut.min(38) as u32);
    let back = 10i128.pow((i64::from(scale) - decimals).clamp(0, 38) as u32);
    Ok(Bound::new(output, move |views, rows| {
        rows.integers(output, |row| {
            let value = views[0].integer(row);
            let rounded = exactly(value, divisor).checked_mul(back);
            let fits = |value: &i128| output.bounds().is_some_and(|(min, max)| (min..=max).contains(value));
            match rounded.filter(fits) {
                Some(rounded) => Ok(Some(rounded)),
                None => Err(Fault::Value(format!("a rounded number is out of range for {output}"))),
            }
        })
    }))
}
