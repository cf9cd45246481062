//! Dates and times in strftime forms.

use super::parts::{Padding, Parts, ZoneOffset};
use super::reader::Reader;
use super::terms::{Item, Pad, items, term};
use brc_core::calendar::{self, MONTHS, WEEKDAYS};
use brc_core::{LogicalType, TimeUnit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The maximum number of items of a form.
const MAX_ITEMS: usize = 32;

/// A strftime form of dates, times of day, or both: `%d/%m/%Y %H:%M`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeForm {
    items: [Item; MAX_ITEMS],
    len: u8,
    /// The UTC offset at which values are written, in minutes.
    pub(super) offset: i16,
}

/// Why a form is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// An unknown strftime specifier.
    #[error("unknown format term '{0}' (terms: %Y %m %d %b %H %I %M %S %f %p %z and others of strftime)")]
    Term(String),
    /// A form without a complete date or time.
    #[error("'{0}' has neither a date (%Y %m %d) nor a time (%H %M)")]
    NoTime(String),
    /// Too many items.
    #[error("the format '{0}' is too long")]
    TooLong(String),
    /// An invalid separator.
    #[error("'{0}' cannot be a separator in numbers")]
    Separator(String),
    /// The same separator for decimals and thousands.
    #[error("'{0}' cannot be both the decimal and the thousands separator")]
    SameSeparator(char),
}

impl Default for TimeForm {
    /// The form that matches only the empty text.
    fn default() -> Self {
        Self { items: [Item::Literal(0); MAX_ITEMS], len: 0, offset: 0 }
    }
}

impl TimeForm {
    /// Parses a strftime form, which may be empty.
    ///
    /// # Errors
    /// If a specifier is unknown or cannot be parsed back.
    pub(crate) fn of_terms(text: &str) -> Result<Self, FormError> {
        let mut form = Self::default();
        items(text, &mut |item| {
            let slot = form.items.get_mut(usize::from(form.len)).ok_or_else(|| FormError::TooLong(text.to_owned()))?;
            *slot = item;
            form.len += 1;
            Ok(())
        })?;
        Ok(form)
    }

