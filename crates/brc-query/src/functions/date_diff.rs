//! `date_diff('part', t, u)`: how many starts of years, months … lie after one date or timestamp, up to another.

use super::temporal::Clock;
use super::{Bound, Function, Mismatch, constant_text, count, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::{LogicalType, Value, calendar};

pub(super) static DATE_DIFF: Function = Function {
    name: "date_diff",
    aliases: &["datediff"],
    usage: "date_diff('part', t, u)",
    about: "how many years, quarters, months, weeks, days, hours … begin after t, up to u",
    example: ("date_diff('month', date '2024-01-31', date '2024-03-01')", "2"),
    bind,
};

const PARTS: &str = "needs year, quarter, month, week, day, hour, minute, second, millisecond or microsecond";

/// Which one of a kind of periods a point in time lies in.
#[derive(Debug, Clone, Copy)]
enum Period {
    /// Of the day's number.
    OfDay(fn(i64) -> i64),
    /// This many parts of a day.
    PartsOfDay(i64),
}

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 3..=3, DATE_DIFF.usage)?;
    let name = constant_text(arguments, 0)?.to_ascii_lowercase();
    let Some(period) = period(&name) else { return refuse(0, PARTS) };
    let clocks = [Clock::of(arguments, 1)?, Clock::of(arguments, 2)?];
    if clocks[0].has_date != clocks[1].has_date {
        return refuse(
            2,
            format!("needs another value like the first, which is of type {}", arguments[1].logical_type),
        );
    }
    if let (Period::OfDay(_), false) = (period, clocks[0].has_date) {
        return refuse(1, "needs a date or a timestamp");
    }
    let types = [arguments[1].logical_type, arguments[2].logical_type];
    Ok(Bound::new(LogicalType::Int64, move |views, rows| {
        rows.narrow(|row| {
            let [from, to] = [0, 1].map(|side| period.number(clocks[side], views[side + 1].narrow(row)));
            (to - from).try_into().map_err(|_| {
                let [from, to] = [0, 1].map(|side| views[side + 1].integer(row)).map(Value::Integer);
                let (from, to) = (from.to_text(types[0]), to.to_text(types[1]));
                EvalError::Value(format!("date_diff from {from} to {to} is out of range for int64"))
            })
        })
    }))
}

fn period(name: &[u8]) -> Option<Period> {
    let month = |days| {
        let (year, month, _) = calendar::date_of(days);
        year * 12 + i64::from(month) - 1
    };
    Some(match name.strip_suffix(b"s").unwrap_or(name) {
        b"year" => Period::OfDay(|days| calendar::date_of(days).0),
        b"quarter" => Period::OfDay(|days| {
            let (year, month, _) = calendar::date_of(days);
            year * 4 + (i64::from(month) - 1) / 3
        }),
        b"month" => Period::OfDay(month),
        // Weeks begin on Mondays, and 1970-01-01 was a Thursday.
        b"week" => Period::OfDay(|days| (days + 3).div_euclid(7)),
        b"day" => Period::OfDay(|days| days),
        b"hour" => Period::PartsOfDay(24),
        b"minute" => Period::PartsOfDay(1_440),
        b"second" => Period::PartsOfDay(calendar::DAY_SECONDS),
        b"millisecond" => Period::PartsOfDay(calendar::DAY_SECONDS * 1_000),
        b"microsecond" => Period::PartsOfDay(calendar::DAY_SECONDS * 1_000_000),
        _ => return None,
    })
}

impl Period {
    fn number(self, clock: Clock, value: i64) -> i128 {
        let (days, units) = clock.split(value);
        match self {
            Self::OfDay(number) => number(days).into(),
            Self::PartsOfDay(parts) => {
                let [days, units, parts] = [days, units, parts].map(i128::from);
                days * parts + units * parts / i128::from(clock.per_day)
            }
        }
    }
}
