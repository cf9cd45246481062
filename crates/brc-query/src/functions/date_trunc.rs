//! `date_trunc(part, t)`: where the year, month … begins in which a date or timestamp lies.

use super::temporal::{ByDay, Clock, iso_weekday};
use super::{Bound, Function, Mismatch, constant_text, count, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::{LogicalType, Value, calendar};

pub(super) static DATE_TRUNC: Function = Function {
    name: "date_trunc",
    aliases: &["datetrunc"],
    usage: "date_trunc('part', t)",
    about: "the start of the year, quarter, month, week, day, hour, minute or second of t",
    example: ("date_trunc('month', date '2024-02-29')", "2024-02-01"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, DATE_TRUNC.usage)?;
    let name = constant_text(arguments, 0)?.to_ascii_lowercase();
    let clock = Clock::of(arguments, 1)?;
    if !clock.has_date {
        return refuse(1, "needs a date or a timestamp");
    }
    let output = arguments[1].logical_type;
    let first_of_month = |days: i64, months: i64| {
        let (year, month, _) = calendar::date_of(days);
        let month = (i64::from(month) - 1) / months * months + 1;
        calendar::days_of(year, month as u32, 1).unwrap_or(days)
    };
    let day: Box<dyn Fn(i64) -> i64 + Send + Sync> = match name.strip_suffix(b"s").unwrap_or(&name) {
        b"year" => Box::new(move |days| first_of_month(days, 12)),
        b"quarter" => Box::new(move |days| first_of_month(days, 3)),
        b"month" => Box::new(move |days| first_of_month(days, 1)),
        b"week" => Box::new(|days| days - iso_weekday(days) + 1),
        b"day" => Box::new(|days| days),
        b"hour" => return parts(output, clock, 24),
        b"minute" => return parts(output, clock, 1_440),
        b"second" => return parts(output, clock, 86_400),
        _ => return refuse(0, "needs year, quarter, month, week, day, hour, minute or second"),
    };
    let starts = ByDay::new(clock, move |days| day(days).checked_mul(clock.per_day));
    Ok(Bound::new(output, move |views, rows| starts.rows(&views[1], rows, |value| out_of_range(value, output))))
}

fn out_of_range(value: i64, output: LogicalType) -> EvalError {
    let value = Value::Integer(value.into()).to_text(output);
    EvalError::Value(format!("the start of the period of {value} is out of range for {output}"))
}

/// This many parts of a day.
fn parts(output: LogicalType, clock: Clock, parts: i64) -> Result<Bound, Mismatch> {
    let units = clock.units(parts).max(1);
    Ok(Bound::new(output, move |views, rows| {
        rows.narrow(|row| {
            let value = views[1].narrow(row);
            value.checked_sub(value.rem_euclid(units)).ok_or_else(|| out_of_range(value, output))
        })
    }))
}
