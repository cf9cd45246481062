//! `extract(part from t)`, also `date_part('part', t)`: a part of a date or time as an integer.

use super::temporal::{ByDay, Clock, iso_weekday};
use super::{Bound, Function, Mismatch, constant_text, count, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::{LogicalType, calendar};

pub(super) static EXTRACT: Function = Function {
    name: "extract",
    aliases: &["date_part"],
    usage: "extract(part from t)",
    about: "year, quarter, month, week, day, dow, doy, isoyear, isodow, hour, minute, second, millisecond, microsecond, epoch (whole seconds)",
    example: ("extract(dow from date '2024-02-29')", "4"),
    bind,
};

/// A part, from days and units since midnight, and whether only what has a date has it.
type Part = (fn(Clock, i64, i64) -> i64, bool);

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, EXTRACT.usage)?;
    let name = constant_text(arguments, 0)?.to_ascii_lowercase();
    let Some(part) = part(&name) else { return refuse(0, format!("needs one of: {}", EXTRACT.about)) };
    of(arguments, 1, part)
}

/// A part of one of the arguments.
pub(super) fn of(arguments: &[Typed], index: usize, (part, needs_date): Part) -> Result<Bound, Mismatch> {
    let clock = Clock::of(arguments, index)?;
    if needs_date && !clock.has_date {
        return refuse(index, "needs a date or a timestamp");
    }
    if needs_date {
        // The time of the day does not matter for any of these.
        let parts = ByDay::new(clock, move |days| Some(part(clock, days, 0)));
        let none = |_| EvalError::Value("a date is out of range".to_owned());
        return Ok(Bound::new(LogicalType::Int64, move |views, rows| parts.rows(&views[index], rows, none)));
    }
    Ok(Bound::new(LogicalType::Int64, move |views, rows| {
        rows.narrow(|row| {
            let (days, units) = clock.split(views[index].narrow(row));
            Ok(part(clock, days, units))
        })
    }))
}

pub(super) const YEAR: Part = (|_, days, _| calendar::date_of(days).0, true);
pub(super) const MONTH: Part = (|_, days, _| calendar::date_of(days).1.into(), true);
pub(super) const DAY: Part = (|_, days, _| calendar::date_of(days).2.into(), true);
pub(super) const HOUR: Part = (|clock, _, units| within(clock, units, 24), false);
pub(super) const MINUTE: Part = (|clock, _, units| within(clock, units, 1_440) % 60, false);
pub(super) const SECOND: Part = (|clock, _, units| within(clock, units, 86_400) % 60, false);

/// The part of that name.
fn part(name: &[u8]) -> Option<Part> {
    let name = std::str::from_utf8(name).ok()?;
    Some(match name.strip_suffix('s').unwrap_or(name) {
        "year" => YEAR,
        "quarter" => (|_, days, _| (i64::from(calendar::date_of(days).1) + 2) / 3, true),
        "month" => MONTH,
        "week" => (|_, days, _| week(days), true),
        "day" => DAY,
        "dow" => (|_, days, _| iso_weekday(days) % 7, true),
        "isodow" => (|_, days, _| iso_weekday(days), true),
        "isoyear" => (|_, days, _| calendar::date_of(thursday(days)).0, true),
        "doy" => (|_, days, _| day_of_year(days), true),
        "epoch" => {
            // The sum fits, even if the product is below the least integer.
            let epoch = |clock, days: i64, units| {
                let midnight = days.wrapping_mul(calendar::DAY_SECONDS);
                midnight.wrapping_add(within(clock, units, calendar::DAY_SECONDS))
            };
            (epoch, false)
        }
        "hour" => HOUR,
        "minute" => MINUTE,
        "second" => SECOND,
        "millisecond" => (|clock, _, units| within(clock, units, 86_400_000) % 60_000, false),
        "microsecond" => (|clock, _, units| within(clock, units, 86_400_000_000) % 60_000_000, false),
        _ => return None,
    })
}

/// How many of this many parts of a day have passed.
fn within(clock: Clock, units: i64, parts: i64) -> i64 {
    (i128::from(units) * i128::from(parts) / i128::from(clock.per_day)) as i64
}

pub(super) fn day_of_year(days: i64) -> i64 {
    let (year, ..) = calendar::date_of(days);
    days - calendar::days_of(year, 1, 1).unwrap_or(days) + 1
}

/// The ISO week: the first is that of the year's first Thursday.
pub(super) fn week(days: i64) -> i64 {
    (day_of_year(thursday(days)) - 1) / 7 + 1
}

/// The Thursday of the same week, which lies in the ISO year.
fn thursday(days: i64) -> i64 {
    days - iso_weekday(days) + 4
}
