//! The parts of a time, between a text and a value of a type.

use super::terms::Pad;
use brc_core::{LogicalType, TimeUnit, calendar};

pub(super) const NANOS: i64 = 1_000_000_000;

/// The parts of a time that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// The days since 1970-01-01, where a date was read.
    pub(super) days: Option<i64>,
    /// The seconds of the day, where a time was read; before the distance from UTC is taken off.
    pub(super) seconds: Option<i64>,
    pub(super) nanos: i64,
    /// How many digits of a second were read.
    pub digits: u8,
    /// The distance from UTC in minutes, where it was read.
    pub offset: Option<i16>,
    /// How numbers of one digit were written.
    pub padding: Padding,
    /// Whether names and halves of the day are in other letters than the form has.
    pub(super) has_other_case: bool,
}

/// How numbers of one digit are written: as far as there were any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Padding(u8);

impl Padding {
    /// That of no numbers.
    pub const NONE: Self = Self(0);
    pub(super) const DATE_SHIFT: u8 = 0;
    pub(super) const HOUR_SHIFT: u8 = 3;

    fn bit(pad: Pad) -> u8 {
        match pad {
            Pad::Zero => 1,
            Pad::Nothing => 2,
            Pad::Space => 4,
        }
    }

    pub(super) fn add(&mut self, shift: u8, pad: Pad) {
        self.0 |= Self::bit(pad) << shift;
    }

    /// That of all values of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The only one that was met; zeros if there is none, or several.
    pub(super) fn pad(self, shift: u8) -> Pad {
        match self.0 >> shift & 7 {
            2 => Pad::Nothing,
            4 => Pad::Space,
            _ => Pad::Zero,
        }
    }
}

/// The distance from UTC of some values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ZoneOffset {
    /// There are no values.
    #[default]
    Unknown,
    /// That of all of them, in minutes.
    Same(i16),
    /// There are several.
    Several,
}

impl ZoneOffset {
    /// That of all values of both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => known,
            (Self::Same(own), Self::Same(other)) if own == other => self,
            _ => Self::Several,
        }
    }
}

impl Parts {
    /// The parts of a value of a type of times.
    pub(super) fn of(value: i64, logical_type: LogicalType) -> Option<Self> {
        let clock = |value: i64, unit: TimeUnit| {
            let (seconds, fraction) = (value.div_euclid(unit.per_second()), value.rem_euclid(unit.per_second()));
            Parts {
                seconds: Some(seconds),
                nanos: fraction * (NANOS / unit.per_second()),
                digits: unit.digits() as u8,
                ..Parts::default()
            }
        };
        match logical_type {
            LogicalType::Date => Some(Parts { days: Some(value), ..Parts::default() }),
            LogicalType::Time { unit } => Some(clock(value, unit)),
            LogicalType::Timestamp { unit, .. } => {
                let parts = clock(value, unit);
                let seconds = parts.seconds?;
                let (days, seconds) =
                    (seconds.div_euclid(calendar::DAY_SECONDS), seconds.rem_euclid(calendar::DAY_SECONDS));
                Some(Parts { days: Some(days), seconds: Some(seconds), ..parts })
            }
            _ => None,
        }
    }

    /// The value in a type of times; `None` if it has none there.
    #[must_use]
    pub fn value(&self, logical_type: LogicalType) -> Option<i64> {
        let in_unit = |seconds: i64, unit: TimeUnit| {
            let per_unit = NANOS / unit.per_second();
            if self.nanos % per_unit != 0 {
                return None;
            }
            seconds.checked_mul(unit.per_second())?.checked_add(self.nanos / per_unit)
        };
        match logical_type {
            LogicalType::Date if self.seconds.is_none() => self.days,
            LogicalType::Time { unit } if self.days.is_none() => in_unit(self.seconds?, unit),
            LogicalType::Timestamp { unit, zone } if zone == self.offset.is_some() || self.seconds.is_none() => {
                in_unit(self.seconds_since_epoch()?, unit)
            }
            _ => None,
        }
    }

    /// Those of a date with those of the time behind it.
    pub(crate) fn and(self, clock: Self) -> Self {
        Self {
            days: self.days,
            padding: self.padding.union(clock.padding),
            has_other_case: self.has_other_case || clock.has_other_case,
            ..if self.seconds.is_some() { self } else { clock }
        }
    }

    /// Whether names and halves of the day are in the letters that the form has.
    pub(crate) fn is_written_so(&self) -> bool {
        !self.has_other_case
    }

    /// The distance from UTC.
    pub(crate) fn zone(&self) -> ZoneOffset {
        self.offset.map_or(ZoneOffset::Unknown, ZoneOffset::Same)
    }

    /// The seconds since 1970, where a date was read.
    #[must_use]
    pub fn seconds_since_epoch(&self) -> Option<i64> {
        let seconds = self.seconds.unwrap_or(0) - i64::from(self.offset.unwrap_or(0)) * 60;
        self.days?.checked_mul(calendar::DAY_SECONDS)?.checked_add(seconds)
    }

    /// Whether the year has four digits.
    pub(super) fn has_usual_year(&self) -> bool {
        // A day more or less, for the distance from UTC.
        self.days.is_none_or(|days| (-719_527..=2_932_895).contains(&days))
    }
}
