//! The parts of a time: the intermediate form between a text and a value of a type.

use super::terms::Pad;
use brc_core::{LogicalType, TimeUnit, calendar};

pub(super) const NANOS: i64 = 1_000_000_000;

/// The parts of a parsed time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// The days since 1970-01-01, if the text has a date.
    pub(super) days: Option<i64>,
    /// The seconds of the day, if the text has a time; local, before the UTC offset is subtracted.
    pub(super) seconds: Option<i64>,
    pub(super) nanos: i64,
    /// The number of fractional digits of the second in the text.
    pub digits: u8,
    /// The UTC offset in minutes, if the text has one.
    pub offset: Option<i16>,
    /// How one-digit numbers were padded.
    pub padding: Padding,
    /// Whether names or AM/PM are in a different case than in the form.
    pub(super) has_other_case: bool,
}

/// The set of paddings of one-digit numbers that occurred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Padding(u8);

impl Padding {
    /// The empty set.
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

    /// The paddings in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The only padding that occurred; `Zero` if there was none or several.
    pub(super) fn pad(self, shift: u8) -> Pad {
        match self.0 >> shift & 7 {
            2 => Pad::Nothing,
            4 => Pad::Space,
            _ => Pad::Zero,
        }
    }
}

/// The UTC offset of several values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ZoneOffset {
    /// No value has one.
    #[default]
    Unknown,
    /// All values have this one, in minutes.
    Same(i16),
    /// The values have different ones.
    Several,
}

impl ZoneOffset {
    /// The offset of the values of both.
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
    /// The parts of a value of a date or time type.
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

    /// The value in a date or time type; `None` if the type cannot represent it.
    #[must_use]
    pub fn value(&self, logical_type: LogicalType) -> Option<i64> {
        let in_unit = |seconds: i64, unit: TimeUnit| {
            let per_unit = NANOS / unit.per_second();
            if self.nanos % per_unit != 0 {
                return None;
            }
            i64::try_from(i128::from(seconds) * i128::from(unit.per_second()) + i128::from(self.nanos / per_unit)).ok()
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

    /// Combines a date with the time that follows it.
    pub(crate) fn and(self, clock: Self) -> Self {
        Self {
            days: self.days,
            padding: self.padding.union(clock.padding),
            has_other_case: self.has_other_case || clock.has_other_case,
            ..if self.seconds.is_some() { self } else { clock }
        }
    }

    /// Whether there is a time of day.
    pub(crate) fn has_clock(&self) -> bool {
        self.seconds.is_some()
    }

    /// Whether names and AM/PM are in the case of the form.
    pub(crate) fn is_written_so(&self) -> bool {
        !self.has_other_case
    }

    /// The UTC offset.
    pub(crate) fn zone(&self) -> ZoneOffset {
        self.offset.map_or(ZoneOffset::Unknown, ZoneOffset::Same)
    }

    /// The seconds since 1970-01-01 00:00 UTC, if there is a date.
    #[must_use]
    pub fn seconds_since_epoch(&self) -> Option<i64> {
        let seconds = self.seconds.unwrap_or(0) - i64::from(self.offset.unwrap_or(0)) * 60;
        self.days?.checked_mul(calendar::DAY_SECONDS)?.checked_add(seconds)
    }

    /// The nanoseconds since then.
    pub(crate) fn nanos_since_epoch(&self) -> Option<i128> {
        Some(i128::from(self.seconds_since_epoch()?) * i128::from(NANOS) + i128::from(self.nanos))
    }

    /// Whether the year has four digits.
    pub(super) fn has_usual_year(&self) -> bool {
        // One day less at each end, because a UTC offset may shift the date.
        self.days.is_none_or(|days| (-719_527..=2_932_895).contains(&days))
    }
}
