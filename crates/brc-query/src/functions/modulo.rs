//! `a % b`: what is left of a division that truncates; it has the sign of `a`. Of exact numbers, what is divided by
//! zero is null.

use super::{Bound, Function, Mismatch, count, exact, refuse};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static MODULO: Function =
    Function { name: "%", aliases: &["mod"], usage: "a % b", about: "the remainder", example: ("7 % 3", "1"), bind };

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, "a % b")?;
    let Some((one, other)) = exact::both(arguments)? else {
        return Ok(exact::floats(arguments, |one, other| one % other));
    };
    let scale = one.scale.max(other.scale);
    let whole = (one.precision - one.scale).max(other.precision - other.scale);
    if scale + whole > LogicalType::MAX_PRECISION {
        return refuse(1, "has too many digits");
    }
    let output = if one.is_int64 && other.is_int64 { LogicalType::Int64 } else { exact::decimal(scale + whole, scale) };
    let factors = [exact::factor(one.scale, scale), exact::factor(other.scale, scale)];
    let bound = Bound::new(output, move |views, rows| {
        rows.integers(output, |row| {
            let one = views[0].integer(row).checked_mul(factors[0]);
            let other = views[1].integer(row).checked_mul(factors[1]);
            Ok(one.zip(other).and_then(|(one, other)| if other == 0 { None } else { Some(one.wrapping_rem(other)) }))
        })
    });
    Ok(bound.nullable())
}
