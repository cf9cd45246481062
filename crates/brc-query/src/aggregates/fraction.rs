//! What aggregates of a fraction from 0 to 1 have in common: the exact ranks of values among the sorted ones.

use super::Group;
use crate::values::number::Number;
use brc_core::{Field, LogicalType, TimeUnit, calendar};

/// A fraction is a number of parts out of this many.
pub(super) const WHOLE: u128 = 10u128.pow(18);

/// A rank between two sorted values: the index of the lower one, and how many of [`WHOLE`] parts of the way to the
/// next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) index: usize,
    pub(super) parts: u128,
}

/// A fraction as it is written; of its decimals 18 count.
fn parts(text: &str) -> Option<u128> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits(whole) && digits(decimals) && decimals.len() <= 18 && whole.len() <= 18 {
        let number = |text: &str| text.bytes().fold(0, |value, byte| value * 10 + u128::from(byte - b'0'));
        return Some(number(whole) * WHOLE + number(decimals) * 10u128.pow(18 - decimals.len() as u32));
    }
    u128::try_from(Number::new(text).floor(18).0).ok()
}

impl Rank {
    /// The rank at the group's fraction of the way from the first of `count` values to the last.
    pub(super) fn between(group: &Group<'_>, count: usize) -> Option<Self> {
        let place = parts(group.parameter)?.checked_mul(count.checked_sub(1)? as u128)?;
        Some(Self { index: (place / WHOLE) as usize, parts: place % WHOLE })
    }

    /// The index of the first value that the group's fraction of all values does not exceed.
    pub(super) fn of_first(group: &Group<'_>, count: usize) -> Option<usize> {
        let place = parts(group.parameter)?.checked_mul(count as u128)?;
        Some((place.div_ceil(WHOLE) as usize).saturating_sub(1))
    }

    /// The point in time at this rank between two others, in units `factor` times finer than theirs, rounded half up.
    pub(super) fn point(self, low: i128, high: i128, factor: i128) -> i128 {
        let (whole, parts) = (WHOLE as i128, self.parts as i128);
        let sum = (low * (whole - parts) + high * parts) * factor;
        (sum + whole / 2).div_euclid(whole)
    }
}

/// The column, if its values have an order in which there is something between two of them: of numbers, dates and
/// times.
pub(super) fn ordered<'a>(fields: &[&'a Field]) -> Result<&'a Field, &'static str> {
    let is_one = |field: &&Field| field.logical_type.is_numeric() || field.logical_type.is_temporal();
    fields.first().copied().filter(is_one).ok_or("a column of numbers, dates or times")
}

/// The type of what lies between values, and how many of its units are one of theirs.
pub(super) fn between(logical_type: LogicalType) -> (LogicalType, i128) {
    let second = TimeUnit::Second;
    match logical_type {
        LogicalType::Date => (LogicalType::Timestamp { unit: second, zone: false }, calendar::DAY_SECONDS.into()),
        of_clock if of_clock.is_temporal() => (of_clock, 1),
        _ => (LogicalType::Float64, 1),
    }
}
