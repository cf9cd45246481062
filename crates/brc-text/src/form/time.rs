//! Dates and times in the terms of strftime.

use super::seconds_of;
use super::terms::{Item, MONTHS, Pad, WEEKDAYS, items, term};
use brc_core::{LogicalType, TimeUnit, calendar};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The most parts of a form.
const MAX_ITEMS: usize = 32;
const NANOS: i64 = 1_000_000_000;

/// A form of dates, times of day, or both, in the terms of strftime: `%d/%m/%Y %H:%M`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeForm {
    items: [Item; MAX_ITEMS],
    len: u8,
    /// The distance from UTC that is written, in minutes.
    offset: i16,
}

/// Why something is no form of values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// A term of strftime that is not known.
    #[error("'{0}' is not a known term; %Y %m %d %b %H %I %M %S %f %p %z and others of strftime are")]
    Term(String),
    /// A form without a whole date or time.
    #[error("'{0}' has neither a date (%Y %m %d) nor a time (%H %M)")]
    NoTime(String),
    /// Too many parts.
    #[error("'{0}' is too long for the form of a date")]
    TooLong(String),
    /// A separator that is none.
    #[error("'{0}' cannot separate the digits of a number")]
    Separator(String),
    /// One separator for two things.
    #[error("'{0}' cannot separate both thousands and decimals")]
    SameSeparator(char),
}

/// The parts of a time that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// The days since 1970-01-01, where a date was read.
    days: Option<i64>,
    /// The seconds of the day, where a time was read; before the distance from UTC is taken off.
    seconds: Option<i64>,
    nanos: i64,
    /// How many digits of a second were read.
    pub digits: u8,
    /// The distance from UTC in minutes, where it was read.
    pub offset: Option<i16>,
    /// How numbers of one digit were written.
    pub padding: Padding,
    /// Whether names and halves of the day are in other letters than the form has.
    has_other_case: bool,
}

/// How numbers of one digit are written: as far as there were any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Padding(u8);

impl Padding {
    /// That of no numbers.
    pub const NONE: Self = Self(0);
    const DATE_SHIFT: u8 = 0;
    const HOUR_SHIFT: u8 = 3;

    fn bit(pad: Pad) -> u8 {
        match pad {
            Pad::Zero => 1,
            Pad::Nothing => 2,
            Pad::Space => 4,
        }
    }

    fn add(&mut self, shift: u8, pad: Pad) {
        self.0 |= Self::bit(pad) << shift;
    }

