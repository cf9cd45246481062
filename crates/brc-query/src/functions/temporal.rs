//! What functions of dates and times have in common.

use super::{Mismatch, refuse};
use crate::node::Typed;
use brc_core::{LogicalType, calendar};

const DAY: i64 = calendar::DAY_SECONDS;

/// How the values of a type count time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// How many units are a day; 1 of dates.
    pub(super) per_day: i64,
    /// Whether values have a day.
    pub(super) has_date: bool,
}

impl Clock {
    /// The clock of an argument.
    pub(super) fn of(arguments: &[Typed], index: usize) -> Result<Self, Mismatch> {
        match arguments[index].logical_type {
            LogicalType::Date => Ok(Self { per_day: 1, has_date: true }),
            LogicalType::Time { unit } => Ok(Self { per_day: unit.per_second() * DAY, has_date: false }),
            LogicalType::Timestamp { unit, .. } => Ok(Self { per_day: unit.per_second() * DAY, has_date: true }),
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Float64
            | LogicalType::String
            | LogicalType::Binary => refuse(index, "needs a date or a time"),
        }
    }

    /// The days since 1970-01-01, and the units since midnight.
    pub(super) fn split(self, value: i64) -> (i64, i64) {
        (value.div_euclid(self.per_day), value.rem_euclid(self.per_day))
    }

    /// How many units are so many parts of a day; 0 if a unit is more than that.
    pub(super) fn units(self, parts_of_day: i64) -> i64 {
        self.per_day / parts_of_day
    }
}

/// The day of the week of a day, Monday being 1.
pub(super) fn iso_weekday(days: i64) -> i64 {
    (days + 3).rem_euclid(7) + 1
}

/// A day as many months later, on the same day of the month or the last one that it has.
pub(super) fn add_months(days: i64, months: i64) -> Option<i64> {
    let (year, month, day) = calendar::date_of(days);
    let month = i64::from(month) - 1 + months.checked_add(year.checked_mul(12)?)?;
    let (year, month) = (month.div_euclid(12), month.rem_euclid(12) as u32 + 1);
    (28..=day.max(28)).rev().map(|last| day.min(last)).find_map(|day| calendar::days_of(year, month, day))
}
