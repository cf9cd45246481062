//! What dates and times in the usual form require.

use super::{ALTERED, DATE, INSTANT, LONG_CLOCK, SHORT_CLOCK, Seen, TIME, TIMESTAMP};
use brc_core::{TimeUnit, calendar};

/// The number of fractional digits of a time of day.
fn digits_of(clock: &[u8]) -> usize {
    clock.iter().position(|&byte| byte == b'.').map_or(0, |point| clock.len() - point - 1)
}

/// The unit that a time of day needs, as an index, whether it would be written differently, and the nanoseconds of its
/// second; `None` if it is malformed.
fn clock_of(clock: &[u8]) -> Option<(u8, bool, i128)> {
    let digits = digits_of(clock);
    let index = TimeUnit::ALL.iter().position(|unit| unit.digits() as usize >= digits)?;
    let unit = TimeUnit::ALL[index];
    let nanos = i128::from(calendar::parse_time(clock, unit)? % unit.per_second()) * nanos_per(unit);
    let is_altered = clock.len() < 8 || unit.digits() as usize != digits;
    Some((index as u8, is_altered, nanos))
}

/// What a time of day requires.
pub(super) fn time_of(text: &[u8]) -> Option<Seen> {
    let (unit, is_altered, _) = clock_of(text)?;
    let flags = if is_altered { TIME | ALTERED } else { TIME };
    Some(Seen { flags: flags | clock_flag(text), unit, least_unit: unit, ..Seen::NOTHING })
}

/// Whether a time of day has seconds; none if it has letters, which durations do not.
pub(super) fn clock_flag(text: &[u8]) -> u32 {
    match memchr::memchr_iter(b':', text).count() {
        _ if text.iter().any(u8::is_ascii_alphabetic) => 0,
        1 => SHORT_CLOCK,
        _ => LONG_CLOCK,
    }
}

/// What a date, or a date and a time of day, requires.
pub(super) fn date_of(text: &[u8]) -> Option<Seen> {
    let days = calendar::parse_date(&text[..10])?;
    let Some((between, rest)) = text[10..].split_first() else {
        let too_short = too_short(i128::from(days * calendar::DAY_SECONDS) * nanos_per(TimeUnit::Second));
        return Some(Seen { flags: DATE, too_short, ..Seen::NOTHING });
    };
    let end = rest.iter().position(|byte| b"Zz+-".contains(byte));
    let clock = rest[..end.unwrap_or(rest.len())].trim_ascii_end();
    let (unit, is_altered, nanos) = clock_of(clock)?;
    let seconds = calendar::parse_timestamp(text, TimeUnit::Second, end.is_some()).or_else(|| {
        // The text may have more digits than the unit `Second` has.
        let whole = [&text[..11], clock.split(|&byte| byte == b'.').next()?, &rest[end.unwrap_or(rest.len())..]];
        calendar::parse_timestamp(&whole.concat(), TimeUnit::Second, end.is_some())
    })?;
    let is_altered = is_altered || *between != b' ' || end.is_some_and(|end| &rest[end..] != b"Z") || {
        end.is_some_and(|end| clock.len() < end)
    };
    let kind = if end.is_some() { INSTANT } else { TIMESTAMP };
    let flags = if is_altered { kind | ALTERED } else { kind };
    let too_short = too_short(i128::from(seconds) * nanos_per(TimeUnit::Second) + nanos);
    Some(Seen { flags, unit, least_unit: unit, too_short, ..Seen::NOTHING })
}

pub(super) fn nanos_per(unit: TimeUnit) -> i128 {
    (TimeUnit::Nanosecond.per_second() / unit.per_second()).into()
}

/// The number of units, from the finest on, in which that many nanoseconds overflow 64 bits.
pub(super) fn too_short(nanos: i128) -> u8 {
    let fits = |unit: &TimeUnit| i64::try_from(nanos.div_euclid(nanos_per(*unit))).is_ok();
    TimeUnit::ALL.iter().filter(|unit| !fits(unit)).count() as u8
}
