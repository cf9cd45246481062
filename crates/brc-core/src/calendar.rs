//! Conversion of dates and times of day between text and integers.
//!
//! Dates use the proleptic Gregorian calendar of ISO 8601. Leap seconds are not supported, as in system clocks.

use crate::logical_type::TimeUnit;

/// Seconds per day.
pub const DAY_SECONDS: i64 = 86_400;

/// The English month names, January first.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The English weekday names, Monday first.
pub const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The number of days from 1970-01-01 to a date; `None` if the date does not exist.
#[must_use]
#[inline]
pub fn days_of(year: i64, month: u32, day: u32) -> Option<i64> {
    // The calendar repeats every 400 years; this offset makes every year positive.
    const LATER: i64 = 400 << 32;
    if !((1..=12).contains(&month) && year.abs() < 1 << 40 && day.wrapping_sub(1) < days_in(year, month)) {
        return None;
    }
    // Years start in March, so that the leap day is the last day of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let years = (year + LATER) as u64;
    let centuries = years / 100;
    let leap_days = years / 4 - centuries + centuries / 4;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some((365 * years + leap_days) as i64 + i64::from(day_of_year) - 719_468 - (LATER / 400 * 146_097))
}

/// The year, month and day of a number of days since 1970-01-01.
#[must_use]
pub fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// The number of days of a month, 1 to 12.
#[inline]
fn days_in(year: i64, month: u32) -> u32 {
    let leap = || year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    // Odd months up to July have 31 days, then even ones.
    if month == 2 { 28 + u32::from(leap()) } else { 30 + ((month ^ month >> 3) & 1) }
}

/// Parses `2024-02-29` to days since 1970-01-01. The year has four digits, or a sign and up to twelve.
#[must_use]
pub fn parse_date(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text.first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let year_digits = rest.iter().position(|&byte| byte == b'-')?;
    let signed = rest.len() < text.len();
    if !(year_digits == 4 || (signed && (5..=12).contains(&year_digits))) || rest.len() != year_digits + 6 {
        return None;
    }
    let (year, rest) = rest.split_at(year_digits);
    let [b'-', month @ .., b'-', _, _] = rest else { return None };
    days_of(sign * number(year)?, number(month)? as u32, number(&rest[4..])? as u32)
}

/// Appends a date as `2024-02-29`; years outside 0 to 9999 have a sign.
pub fn write_date(days: i64, out: &mut Vec<u8>) {
    let (year, month, day) = date_of(days);
    if (0..=9999).contains(&year) {
        digits(year as u64, 4, out);
    } else {
        out.push(if year < 0 { b'-' } else { b'+' });
        digits(year.unsigned_abs(), 5.max(year.unsigned_abs().max(1).ilog10() + 1), out);
    }
    out.push(b'-');
    digits(month.into(), 2, out);
    out.push(b'-');
    digits(day.into(), 2, out);
}

/// Parses `23:59`, `23:59:59` or `23:59:59.999` to units since midnight. `None` if the fraction has nonzero digits
/// beyond the unit.
#[must_use]
pub fn parse_time(text: &[u8], unit: TimeUnit) -> Option<i64> {
    let (clock, fraction) = match text.iter().position(|&byte| byte == b'.') {
        Some(point) => (&text[..point], Some(&text[point + 1..])),
        None => (text, None),
    };
    let (hour, minute, second) = match *clock {
        [h, i, b':', m, n] if fraction.is_none() => ([h, i], [m, n], [b'0'; 2]),
        [h, i, b':', m, n, b':', s, t] => ([h, i], [m, n], [s, t]),
        _ => return None,
    };
    let [hour, minute, second] = [number(&hour)?, number(&minute)?, number(&second)?];
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = match fraction {
        Some(fraction) => parse_fraction(fraction, unit)?,
        None => 0,
    };
    Some(((hour * 60 + minute) * 60 + second) * unit.per_second() + fraction)
}

fn parse_fraction(text: &[u8], unit: TimeUnit) -> Option<i64> {
    let kept = text.len().min(unit.digits() as usize);
    if text.is_empty() || text.len() > 18 || !text[kept..].iter().all(|&byte| byte == b'0') {
        return None;
    }
    let value = if kept == 0 { 0 } else { number(&text[..kept])? };
    Some(value * 10i64.pow(unit.digits() - kept as u32))
}

