//! A fast path for values that are written exactly as their form would write them, which is nearly all of them: they
//! need not be formatted again for comparison.

use super::parts::Parts;
use super::terms::{Item, Pad};
use super::time::weekday;
use super::{Form, NumberForm, TimeForm};
use brc_core::LogicalType;
use brc_core::calendar::{self, MONTHS, WEEKDAYS};
use brc_core::decimal::POWERS;
use std::ops::RangeInclusive;

/// The local dates whose UTC dates [have a usual year](Parts::has_usual_year), whatever the offset.
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

/// The parts of a time that have been parsed.
#[derive(Default)]
struct TimeFields {
    year: Option<i64>,
    month: i64,
    day: i64,
    weekday: Option<usize>,
    hour: Option<i64>,
    hour12: Option<i64>,
    is_afternoon: Option<bool>,
    minute: i64,
    second: i64,
    nanos: i64,
    offset: Option<i16>,
}

impl TimeForm {
    fn parse_exact(&self, text: &[u8], logical_type: LogicalType) -> Option<i64> {
        if logical_type == LogicalType::Date
            && let Some(days) = self.parse_short_date(text)
        {
            return Some(days);
        }
        let mut read = TimeFields::default();
        let (items, mut rest) = (self.items(), text);
        for (index, item) in items.iter().enumerate() {
            let is_joined = || {
                let before = index.checked_sub(1).and_then(|before| items.get(before));
                before.into_iter().chain(items.get(index + 1)).any(Item::is_digits)
            };
            rest = self.read_item(*item, is_joined, rest, logical_type, &mut read)?;
        }
        if rest.is_empty() { read.value(logical_type) } else { None }
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

    /// Parses one item, and returns the rest of the text.
    #[inline(always)]
    fn read_item<'t>(
        &self,
        item: Item,
        is_joined: impl Fn() -> bool,
        text: &'t [u8],
        logical_type: LogicalType,
        read: &mut TimeFields,
    ) -> Option<&'t [u8]> {
        let two = |pad: Pad| padded(text, pad, &is_joined);
        let (into, (number, rest)) = match item {
            Item::Literal(byte) => return text.strip_prefix(&[byte]),
            Item::Year => {
                let (century, rest) = pair(text)?;
                let (year, rest) = pair(rest)?;
                read.year = Some(century * 100 + year);
                return Some(rest);
            }
            Item::ShortYear => {
                let (year, rest) = pair(text)?;
                read.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
                return Some(rest);
            }
            Item::Month(pad) => (&mut read.month, two(pad)?),
            Item::Day(pad) => (&mut read.day, two(pad)?),
            Item::Hour(pad) => (read.hour.insert(0), two(pad)?),
            Item::Hour12(pad) => (read.hour12.insert(0), two(pad)?),
            Item::Minute => (&mut read.minute, pair(text)?),
            Item::Second => (&mut read.second, pair(text)?),
            Item::ShortMonth | Item::UpperMonth | Item::LongMonth => {
                let (index, rest) = name(text, &MONTHS, item)?;
                read.month = index as i64 + 1;
                return Some(rest);
            }
            Item::ShortWeekday | Item::LongWeekday => {
                let (index, rest) = name(text, &WEEKDAYS, item)?;
                read.weekday = Some(index);
                return Some(rest);
            }
            Item::Fraction => {
                let (fraction, length) = number(text, 0);
                if length != fraction_digits(logical_type)? {
                    return None;
                }
                read.nanos = fraction * POWERS[9 - length];
                return Some(&text[length..]);
            }
            Item::UpperHalf | Item::LowerHalf => {
                let (half, rest) = text.split_at_checked(2)?;
                let halves: [&[u8]; 2] = if item == Item::UpperHalf { [b"AM", b"PM"] } else { [b"am", b"pm"] };
                read.is_afternoon = Some(halves.iter().position(|own| *own == half)? == 1);
                return Some(rest);
            }
            Item::Offset | Item::ColonOffset => {
                let (sign, rest) = text.split_first()?;
                let (hours, rest) = pair(rest)?;
                let rest = if item == Item::ColonOffset { rest.strip_prefix(b":")? } else { rest };
                let (minutes, rest) = pair(rest)?;
                let offset = (hours * 60 + minutes) as i16;
                let is_own = *sign == if self.offset < 0 { b'-' } else { b'+' } && offset == self.offset.abs();
                read.offset = Some(self.offset);
                return (is_own && hours < 24 && minutes < 60).then_some(rest);
            }
            Item::Utc => {
                read.offset = Some(0);
                return text.strip_prefix(b"UTC").filter(|_| self.offset == 0);
            }
            Item::Epoch => return None,
        };
        *into = number;
        Some(rest)
    }
}