    /// That of all values of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The only one that was met; zeros if there is none, or several.
    fn pad(self, shift: u8) -> Pad {
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

impl Default for TimeForm {
    /// The form that reads nothing but the empty text.
    fn default() -> Self {
        Self { items: [Item::Literal(0); MAX_ITEMS], len: 0, offset: 0 }
    }
}

impl TimeForm {
    /// The form of these terms; empty if there are none.
    ///
    /// # Errors
    /// If a term is not known, or cannot be read back.
    pub(crate) fn of_terms(text: &str) -> Result<Self, FormError> {
        let mut form = Self::default();
        items(text, &mut |item| {
            let place = form.items.get_mut(usize::from(form.len)).ok_or_else(|| FormError::TooLong(text.to_owned()))?;
            *place = item;
            form.len += 1;
            Ok(())
        })?;
        Ok(form)
    }

    /// One form after the other.
    pub(crate) fn followed_by(&self, other: &Self) -> Self {
        let mut both = *self;
        for item in other.items().iter().take(MAX_ITEMS - self.items().len()) {
            both.items[usize::from(both.len)] = *item;
            both.len += 1;
        }
        both
    }

    /// The form with numbers of one digit as they were met, written at that distance from UTC.
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

    fn items(&self) -> &[Item] {
        &self.items[..usize::from(self.len)]
    }

    fn has(&self, is_it: impl Fn(Item) -> bool) -> bool {
        self.items().iter().any(|item| is_it(*item))
    }

    /// Whether it has a whole date.
    #[must_use]
    pub fn has_date(&self) -> bool {
        self.has(|item| matches!(item, Item::Epoch))
            || self.has(|item| matches!(item, Item::Year | Item::ShortYear))
                && self
                    .has(|item| matches!(item, Item::Month(_) | Item::ShortMonth | Item::UpperMonth | Item::LongMonth))
                && self.has(|item| matches!(item, Item::Day(_)))
    }

    /// Whether it has a time of day.
    #[must_use]
    pub fn has_clock(&self) -> bool {
        let is_half = |item| matches!(item, Item::UpperHalf | Item::LowerHalf);
        self.has(|item| matches!(item, Item::Hour(_) | Item::Epoch))
            || self.has(|item| matches!(item, Item::Hour12(_))) && self.has(is_half)
    }

    /// Whether it has both.
    #[must_use]
    pub fn is_timestamp(&self) -> bool {
        self.has_date() && self.has_clock()
    }

    /// Whether it tells the distance from UTC.
    #[must_use]
    pub fn has_zone(&self) -> bool {
        self.has(|item| matches!(item, Item::Offset | Item::ColonOffset | Item::Utc | Item::Epoch))
    }

    /// Whether it tells fractions of a second.
    fn has_fraction(&self) -> bool {
        self.has(|item| item == Item::Fraction)
    }

    /// Whether values of that type may be written so.
    pub(super) fn goes_with(&self, logical_type: LogicalType) -> bool {
        match logical_type {
            LogicalType::Date => self.has_date() && !self.has_clock(),
            LogicalType::Time { .. } => self.has_clock() && !self.has_date(),
            LogicalType::Timestamp { zone, .. } => self.has_date() && (!zone || self.has_zone()),
            _ => false,
        }
    }

    /// The type of its values, whose seconds have fractions of that unit.
    #[must_use]
    pub fn logical_type(&self, unit: TimeUnit) -> LogicalType {
        match (self.has_date(), self.has_clock()) {
            (true, false) => LogicalType::Date,
            (false, _) => LogicalType::Time { unit },
            (true, true) => LogicalType::Timestamp { unit, zone: self.has_zone() },
        }
    }

    /// Whether values in the usual form may be among those in this one, as `2024-10-05` among `2024-1-5`.
    pub(super) fn takes_usual(&self) -> bool {
        self.begins_with_iso_date() || self.begins_with_clock()
    }

    /// Whether it begins as brc writes dates.
    pub(crate) fn begins_with_iso_date(&self) -> bool {
        let dash = Item::Literal(b'-');
        matches!(self.items(), [Item::Year, first, Item::Month(_), second, Item::Day(_), ..] if [*first, *second] == [dash; 2])
    }

    /// Whether it begins as brc writes times of day.
    pub(crate) fn begins_with_clock(&self) -> bool {
        matches!(self.items(), [Item::Hour(_), Item::Literal(b':'), Item::Minute, ..])
    }

    /// The parts of a time; `None` if it is not written so, or there is no such time.
    #[must_use]
    pub fn parse(&self, text: &[u8]) -> Option<Parts> {
        let (parts, rest) = self.parse_start(text)?;
        rest.is_empty().then_some(parts)
    }

    /// The parts of the time that a text begins with, and the rest.
    pub(crate) fn parse_start<'t>(&self, text: &'t [u8]) -> Option<(Parts, &'t [u8])> {
        let mut reader = Reader::new(text);
        let items = self.items();
        for (index, item) in items.iter().enumerate() {
            let beside = [index.checked_sub(1), Some(index + 1)].map(|beside| items.get(beside?));
            reader.read(*item, beside.iter().any(|item| item.is_some_and(Item::is_digits)))?;
        }
        let rest = reader.rest;
        Some((reader.parts()?, rest))
    }

    /// Appends a time.
    pub(super) fn write(&self, parts: &Parts, out: &mut Vec<u8>) {
        let shift = if self.has_zone() { i64::from(self.offset) * 60 } else { 0 };
        let of_day = parts.seconds.unwrap_or(0) + shift;
        let days = parts.days.unwrap_or(0) + of_day.div_euclid(calendar::DAY_SECONDS);
        let seconds = of_day.rem_euclid(calendar::DAY_SECONDS);
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

fn weekday(days: i64) -> &'static str {
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
        seconds_of(self.days?, self.seconds.unwrap_or(0) - i64::from(self.offset.unwrap_or(0)) * 60)
    }

    /// Whether the year has four digits.
    pub(super) fn has_usual_year(&self) -> bool {
        // A day more or less, for the distance from UTC.
        self.days.is_none_or(|days| (-719_527..=2_932_895).contains(&days))
    }
}

/// Reads the items of a form from a text.
struct Reader<'t> {
    rest: &'t [u8],
    year: Option<i64>,
    month: Option<u32>,
    day: Option<u32>,
    weekday: Option<usize>,
    hour: Option<i64>,
    hour12: Option<i64>,
    minute: i64,
    second: i64,
    is_afternoon: Option<bool>,
    epoch: Option<i64>,
    parts: Parts,
}