    /// Concatenates two forms.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        let mut both = *self;
        for item in other.items().iter().take(MAX_ITEMS - self.items().len()) {
            both.items[usize::from(both.len)] = *item;
            both.len += 1;
        }
        both
    }

    /// The form with the padding that occurred in the values, and the UTC offset to write at.
    #[must_use]
    pub(crate) fn written(mut self, padding: Padding, offset: ZoneOffset) -> Self {
        for item in &mut self.items[..usize::from(self.len)] {
            match item {
                Item::Month(pad) | Item::Day(pad) => *pad = padding.pad(Padding::DATE_SHIFT),
                Item::Hour(pad) | Item::Hour12(pad) => *pad = padding.pad(Padding::HOUR_SHIFT),
                _ => {}
            }
        }
        self.offset = if let ZoneOffset::Same(minutes) = offset { minutes } else { 0 };
        self
    }

    pub(super) fn items(&self) -> &[Item] {
        &self.items[..usize::from(self.len)]
    }

    fn has(&self, is_it: impl Fn(Item) -> bool) -> bool {
        self.items().iter().any(|item| is_it(*item))
    }

    /// Whether the form has a complete date.
    #[must_use]
    pub fn has_date(&self) -> bool {
        self.has(|item| matches!(item, Item::Epoch))
            || self.has(|item| matches!(item, Item::Year | Item::ShortYear))
                && self
                    .has(|item| matches!(item, Item::Month(_) | Item::ShortMonth | Item::UpperMonth | Item::LongMonth))
                && self.has(|item| matches!(item, Item::Day(_)))
    }

    /// Whether the form has a time of day.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        let is_half = |item| matches!(item, Item::UpperHalf | Item::LowerHalf);
        self.has(|item| matches!(item, Item::Hour(_) | Item::Epoch))
            || self.has(|item| matches!(item, Item::Hour12(_))) && self.has(is_half)
    }

    /// Whether the form has both.
    #[must_use]
    pub fn is_timestamp(&self) -> bool {
        self.has_date() && self.has_clock()
    }

    /// Whether the form has a UTC offset.
    #[must_use]
    pub fn has_zone(&self) -> bool {
        self.has(|item| matches!(item, Item::Offset | Item::ColonOffset | Item::Utc | Item::Epoch))
    }

    /// Whether the form has fractions of a second.
    fn has_fraction(&self) -> bool {
        self.has(|item| item == Item::Fraction)
    }

    /// Whether values of that type can be written in this form.
    pub(super) fn goes_with(&self, logical_type: LogicalType) -> bool {
        match logical_type {
            LogicalType::Date => self.has_date() && !self.has_clock(),
            LogicalType::Time { .. } => self.has_clock() && !self.has_date(),
            LogicalType::Timestamp { zone, .. } => self.has_date() && (!zone || self.has_zone()),
            _ => false,
        }
    }

    /// The type of the values, with seconds in that unit.
    #[must_use]
    pub fn logical_type(&self, unit: TimeUnit) -> LogicalType {
        match (self.has_date(), self.has_clock()) {
            (true, false) => LogicalType::Date,
            (false, _) => LogicalType::Time { unit },
            (true, true) => LogicalType::Timestamp { unit, zone: self.has_zone() },
        }
    }

    /// Whether values in the usual form may occur among those in this form, as `2024-10-05` among `2024-1-5`.
    pub(super) fn takes_usual(&self) -> bool {
        self.begins_with_iso_date() || self.begins_with_clock()
    }

    /// Whether the form starts like brc's dates.
    pub(crate) fn begins_with_iso_date(&self) -> bool {
        let dash = Item::Literal(b'-');
        matches!(self.items(), [Item::Year, first, Item::Month(_), second, Item::Day(_), ..] if [*first, *second] == [dash; 2])
    }

    /// Whether the form starts like brc's times of day.
    pub(crate) fn begins_with_clock(&self) -> bool {
        matches!(self.items(), [Item::Hour(_), Item::Literal(b':'), Item::Minute, ..])
    }

    /// Parses a time; `None` if the text does not match or there is no such time.
    #[must_use]
    pub fn parse(&self, text: &[u8]) -> Option<Parts> {
        let (parts, rest) = self.parse_start(text)?;
        rest.is_empty().then_some(parts)
    }

    /// Parses the time at the start of a text. Returns it and the rest, which is empty if the last parts are missing.
    pub(crate) fn parse_start<'t>(&self, text: &'t [u8]) -> Option<(Parts, &'t [u8])> {
        let mut reader = Reader::new(text);
        let items = self.items();
        let mut next = items.iter().enumerate();
        while let Some((index, item)) = next.next() {
            if reader.rest.is_empty() && self.may_end_before(index) {
                break;
            }
            if let Some([Item::Second, Item::Literal(point), Item::Fraction, ..]) = items.get(index.wrapping_sub(1)..)
                && reader.rest.first() != Some(point)
            {
                // A fraction may also be missing before a zone.
                next.next();
                continue;
            }
            let beside = [index.checked_sub(1), Some(index + 1)].map(|beside| items.get(beside?));
            reader.read(*item, beside.iter().any(|item| item.is_some_and(Item::is_digits)))?;
        }
        let rest = reader.rest;
        Some((reader.parts()?, rest))
    }

    /// The value in a date or time type; `None` if the type cannot represent it. Seconds since 1970 are also timestamps
    /// without a zone.
    pub(super) fn value(&self, parts: &Parts, logical_type: LogicalType) -> Option<i64> {
        match logical_type {
            LogicalType::Timestamp { zone: false, .. } if self.has(|item| item == Item::Epoch) => {
                Parts { offset: None, ..*parts }.value(logical_type)
            }
            _ => parts.value(logical_type),
        }
    }

    /// Whether a text may end before an item: as in the usual form, a timestamp may lack its fraction, its seconds or
    /// its time of day, unless a zone follows.
    fn may_end_before(&self, index: usize) -> bool {
        let (before, rest) = self.items().split_at(index);
        let separators = rest.iter().take_while(|item| matches!(item, Item::Literal(_))).count();
        let begins_part = |item: &Item| matches!(item, Item::Hour(_) | Item::Hour12(_) | Item::Second | Item::Fraction);
        separators > 0
            && !matches!(before, [.., Item::Literal(_)])
            && rest.get(separators).is_some_and(begins_part)
            && rest.iter().all(|item| {
                begins_part(item) || matches!(item, Item::Literal(_) | Item::Minute | Item::UpperHalf | Item::LowerHalf)
            })
    }

    /// Whether a time can be written without loss: the form has terms for its clock, minutes, seconds, fraction and
    /// century.
    pub(super) fn expresses(&self, parts: &Parts) -> bool {
        let seconds = parts.seconds.unwrap_or(0);
        let has = |wanted: Item| self.has(|item| item == wanted || item == Item::Epoch);
        let has_century = || {
            let (year, ..) = calendar::date_of(self.local(parts).0);
            !self.has(|item| item == Item::ShortYear) || (1969..=2068).contains(&year)
        };
        (seconds == 0 || self.has_clock())
            && (seconds % 60 == 0 || has(Item::Second))
            && (seconds / 60 % 60 == 0 || has(Item::Minute))
            && (parts.nanos == 0 || self.has_fraction())
            && (parts.days.is_none() || has_century())
    }

    /// The day and the second of the day at the offset at which values are written.
    fn local(&self, parts: &Parts) -> (i64, i64) {
        let shift = if self.has_zone() { i64::from(self.offset) * 60 } else { 0 };
        let of_day = parts.seconds.unwrap_or(0) + shift;
        let days = parts.days.unwrap_or(0) + of_day.div_euclid(calendar::DAY_SECONDS);
        (days, of_day.rem_euclid(calendar::DAY_SECONDS))
    }

    /// Appends a time.
    pub(super) fn write(&self, parts: &Parts, out: &mut Vec<u8>) {
        let shift = if self.has_zone() { i64::from(self.offset) * 60 } else { 0 };
        let (days, seconds) = self.local(parts);
        let (year, month, day) = calendar::date_of(days);
        let (hour, hour12) = (seconds / 3600, (seconds / 3600 + 11) % 12 + 1);
        for item in self.items() {
            match *item {
                Item::Literal(byte) => out.push(byte),
                Item::Year => push(year, 4, Pad::Zero, out),
                Item::ShortYear => push(year.rem_euclid(100), 2, Pad::Zero, out),
                Item::Month(pad) => push(month.into(), 2, pad, out),
                Item::Day(pad) => push(day.into(), 2, pad, out),
                Item::ShortMonth => out.extend_from_slice(&MONTHS[month as usize - 1].as_bytes()[..3]),
                Item::UpperMonth => {
                    out.extend(MONTHS[month as usize - 1].bytes().take(3).map(|byte| byte.to_ascii_uppercase()));
                }
                Item::LongMonth => out.extend_from_slice(MONTHS[month as usize - 1].as_bytes()),
                Item::ShortWeekday => out.extend_from_slice(&weekday(days).as_bytes()[..3]),
                Item::LongWeekday => out.extend_from_slice(weekday(days).as_bytes()),
                Item::Hour(pad) => push(hour, 2, pad, out),
                Item::Hour12(pad) => push(hour12, 2, pad, out),
                Item::Minute => push(seconds / 60 % 60, 2, Pad::Zero, out),
                Item::Second => push(seconds % 60, 2, Pad::Zero, out),
                Item::Fraction => {
                    let digits = usize::from(parts.digits.max(1));
                    push(parts.nanos / 10i64.pow(9 - digits as u32), digits, Pad::Zero, out);
                }
                Item::UpperHalf => out.extend_from_slice(if hour < 12 { b"AM" } else { b"PM" }),
                Item::LowerHalf => out.extend_from_slice(if hour < 12 { b"am" } else { b"pm" }),
                Item::Offset | Item::ColonOffset => {
                    let minutes = i64::from(self.offset.abs());
                    out.push(if self.offset < 0 { b'-' } else { b'+' });
                    push(minutes / 60, 2, Pad::Zero, out);
                    out.extend((*item == Item::ColonOffset).then_some(b':'));
                    push(minutes % 60, 2, Pad::Zero, out);
                }
                Item::Utc => out.extend_from_slice(b"UTC"),
                Item::Epoch => {
                    let seconds = days.saturating_mul(calendar::DAY_SECONDS).saturating_add(seconds - shift);
                    out.extend_from_slice(seconds.to_string().as_bytes());
                }
            }
        }
    }
}

