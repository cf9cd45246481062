//! `year(t)`, `hour(t)` …: the commonest parts of a date or time, which [`extract`] has all of.

use super::{Function, count, extract};

macro_rules! parts {
    ($($part:ident, $name:literal, $about:literal, $example:expr;)*) => {
        $(pub(super) static $part: Function = Function {
            name: $name,
            aliases: &[],
            usage: concat!($name, "(t)"),
            about: $about,
            example: $example,
            bind: |arguments| {
                count(arguments, 1..=1, $part.usage)?;
                extract::of(arguments, 0, extract::$part)
            },
        };)*
    };
}

parts! {
    YEAR, "year", "the year of a date or timestamp", ("year(date '2024-02-29')", "2024");
    MONTH, "month", "the month of a date or timestamp, 1 to 12", ("month(date '2024-02-29')", "2");
    DAY, "day", "the day of the month of a date or timestamp", ("day(date '2024-02-29')", "29");
    HOUR, "hour", "the hour of a time or timestamp, 0 to 23", ("hour(timestamp '2024-02-29 12:34:56')", "12");
    MINUTE, "minute", "the minute of a time or timestamp, 0 to 59", ("minute(timestamp '2024-02-29 12:34:56')", "34");
    SECOND, "second", "the second of a time or timestamp, 0 to 59", ("second(time '12:34:56')", "56");
}
