//! `make_date(year, month, day)`: the date of its parts, such as those of a number like 20240131.

use super::{Bound, Function, Mismatch, count, integer};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use brc_core::{LogicalType, calendar};

pub(super) static MAKE_DATE: Function = Function {
    name: "make_date",
    aliases: &["datefromparts", "date_from_parts"],
    usage: "make_date(year, month, day)",
    about: "the date of that year, month and day",
    example: ("make_date(20240229 // 10000, 20240229 // 100 % 100, 20240229 % 100)", "2024-02-29"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 3..=3, MAKE_DATE.usage)?;
    (0..3).try_for_each(|index| integer(arguments, index))?;
    Ok(Bound::new(LogicalType::Date, |views, rows| {
        rows.narrow(|row| {
            let [year, month, day] = [0, 1, 2].map(|part| views[part].integer(row));
            let part = |number: i128| u32::try_from(number).ok();
            let days = i64::try_from(year).ok().filter(|year| (1..=9999).contains(year));
            let days = days.and_then(|year| calendar::days_of(year, part(month)?, part(day)?));
            days.ok_or_else(|| EvalError::Value(format!("make_date({year}, {month}, {day}): there is no such date")))
        })
    }))
}