pub(super) fn weekday(days: i64) -> &'static str {
    // 1970-01-01 was a Thursday.
    WEEKDAYS[(days + 3).rem_euclid(7) as usize]
}

fn push(number: i64, digits: usize, pad: Pad, out: &mut Vec<u8>) {
    let start = out.len();
    let (mut rest, mut count) = (number.unsigned_abs(), 0);
    while rest > 0 || count == 0 {
        out.push(b'0' + (rest % 10) as u8);
        (rest, count) = (rest / 10, count + 1);
    }
    match pad {
        Pad::Zero => out.resize(out.len().max(start + digits), b'0'),
        Pad::Space => out.resize(out.len().max(start + digits), b' '),
        Pad::Nothing => {}
    }
    out[start..].reverse();
}

impl fmt::Display for TimeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        for item in self.items() {
            match item {
                Item::Literal(byte) if *byte != b'%' => text.push(*byte),
                item => {
                    text.push(b'%');
                    text.extend_from_slice(term(*item).unwrap_or_default().as_bytes());
                }
            }
        }
        f.write_str(&String::from_utf8_lossy(&text))?;
        match self.offset {
            0 => Ok(()),
            minutes => {
                let sign = if minutes < 0 { '-' } else { '+' };
                write!(f, "{OFFSET}{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
        }
    }
}

impl fmt::Debug for TimeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimeForm({self})")
    }
}

/// Separates the strftime form from the UTC offset at which values are written.
const OFFSET: &str = " at ";

impl FromStr for TimeForm {
    type Err = FormError;

    fn from_str(text: &str) -> Result<Self, FormError> {
        let offset = text.rsplit_once(OFFSET).and_then(|(terms, offset)| Some((terms, read_offset(offset)?)));
        let (terms, offset) = offset.unwrap_or((text, 0));
        let form = Self { offset, ..Self::of_terms(terms)? };
        if !form.has_date() && !form.has_clock() || form.has_fraction() && !form.has_clock() {
            return Err(FormError::NoTime(text.to_owned()));
        }
        Ok(form)
    }
}

fn read_offset(text: &str) -> Option<i16> {
    let mut reader = Reader::new(text.as_bytes());
    reader.offset(false)?;
    reader.parts.offset.filter(|_| reader.rest.is_empty())
}

as_text!(TimeForm);
