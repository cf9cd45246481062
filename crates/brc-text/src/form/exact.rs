//! A fast path for values that are written exactly as their form would write them, which is nearly all of them: they
//! need not be formatted again for comparison.

use super::terms::{Item, Pad};
use super::{Form, NumberForm, TimeForm};
use brc_core::LogicalType;
use brc_core::calendar;
use brc_core::decimal::POWERS;
use std::ops::RangeInclusive;

/// The local dates whose UTC dates [have a usual year](super::parts::Parts::has_usual_year), whatever the offset.
const USUAL_DAYS: RangeInclusive<i64> = -719_526..=2_932_894;

/// The number of digits that always fits in 64 bits.
const MAX_DIGITS: usize = 18;

impl Form {
    /// Parses a value of an integer, date or time type if the form would write it identically, apart from trailing
    /// zeros. `None` is inconclusive: the text may still be a value.
    #[inline]
    pub(crate) fn parse_exact(&self, text: &[u8], logical_type: LogicalType) -> Option<i64> {
        match (self, logical_type) {
            (Form::Time(form), _) => form.parse_exact(text, logical_type),
            (Form::Number(form), LogicalType::Int64) => form.parse_exact(text, 0),
            (Form::Number(form), LogicalType::Decimal { precision, scale }) if usize::from(scale) <= MAX_DIGITS => {
                let most = POWERS[usize::from(precision).min(MAX_DIGITS)];
                form.parse_exact(text, scale).filter(|value| value.abs() < most)
            }
            (Form::Number(_), _) => None,
        }
    }
}

impl NumberForm {
    fn parse_exact(self, text: &[u8], scale: u8) -> Option<i64> {
        let unsigned = text.strip_prefix(b"-").unwrap_or(text);
        let (mut value, mut whole) = number(unsigned, 0);
        if whole == 0 || unsigned[0] == b'0' && whole > 1 {
            return None;
        }
        let mut rest = &unsigned[whole..];
        if self.has_thousands() {
            if whole > 3 {
                return None;
            }
            while let Some(group) = strip_prefix(rest, self.thousands.bytes()) {
                let (more, length) = number(group.get(..3)?, value);
                if length < 3 || value == 0 {
                    return None;
                }
                (value, whole, rest) = (more, whole + 3, &group[3..]);
            }
        }
        let scale = usize::from(scale);
        if whole + scale > MAX_DIGITS {
            return None;
        }
        let missing = match rest.split_first() {
            None => scale,
            Some((point, decimals)) => {
                let (with_decimals, length) = number(decimals, value);
                if *point != self.decimal || length == 0 || length < decimals.len() || length > scale {
                    return None;
                }
                value = with_decimals;
                scale - length
            }
        };
        value *= POWERS[missing];
        match unsigned.len() < text.len() {
            true => (value > 0).then_some(-value),
            false => Some(value),
        }
    }
}

/// Strips a prefix, which usually is one byte.
#[inline(always)]
fn strip_prefix<'t>(text: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
    match (prefix, text) {
        ([byte], [first, rest @ ..]) => (byte == first).then_some(rest),
        _ => text.strip_prefix(prefix),
    }
}

/// Appends leading digits of `text` to `number`. Returns the number, which wraps on overflow, and the count of digits.
#[inline(always)]
fn number(text: &[u8], mut number: i64) -> (i64, usize) {
    for (length, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (number, length);
        }
        number = number.wrapping_mul(10).wrapping_add(digit.into());
    }
    (number, text.len())
}

impl TimeForm {
    fn parse_exact(&self, text: &[u8], logical_type: LogicalType) -> Option<i64> {
        if logical_type == LogicalType::Date
            && let Some(days) = self.parse_short_date(text)
        {
            return Some(days);
        }
        let parts = self.parse(text)?;
        let digits = if self.has_fraction() { fraction_digits(logical_type)? } else { 0 };
        let is_exact = !parts.is_altered
            && usize::from(parts.digits) == digits
            && parts.offset.is_none_or(|offset| offset == self.offset)
            && parts.days.is_none_or(|days| USUAL_DAYS.contains(&days));
        if is_exact { parts.value(logical_type) } else { None }
    }

    /// Parses the commonest ten-byte dates: `31/12/2024`, `12-31-2024`.
    #[inline(always)]
    fn parse_short_date(&self, text: &[u8]) -> Option<i64> {
        let [first, Item::Literal(after_first), second, Item::Literal(after_second), Item::Year] = self.items() else {
            return None;
        };
        let text: &[u8; 10] = text.try_into().ok()?;
        let digits = [0, 1, 3, 4, 6, 7, 8, 9].map(|at: usize| text[at].wrapping_sub(b'0'));
        if digits.iter().fold(false, |any, digit| any | (*digit > 9))
            || [text[2], text[5]] != [*after_first, *after_second]
        {
            return None;
        }
        let pair = |at: usize| u32::from(10 * digits[at] + digits[at + 1]);
        let (day, month) = match (first, second) {
            (Item::Day(Pad::Zero), Item::Month(Pad::Zero)) => (pair(0), pair(2)),
            (Item::Month(Pad::Zero), Item::Day(Pad::Zero)) => (pair(2), pair(0)),
            _ => return None,
        };
        let year = 100 * pair(4) + pair(6);
        calendar::days_of(year.into(), month, day).filter(|days| USUAL_DAYS.contains(days))
    }
}

/// The number of fractional digits of a second that are written for values of a type.
fn fraction_digits(logical_type: LogicalType) -> Option<usize> {
    match logical_type {
        LogicalType::Time { unit } | LogicalType::Timestamp { unit, .. } => Some((unit.digits() as usize).max(1)),
        _ => None,
    }
}