impl TimeFields {
    fn value(&self, logical_type: LogicalType) -> Option<i64> {
        let days = match self.year {
            Some(year) => Some(calendar::days_of(year, self.month as u32, self.day as u32)?),
            None => None,
        };
        if days.is_some_and(|days| !USUAL_DAYS.contains(&days)) {
            return None;
        }
        if let Some(named) = self.weekday
            && WEEKDAYS[named] != weekday(days?)
        {
            return None;
        }
        let hour = match (self.hour, self.hour12, self.is_afternoon) {
            (None, Some(hour @ 1..=12), Some(is_afternoon)) => Some(hour % 12 + if is_afternoon { 12 } else { 0 }),
            (Some(0..24) | None, None, None) => self.hour,
            _ => return None,
        };
        if self.minute >= 60 || self.second >= 60 || hour.is_none() && self.offset.is_some() {
            return None;
        }
        let seconds = hour.map(|hour| (hour * 60 + self.minute) * 60 + self.second);
        Parts { days, seconds, nanos: self.nanos, offset: self.offset, ..Parts::default() }.value(logical_type)
    }
}

/// The number of fractional digits of a second that are written for values of a type.
fn fraction_digits(logical_type: LogicalType) -> Option<usize> {
    match logical_type {
        LogicalType::Time { unit } | LogicalType::Timestamp { unit, .. } => Some((unit.digits() as usize).max(1)),
        _ => None,
    }
}

/// A number of two digits.
#[inline(always)]
fn pair(text: &[u8]) -> Option<(i64, &[u8])> {
    let ([tens, ones], rest) = text.split_first_chunk()?;
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| (i64::from(tens * 10 + ones), rest))
}

/// A number of two digits, whose leading zero is written according to `pad`.
#[inline(always)]
fn padded(text: &[u8], pad: Pad, is_joined: impl Fn() -> bool) -> Option<(i64, &[u8])> {
    match (pad, text) {
        (Pad::Zero, _) => pair(text),
        (_, [b'1'..=b'9', b'0'..=b'9', ..]) => pair(text),
        (Pad::Nothing, [digit @ b'0'..=b'9', ..]) if !is_joined() => Some((i64::from(digit - b'0'), &text[1..])),
        (Pad::Space, [b' ', digit @ b'0'..=b'9', ..]) => Some((i64::from(digit - b'0'), &text[2..])),
        _ => None,
    }
}

/// The index of the name at the start of the text, in the spelling of the item.
fn name<'t>(text: &'t [u8], names: &[&str], item: Item) -> Option<(usize, &'t [u8])> {
    let is_long = matches!(item, Item::LongMonth | Item::LongWeekday);
    let mut found = names.iter().map(|name| &name.as_bytes()[..if is_long { name.len() } else { 3 }]).enumerate();
    let is_upper = item == Item::UpperMonth;
    let (index, rest) = found.find_map(|(index, name)| {
        let (start, rest) = text.split_at_checked(name.len())?;
        let is_it = if is_upper { start.iter().eq(&name.to_ascii_uppercase()) } else { start == name };
        is_it.then_some((index, rest))
    })?;
    (!rest.first().is_some_and(u8::is_ascii_alphabetic)).then_some((index, rest))
}