impl<'t> Reader<'t> {
    fn new(rest: &'t [u8]) -> Self {
        let parts = Parts::default();
        let (minute, second) = (0, 0);
        let (year, month, day, weekday, hour, hour12, is_afternoon, epoch) =
            (None, None, None, None, None, None, None, None);
        Self { rest, year, month, day, weekday, hour, hour12, minute, second, is_afternoon, epoch, parts }
    }

    /// With `is_joined`, other digits stand beside these.
    fn read(&mut self, item: Item, is_joined: bool) -> Option<()> {
        match item {
            Item::Literal(byte) => self.rest = self.rest.strip_prefix(&[byte])?,
            Item::Year => self.year = Some(self.digits(4)?),
            Item::ShortYear => {
                let year = self.digits(2)?;
                self.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
            }
            Item::Month(pad) => self.month = Some(self.number(pad, is_joined, Padding::DATE_SHIFT)? as u32),
            Item::Day(pad) => self.day = Some(self.number(pad, is_joined, Padding::DATE_SHIFT)? as u32),
            Item::ShortMonth | Item::UpperMonth => {
                self.month = Some(self.name(&MONTHS, Some(3), item == Item::UpperMonth)? as u32 + 1);
            }
            Item::LongMonth => self.month = Some(self.name(&MONTHS, None, false)? as u32 + 1),
            Item::ShortWeekday => self.weekday = Some(self.name(&WEEKDAYS, Some(3), false)?),
            Item::LongWeekday => self.weekday = Some(self.name(&WEEKDAYS, None, false)?),
            Item::Hour(pad) => self.hour = Some(self.number(pad, is_joined, Padding::HOUR_SHIFT)?),
            Item::Hour12(pad) => self.hour12 = Some(self.number(pad, is_joined, Padding::HOUR_SHIFT)?),
            Item::Minute => self.minute = self.digits(2).filter(|minute| *minute < 60)?,
            Item::Second => self.second = self.digits(2).filter(|second| *second < 60)?,
            Item::Fraction => self.fraction()?,
            Item::UpperHalf | Item::LowerHalf => self.half(item == Item::UpperHalf)?,
            Item::Offset | Item::ColonOffset => self.offset(item == Item::ColonOffset)?,
            Item::Utc => {
                let is_utc = |zone: &&[u8; 3]| self.rest.starts_with(*zone);
                [b"UTC", b"GMT"].into_iter().find(is_utc)?;
                (self.rest, self.parts.offset) = (&self.rest[3..], Some(0));
            }
            Item::Epoch => self.epoch()?,
        }
        Some(())
    }

