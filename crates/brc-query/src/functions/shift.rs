//! `t + interval '3 months'`: a date or a timestamp plus an interval. A date stays a date unless the interval has a
//! part of a day.

use super::temporal::{Clock, add_months};
use super::{Bound, Function, Mismatch, constant_integer, count, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::{LogicalType, TimeUnit, Value};

/// Its arguments are a date or timestamp, months, days and microseconds.
pub(super) static SHIFT: Function = Function {
    name: "shift",
    aliases: &[],
    usage: "t + interval '1 day'",
    about: "a date or timestamp moved by an interval",
    example: ("date '2024-01-31' + interval '1 month'", "2024-02-29"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 4..=4, SHIFT.usage)?;
    let clock = Clock::of(arguments, 0)?;
    if !clock.has_date {
        return refuse(0, "needs a date or a timestamp");
    }
    let constant = |index| constant_integer(arguments, index);
    let (months, days, microseconds) = (constant(1)?, constant(2)?, constant(3)?);
    let from = arguments[0].logical_type;
    let (output, scaled) = match from {
        LogicalType::Date if microseconds != 0 => (
            LogicalType::Timestamp { unit: TimeUnit::Microsecond, zone: false },
            TimeUnit::Microsecond.per_second() * 86_400,
        ),
        other => (other, 1),
    };
    let per_day = clock.per_day * scaled;
    let units = i128::from(microseconds) * i128::from(per_day) / (86_400 * 1_000_000);
    Ok(Bound::new(output, move |views, rows| {
        rows.narrow(|row| {
            let value = views[0].narrow(row);
            let (day, rest) = clock.split(value);
            let later = add_months(day, months).and_then(|day| day.checked_add(days));
            let later = later.map(|day| i128::from(day) * i128::from(per_day) + i128::from(rest) + units);
            let fits = |later: &i128| output.bounds().is_some_and(|(min, max)| (min..=max).contains(later));
            let later = later.filter(fits).and_then(|later| i64::try_from(later).ok());
            later.ok_or_else(|| {
                let value = Value::Integer(value.into()).to_text(from);
                EvalError::Value(format!("{value} moved by an interval is out of range for {output}"))
            })
        })
    }))
}