/// Appends a time of day with all fractional digits of the unit.
pub fn write_time(value: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let (seconds, fraction) = (value.div_euclid(unit.per_second()), value.rem_euclid(unit.per_second()));
    for (index, part) in [seconds / 3600, seconds / 60 % 60, seconds % 60].into_iter().enumerate() {
        if index > 0 {
            out.push(b':');
        }
        digits(part.unsigned_abs(), 2, out);
    }
    if unit.digits() > 0 {
        out.push(b'.');
        digits(fraction.unsigned_abs(), unit.digits(), out);
    }
}

/// Parses a date, or a date and a time separated by a space or `T`. With `zone`, a UTC offset must follow the time
/// (`Z`, `+02`, `+02:00`, `+0200`); without, nothing may follow.
///
/// `None` if the result does not fit 64 bits, or the fraction has nonzero digits beyond the unit.
#[must_use]
pub fn parse_timestamp(text: &[u8], unit: TimeUnit, zone: bool) -> Option<i64> {
    i64::try_from(parse_wide_timestamp(text, unit, zone)?).ok()
}

/// Like [`parse_timestamp`], without the limit of 64 bits.
#[must_use]
pub fn parse_wide_timestamp(text: &[u8], unit: TimeUnit, zone: bool) -> Option<i128> {
    let end_of_date = text.iter().position(|byte| b"T t".contains(byte)).unwrap_or(text.len());
    let days = parse_date(&text[..end_of_date])?;
    let time = text.get(end_of_date + 1..);
    let (time, offset) = match time {
        None if zone || end_of_date < text.len() => return None,
        None => (0, 0),
        Some(time) if zone => {
            let end = time.iter().position(|byte| b"Zz+-".contains(byte))?;
            (parse_time(time[..end].trim_ascii_end(), unit)?, parse_offset(&time[end..])?)
        }
        Some(time) => (parse_time(time, unit)?, 0),
    };
    // In 128 bits, because the midnight before the smallest 64-bit timestamp does not fit 64 bits.
    let seconds = i128::from(days) * i128::from(DAY_SECONDS) - i128::from(offset);
    Some(seconds * i128::from(unit.per_second()) + i128::from(time))
}

