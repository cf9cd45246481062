//! What functions of dates and times have in common.

use super::{Mismatch, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use crate::values::view::{Rows, View, ViewData};
use brc_core::{Array, LogicalType, calendar};
use brc_kernels::cpu::Level;
use brc_kernels::direct::bounds;
use std::sync::OnceLock;

const DAY: i64 = calendar::DAY_SECONDS;

/// Whether values are numbers of days that can be added to a date.
pub(super) fn is_days(logical_type: LogicalType) -> bool {
    matches!(logical_type, LogicalType::Int8 | LogicalType::Int16 | LogicalType::Int32 | LogicalType::Int64)
}

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
        match Self::of_type(arguments[index].logical_type) {
            Some(clock) => Ok(clock),
            None => refuse(index, "needs a date or a time"),
        }
    }

    /// The clock of a type; `None` if its values are neither dates nor times.
    pub(super) fn of_type(logical_type: LogicalType) -> Option<Self> {
        match logical_type {
            LogicalType::Date => Some(Self { per_day: 1, has_date: true }),
            LogicalType::Time { unit } => Some(Self { per_day: unit.per_second() * DAY, has_date: false }),
            LogicalType::Timestamp { unit, .. } => Some(Self { per_day: unit.per_second() * DAY, has_date: true }),
            LogicalType::Bool
            | LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. }
            | LogicalType::Float32
            | LogicalType::Float64
            | LogicalType::String
            | LogicalType::Binary
            | LogicalType::Uuid => None,
        }
    }

    /// The days since 1970-01-01, and the units since midnight.
    pub(super) fn split(self, value: i64) -> (i64, i64) {
        (value.div_euclid(self.per_day), value.rem_euclid(self.per_day))
    }

    /// How many units make one of the given number of parts of a day; 0 if a unit is longer than that.
    pub(super) fn units(self, parts_of_day: i64) -> i64 {
        self.per_day / parts_of_day
    }
}

/// The number of days that a table adds on either side of those of the first batch, and the most days of a table.
const MARGIN: i64 = 1 << 11;
const MAX_DAYS: i64 = 1 << 15;

/// A function of days with a lookup table: for the days around those of the first batch it is computed once.
pub(super) struct ByDay<F> {
    clock: Clock,
    of: F,
    table: OnceLock<Days>,
}

struct Days {
    first: i64,
    values: Vec<i64>,
}

impl<F: Fn(i64) -> Option<i64>> ByDay<F> {
    pub(super) fn new(clock: Clock, of: F) -> Self {
        Self { clock, of, table: OnceLock::new() }
    }

    /// The values of rows; the error of a row that counts is what `none` makes of its value.
    pub(super) fn rows(
        &self,
        view: &View<'_>,
        rows: &Rows<'_>,
        none: impl Fn(i64) -> EvalError,
    ) -> Result<Array, EvalError> {
        if let ViewData::Narrow(values) = &view.data
            && let Some(values) = self.looked_up(values)
        {
            return Ok(Array::from(values));
        }
        rows.narrow(|row| {
            let value = view.narrow(row);
            (self.of)(self.clock.split(value).0).ok_or_else(|| none(value))
        })
    }

    /// The values of these days, if all are in the table.
    fn looked_up(&self, values: &[i64]) -> Option<Vec<i64>> {
        let (min, max) = bounds(Level::best(), values)?;
        let [low, high] = [min, max].map(|value| self.clock.split(value).0);
        let Days { first, values: known } = self.table.get_or_init(|| self.around(low, high));
        if low < *first || high - first >= known.len() as i64 {
            return None;
        }
        Some(match self.clock.per_day {
            1 => values.iter().map(|day| known[(day - first) as usize]).collect(),
            per_day => values.iter().map(|value| known[(value.div_euclid(per_day) - first) as usize]).collect(),
        })
    }

    /// A table of these days and some more; of none if they are too many or one of them has no value.
    fn around(&self, low: i64, high: i64) -> Days {
        let first = low.saturating_sub(MARGIN);
        let days = high.saturating_add(MARGIN).checked_sub(first).filter(|&days| days < MAX_DAYS);
        let values = days.and_then(|days| (first..=first + days).map(&self.of).collect());
        Days { first, values: values.unwrap_or_default() }
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
