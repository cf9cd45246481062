//! `to_timestamp(x)`: the point in time this many seconds after 1970-01-01 00:00:00 of UTC.

use super::{Bound, Function, Mismatch, count, exact, number, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use crate::values::view::Rows;
use brc_core::{Array, LogicalType, TimeUnit};
use brc_kernels::arithmetic::Rounding;

pub(super) static TO_TIMESTAMP: Function = Function {
    name: "to_timestamp",
    aliases: &["from_unixtime"],
    usage: "to_timestamp(x)",
    about: "the timestamp of UTC that is x seconds after 1970-01-01, to microseconds",
    example: ("to_timestamp(1709212496)", "2024-02-29 13:14:56.000000Z"),
    bind,
};

const OUTPUT: LogicalType = LogicalType::Timestamp { unit: TimeUnit::Microsecond, zone: true };

/// This many microseconds are a second.
const SECOND: i64 = 1_000_000;

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, TO_TIMESTAMP.usage)?;
    let Ok(logical_type) = number(arguments, 0) else {
        return refuse(0, "needs a number of seconds (for text, write cast(s as timestamp))");
    };
    if logical_type.is_float() {
        return Ok(Bound::new(OUTPUT, |views, rows| {
            let exact = |value: f64| {
                let microseconds = (value * SECOND as f64).round();
                (microseconds.abs() < i64::MAX as f64).then_some(microseconds as i128)
            };
            timestamps(rows, |row| exact(views[0].float(row)), |row| views[0].float(row).to_string())
        }));
    }
    let units = exact::factor(0, logical_type.scale());
    Ok(Bound::new(OUTPUT, move |views, rows| {
        let exact = |value: i128| Some(Rounding::Nearest.quotient(value.checked_mul(SECOND.into())?, units));
        timestamps(rows, |row| exact(views[0].integer(row)), |row| (views[0].integer(row) / units).to_string())
    }))
}

/// This many microseconds; the error names the seconds.
fn timestamps(
    rows: &Rows<'_>,
    microseconds: impl Fn(usize) -> Option<i128>,
    seconds: impl Fn(usize) -> String,
) -> Result<Array, EvalError> {
    rows.narrow(|row| {
        let fits = microseconds(row).and_then(|value| i64::try_from(value).ok());
        fits.ok_or_else(|| EvalError::Value(format!("to_timestamp({}) is out of range for {OUTPUT}", seconds(row))))
    })
}
