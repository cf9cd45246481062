//! Parses a text item by item.

use super::parts::{Padding, Parts};
use super::terms::{Item, Pad};
use super::time::weekday;
use brc_core::calendar::{self, MONTHS, WEEKDAYS};

/// A parser of the items of a form.
#[derive(Default)]
pub(super) struct Reader<'t> {
    pub(super) rest: &'t [u8],
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
    pub(super) parts: Parts,
}

impl<'t> Reader<'t> {
    pub(super) fn new(rest: &'t [u8]) -> Self {
        Self { rest, ..Self::default() }
    }

    /// Parses one item. `is_joined` means that the adjacent items are digits, too.
    pub(super) fn read(&mut self, item: Item, is_joined: bool) -> Option<()> {
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

    /// A number of `count` digits.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let digits = self.rest.get(..count)?;
        let number = digits
            .iter()
            .try_fold(0, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))?;
        self.rest = &self.rest[count..];
        Some(number)
    }

    /// A number of one or two digits; of two if adjacent items are digits.
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

    /// The index of the name, or of its first letters, at the start of the rest.
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

    pub(super) fn offset(&mut self, has_colon: bool) -> Option<()> {
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

    /// The parsed parts; `None` if there is no such time.
    pub(super) fn parts(self) -> Option<Parts> {
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
            (Some(hour), _, Some(is_afternoon)) if (hour >= 12) != is_afternoon => return None,
            (hour, ..) => hour,
        };
        let seconds = hour.map(|hour| (hour * 60 + minute) * 60 + second);
        Some(Parts { days, seconds, ..parts })
    }
}
