//! Intervals as they are written: `1 year 2 months`, `90 days`, `1.5 hours`, `3 days 04:05:06`.

use super::Literal;

/// The units, for messages.
pub(super) const UNITS: &str = "year, quarter, month, week, day, hour, minute, second, millisecond, microsecond";

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// What one of a unit is.
enum Unit {
    Months(i64),
    Days(i64),
    Micros(i64),
}

impl Unit {
    fn of(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let name = name.strip_suffix('s').filter(|singular| singular.len() > 1).unwrap_or(&name);
        Some(match name {
            "year" | "yr" => Self::Months(12),
            "quarter" => Self::Months(3),
            "month" | "mon" => Self::Months(1),
            "week" => Self::Days(7),
            "day" => Self::Days(1),
            "hour" | "hr" => Self::Micros(3600 * MICROS_PER_SECOND),
            "minute" | "min" => Self::Micros(60 * MICROS_PER_SECOND),
            "second" | "sec" => Self::Micros(MICROS_PER_SECOND),
            "millisecond" | "msec" | "ms" => Self::Micros(1000),
            "microsecond" | "usec" | "us" => Self::Micros(1),
            _ => return None,
        })
    }
}

#[derive(Default)]
struct Sum {
    months: i64,
    days: i64,
    microseconds: i64,
}

impl Sum {
    /// Adds some of a unit; `None` if they are too many or the part of a unit is not whole.
    fn add(&mut self, count: Count, unit: &Unit) -> Option<()> {
        match *unit {
            Unit::Months(months) => self.months = self.months.checked_add(count.of(months)?)?,
            Unit::Days(one) => match count.of(one) {
                Some(days) => self.days = self.days.checked_add(days)?,
                None => return self.add(count, &Unit::Micros(one.checked_mul(MICROS_PER_DAY)?)),
            },
            Unit::Micros(micros) => self.microseconds = self.microseconds.checked_add(count.of(micros)?)?,
        }
        Some(())
    }
}

/// A decimal number: `units / 10^decimals`.
#[derive(Clone, Copy)]
struct Count {
    units: i64,
    decimals: u32,
}

impl Count {
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
        let units = format!("{whole}{fraction}").parse().ok().filter(|_| is_digits)?;
        Some(Self { units, decimals: fraction.len() as u32 })
    }

    /// So many times `one`, if that is whole.
    fn of(self, one: i64) -> Option<i64> {
        let product = i128::from(self.units) * i128::from(one);
        let divisor = 10i128.checked_pow(self.decimals)?;
        (product % divisor == 0).then(|| i64::try_from(product / divisor).ok())?
    }
}

/// The interval that a text denotes. The error is the unknown unit, if that is what is wrong.
pub(super) fn parse(text: &str) -> Result<Literal, Option<String>> {
    let is_word = |word: &&str| word.starts_with(char::is_alphabetic);
    let mut sum = Sum::default();
    if text.trim().is_empty() {
        return Err(None);
    }
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            sum.microseconds = clock(word).and_then(|clock| sum.microseconds.checked_add(clock)).ok_or(None)?;
            continue;
        }
        // The unit may follow without a blank.
        let end = word.find(|character: char| character.is_alphabetic()).unwrap_or(word.len());
        let (count, unit) = word.split_at(end);
        let count = Count::parse(count).ok_or(None)?;
        let unit = if unit.is_empty() { words.next().filter(is_word).ok_or(None)? } else { unit };
        let known = Unit::of(unit).ok_or_else(|| Some(unit.to_lowercase()))?;
        sum.add(count, &known).ok_or(None)?;
    }
    let Sum { months, days, microseconds } = sum;
    Ok(Literal::Interval { months, days, microseconds })
}

/// The microseconds of `04:05`, `04:05:06` or `-04:05:06.5`.
fn clock(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let mut parts = text.split(':');
    let is_number = |part: &&str| part.starts_with(|first: char| first.is_ascii_digit());
    let mut part = |unit: i64| Count::parse(parts.next().filter(is_number)?)?.of(unit);
    let hours_and_minutes = part(3600 * MICROS_PER_SECOND)?.checked_add(part(60 * MICROS_PER_SECOND)?)?;
    let seconds = match parts.next() {
        Some(seconds) => Count::parse(Some(seconds).filter(is_number)?)?.of(MICROS_PER_SECOND)?,
        None => 0,
    };
    parts.next().is_none().then_some(sign * hours_and_minutes.checked_add(seconds)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_sums_of_parts() {
        for (text, expected) in [
            ("90 days", (0, 90, 0)),
            ("1 MONTH 2 days", (1, 2, 0)),
            ("-1 year 2 mons", (-10, 0, 0)),
            ("1 year 2 months 3 days 04:05:06", (14, 3, 14_706_000_000)),
            ("1.5 days", (0, 0, 129_600_000_000)),
            ("0.5 week", (0, 0, 302_400_000_000)),
            ("1.5 years", (18, 0, 0)),
            ("2 ms 5 microseconds 1 us", (0, 0, 2006)),
            ("2min 0.25sec", (0, 0, 120_250_000)),
            ("-00:30", (0, 0, -1_800_000_000)),
        ] {
            let (months, days, microseconds) = expected;
            assert_eq!(parse(text), Ok(Literal::Interval { months, days, microseconds }), "{text}");
        }
        assert_eq!(parse("3 fortnights"), Err(Some("fortnights".to_owned())));
        for text in ["", "days", "1", "1 2 days", "x days", "1.5 months", "9223372036854775807 weeks", "1:2:3:4"] {
            assert_eq!(parse(text), Err(None), "{text}");
        }
    }
}
