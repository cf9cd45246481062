//! Values that a form would write just as they stand there: nearly all. They are read without being written again.

use super::parts::{NANOS, Parts};
use super::terms::{Item, MONTHS, Pad, WEEKDAYS};
use super::time::weekday;
use super::{Form, NumberForm, TimeForm};
use brc_core::decimal::POWERS;
use brc_core::{LogicalType, TimeUnit, calendar};

/// The most digits that 64 bits hold of any number.
const MAX_DIGITS: usize = 18;

impl Form {
    /// The value of a text in a type of integers, dates or times, if the form writes it so but for zeros at the end. `None`
    /// says nothing: the text may still be a value.
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
        let (first, mut rest) = digits(unsigned, MAX_DIGITS);
        let mut value = number(first);
        let mut whole = first.len();
        if first.is_empty() || first[0] == b'0' && first.len() > 1 {
            return None;
        }
        if self.has_thousands() {
            let separator = self.thousands.bytes();
            if whole > 3 {
                return None;
            }
            while let Some(group) = rest.strip_prefix(separator) {
                let (group, after) = digits(group, 3);
                if group.len() < 3 || value == 0 {
                    return None;
                }
                (value, whole, rest) = (value.wrapping_mul(1000).wrapping_add(number(group)), whole + 3, after);
            }
        }
        let scale = usize::from(scale);
        if whole + scale > MAX_DIGITS {
            return None;
        }
        let missing = match rest.split_first() {
            None => scale,
            Some((point, decimals)) => {
                let (decimals, after) = digits(decimals, scale);
                if *point != self.decimal || decimals.is_empty() || !after.is_empty() {
                    return None;
                }
                value = value * POWERS[decimals.len()] + number(decimals);
                scale - decimals.len()
            }
        };
        value *= POWERS[missing];
        match unsigned.len() < text.len() {
            true => (value > 0).then_some(-value),
            false => Some(value),
        }
    }
}

/// The digits that a text begins with, so many at most, and the rest.
#[inline(always)]
fn digits(text: &[u8], most: usize) -> (&[u8], &[u8]) {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at(count)
}

#[inline(always)]
fn number(digits: &[u8]) -> i64 {
    digits.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
}

/// What was read of a time.
#[derive(Default)]
struct Read {
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
        let mut read = Read::default();
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

    /// Reads an item, and returns the rest.
    #[inline(always)]
    fn read_item<'t>(
        &self,
        item: Item,
        is_joined: impl Fn() -> bool,
        text: &'t [u8],
        logical_type: LogicalType,
        read: &mut Read,
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
                let (fraction, rest) = digits(text, 10);
                if fraction.len() != fraction_digits(logical_type)? {
                    return None;
                }
                read.nanos = number(fraction) * POWERS[9 - fraction.len()];
                return Some(rest);
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

impl Read {
    fn value(&self, logical_type: LogicalType) -> Option<i64> {
        let days = match self.year {
            Some(year) => Some(calendar::days_of(year, self.month as u32, self.day as u32)?),
            None => None,
        };
        // A day less on both sides, for the distance from UTC.
        if days.is_some_and(|days| !(-719_526..=2_932_894).contains(&days)) {
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

/// How many digits of a second are written for values of a type.
fn fraction_digits(logical_type: LogicalType) -> Option<usize> {
    let unit: TimeUnit = match logical_type {
        LogicalType::Time { unit } | LogicalType::Timestamp { unit, .. } => unit,
        _ => return None,
    };
    debug_assert!(NANOS % unit.per_second() == 0, "a unit is a whole number of nanoseconds");
    Some((unit.digits() as usize).max(1))
}

/// A number of two digits.
#[inline(always)]
fn pair(text: &[u8]) -> Option<(i64, &[u8])> {
    let ([tens, ones], rest) = text.split_first_chunk()?;
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| (i64::from(tens * 10 + ones), rest))
}

/// A number of two digits, the first of which is written so if it is zero.
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

/// The index of the name that comes next, written as the item has it.
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