/// Parses a UTC offset to seconds.
fn parse_offset(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text {
        [b'Z' | b'z'] => return Some(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match *digits {
        [h, i] => ([h, i], [b'0'; 2]),
        [h, i, m, n] | [h, i, b':', m, n] => ([h, i], [m, n]),
        _ => return None,
    };
    let (hours, minutes) = (number(&hours)?, number(&minutes)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Appends a date and a time with all fractional digits of the unit; with `zone`, followed by `Z`.
pub fn write_timestamp(value: i64, unit: TimeUnit, zone: bool, out: &mut Vec<u8>) {
    let day = DAY_SECONDS * unit.per_second();
    write_date(value.div_euclid(day), out);
    out.push(b' ');
    write_time(value.rem_euclid(day), unit, out);
    if zone {
        out.push(b'Z');
    }
}

/// Parses 1 to 18 digits.
fn number(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0')))
}

/// Appends a number, zero-padded to at least `least` digits.
fn digits(value: u64, least: u32, out: &mut Vec<u8>) {
    for exponent in (0..least.max(value.max(1).ilog10() + 1)).rev() {
        out.push(b'0' + (value / 10u64.pow(exponent) % 10) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn known_days() {
        for (written, days) in [
            ("1970-01-01", 0),
            ("1969-12-31", -1),
            ("2000-02-29", 11_016),
            ("1900-03-01", -25_508),
            ("0000-01-01", -719_528),
            ("9999-12-31", 2_932_896),
            ("-0001-12-31", -719_529),
            ("+10000-01-01", 2_932_897),
        ] {
            assert_eq!(parse_date(written.as_bytes()), Some(days), "{written}");
        }
        assert_eq!(text(|out| write_date(2_932_897, out)), "+10000-01-01");
        assert_eq!(text(|out| write_date(-719_529, out)), "-00001-12-31");
    }

    #[test]
    fn malformed_dates_and_times_are_refused() {
        for text in ["", "2024-02-30", "1900-02-29", "2024-13-01", "2024-1-01", "24-01-01", "2024-01-01 ", "2024/01/01"]
        {
            assert_eq!(parse_date(text.as_bytes()), None, "{text}");
        }
        for text in
            ["", "24:00:00", "1:00", "00:60", "00:00:60", "00:00:00.", "00:00:00.1x", "00:00.5", "00:00:00.0001"]
        {
            assert_eq!(parse_time(text.as_bytes(), TimeUnit::Millisecond), None, "{text}");
        }
        for text in ["2024-01-01T", "2024-01-01 00:00Z", "2024-01-01 00:00+01", "2024-01-01_00:00", "9999999-01-01"] {
            assert_eq!(parse_timestamp(text.as_bytes(), TimeUnit::Nanosecond, false), None, "{text}");
        }
        for text in ["2024-01-01 00:00", "2024-01-01", "2024-01-01 00:00+1", "2024-01-01 00:00+24", "2024-01-01 Z"] {
            assert_eq!(parse_timestamp(text.as_bytes(), TimeUnit::Second, true), None, "{text}");
        }
    }

    #[test]
    fn times_have_the_digits_of_their_unit() {
        let unit = TimeUnit::Millisecond;
        assert_eq!(parse_time(b"01:02:03.5", unit), Some(3_723_500));
        assert_eq!(parse_time(b"01:02:03.500000", unit), Some(3_723_500));
        assert_eq!(text(|out| write_time(3_723_500, unit, out)), "01:02:03.500");
        for text in ["2024-03-01 01:30:00Z05", "2024-03-01 01:30:00Z05:00", "2024-03-01 01:30:00z0500"] {
            assert_eq!(parse_timestamp(text.as_bytes(), TimeUnit::Second, true), None, "{text}");
        }
        let instant = parse_timestamp(b"2024-03-01T01:30:00+02:00", TimeUnit::Second, true).unwrap();
        assert_eq!(text(|out| write_timestamp(instant, TimeUnit::Second, true, out)), "2024-02-29 23:30:00Z");
        assert_eq!(parse_timestamp(b"1970-01-02", TimeUnit::Second, false), Some(86_400));
    }

    proptest! {
        #[test]
        fn timestamps_of_all_64_bits_round_trip(value: i64, zone: bool) {
            for unit in TimeUnit::ALL {
                for value in [value, i64::MIN, i64::MAX] {
                    let written = text(|out| write_timestamp(value, unit, zone, out));
                    prop_assert_eq!(parse_timestamp(written.as_bytes(), unit, zone), Some(value), "{}", written);
                }
            }
        }

        #[test]
        fn dates_round_trip(days: i32) {
            let days = i64::from(days);
            let (year, month, day) = date_of(days);
            prop_assert_eq!(days_of(year, month, day), Some(days));
            prop_assert_eq!(parse_date(text(|out| write_date(days, out)).as_bytes()), Some(days));
        }

        #[test]
        fn days_follow_each_other(days in -1_000_000i64..4_000_000) {
            let ((year, month, day), next) = (date_of(days), date_of(days + 1));
            let of_month = days_in(year, month);
            let expected = match (day == of_month, month == 12) {
                (false, _) => (year, month, day + 1),
                (true, false) => (year, month + 1, 1),
                (true, true) => (year + 1, 1, 1),
            };
            prop_assert_eq!(next, expected);
        }

        #[test]
        fn timestamps_round_trip(value: i64, unit in prop::sample::select(TimeUnit::ALL.to_vec()), zone: bool) {
            // Timestamps in seconds may have years with more digits than the parser accepts.
            let value = if unit == TimeUnit::Second { value >> 12 } else { value };
            let written = text(|out| write_timestamp(value, unit, zone, out));
            prop_assert_eq!(parse_timestamp(written.as_bytes(), unit, zone), Some(value), "{}", written);
        }
    }
}