    /// A number of so many digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let digits = self.rest.get(..count)?;
        let number = digits
            .iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))?;
        self.rest = &self.rest[count..];
        Some(number)
    }

    /// A number of one digit or two. It has two where other digits stand beside it.
    fn number(&mut self, pad: Pad, is_joined: bool, shift: u8) -> Option<i64> {
        let digit = |at: usize| self.rest.get(at).is_some_and(u8::is_ascii_digit);
        let is_spaced = self.rest.first() == Some(&b' ') && pad != Pad::Nothing;
        let (met, skipped, digits) = match (is_spaced, digit(0), digit(1)) {
            (true, _, true) => (Some(Pad::Space), 1, 1),
            (false, true, true) => ((self.rest[0] == b'0').then_some(Pad::Zero), 0, 2),
            (false, true, false) if !is_joined => (Some(Pad::Nothing), 0, 1),
            _ => return None,
        };
        if let Some(met) = met {
            self.parts.padding.add(shift, met);
        }
        self.rest = &self.rest[skipped..];
        self.digits(digits)
    }

    /// The index of the name, or of its first letters, that comes next.
    fn name(&mut self, names: &[&str], letters: Option<usize>, is_upper: bool) -> Option<usize> {
        let starts = |name: &&str| {
            let name = &name.as_bytes()[..letters.unwrap_or(name.len())];
            self.rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let index = names.iter().position(starts)?;
        let (found, rest) = self.rest.split_at(letters.unwrap_or(names[index].len()));
        let is_written_so = |(found, own): (&u8, u8)| *found == if is_upper { own.to_ascii_uppercase() } else { own };
        self.parts.has_other_case |= !found.iter().zip(names[index].bytes()).all(is_written_so);
        self.rest = rest;
        (!self.rest.first().is_some_and(u8::is_ascii_alphabetic)).then_some(index)
    }

    fn fraction(&mut self) -> Option<()> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return None;
        }
        self.parts.nanos = self.digits(digits)? * 10i64.pow(9 - digits as u32);
        self.parts.digits = digits as u8;
        Some(())
    }

    fn half(&mut self, is_upper: bool) -> Option<()> {
        let half = self.rest.get(..2)?;
        let is = |word: &[u8]| half.eq_ignore_ascii_case(word);
        self.is_afternoon = if is(b"AM") {
            Some(false)
        } else if is(b"PM") {
            Some(true)
        } else {
            return None;
        };
        let is_written_so = |byte: &u8| byte.is_ascii_uppercase() == is_upper;
        self.parts.has_other_case |= !half.iter().all(is_written_so);
        self.rest = &self.rest[2..];
        Some(())
    }

    fn offset(&mut self, has_colon: bool) -> Option<()> {
        let sign = match self.rest.split_first()? {
            (b'+', rest) => {
                self.rest = rest;
                1
            }
            (b'-', rest) => {
                self.rest = rest;
                -1
            }
            _ => return None,
        };
        let hours = self.digits(2).filter(|hours| *hours < 24)?;
        if has_colon {
            self.rest = self.rest.strip_prefix(b":")?;
        }
        let minutes = self.digits(2).filter(|minutes| *minutes < 60)?;
        self.parts.offset = Some(sign * (hours * 60 + minutes) as i16);
        Some(())
    }

    fn epoch(&mut self) -> Option<()> {
        let sign = usize::from(self.rest.first() == Some(&b'-'));
        let digits = self.rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=12).contains(&digits) {
            return None;
        }
        self.rest = &self.rest[sign..];
        let seconds = self.digits(digits)?;
        self.epoch = Some(if sign > 0 { -seconds } else { seconds });
        Some(())
    }

    /// What was read, if there is such a time.
    fn parts(self) -> Option<Parts> {
        let Self { year, month, day, weekday: named, hour, hour12, minute, second, is_afternoon, epoch, parts, .. } =
            self;
        if let Some(epoch) = epoch {
            let (days, seconds) = (epoch.div_euclid(calendar::DAY_SECONDS), epoch.rem_euclid(calendar::DAY_SECONDS));
            return Some(Parts { days: Some(days), seconds: Some(seconds), offset: Some(0), ..parts });
        }
        let days = match (year, month, day) {
            (Some(year), Some(month), Some(day)) => Some(calendar::days_of(year, month, day)?),
            _ => None,
        };
        if let (Some(named), Some(days)) = (named, days)
            && WEEKDAYS[named] != weekday(days)
        {
            return None;
        }
        let hour = match (hour, hour12, is_afternoon) {
            (None, Some(hour @ 1..=12), Some(is_afternoon)) => Some(hour % 12 + if is_afternoon { 12 } else { 0 }),
            (None, Some(_), _) => return None,
            (Some(24..), ..) => return None,
            (hour, ..) => hour,
        };
        let seconds = hour.map(|hour| (hour * 60 + minute) * 60 + second);
        Some(Parts { days, seconds, ..parts })
    }
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

/// What stands between the terms of a form and the distance from UTC at which values are written.
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

impl TryFrom<String> for TimeForm {
    type Error = FormError;

    fn try_from(text: String) -> Result<Self, FormError> {
        text.parse()
    }
}

impl From<TimeForm> for String {
    fn from(form: TimeForm) -> Self {
        form.to_string()
    }
}
