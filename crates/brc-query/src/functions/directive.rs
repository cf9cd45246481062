//! The directives of `strftime`, such as `%Y`: parts of a point in time as text.

use super::extract::{day_of_year, week};
use super::temporal::iso_weekday;
use brc_core::calendar::{self, MONTHS, WEEKDAYS};

/// A format as it is written.
#[derive(Debug, Default)]
pub(super) struct Format {
    pieces: Vec<Piece>,
    /// Whether nothing in it depends on the time of the day.
    pub(super) of_days: bool,
}

enum Piece {
    Text(Vec<u8>),
    Directive(Write),
}

/// Appends a part of a point in time.
type Write = fn(&Moment, &mut Vec<u8>);

/// A point in time, taken apart.
pub(super) struct Moment {
    days: i64,
    year: i64,
    month: u32,
    day: u32,
    nanoseconds: i64,
    zone: bool,
}

/// Directives that are abbreviations of others.
const ABBREVIATIONS: [(u8, &[u8]); 3] = [(b'c', b"%Y-%m-%d %H:%M:%S"), (b'x', b"%Y-%m-%d"), (b'X', b"%H:%M:%S")];

/// All directives, for messages.
pub(super) const ALL: &str = "%Y %y %G (years), %q (quarter), %m %b %B (months), %d %j (days), %a %A %u %w (weekdays), \
                              %U %V %W (weeks), %H %I %p %M %S %f %g %n (times), %z %Z (zone), %c %x %X, %%, and - as in %-d for no leading zero";

/// This many nanoseconds are a second.
const SECOND: i64 = 1_000_000_000;

impl Format {
    /// Parses a format; `None` if it has an unknown directive.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut format = Self { pieces: Vec::new(), of_days: true };
        let mut rest = text;
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            if first != b'%' {
                match format.pieces.last_mut() {
                    Some(Piece::Text(text)) => text.push(first),
                    _ => format.pieces.push(Piece::Text(vec![first])),
                }
                continue;
            }
            let (&symbol, after) = rest.split_first()?;
            rest = after;
            if let Some((_, long)) = ABBREVIATIONS.iter().find(|(short, _)| *short == symbol) {
                let long = Self::parse(long)?;
                format.pieces.extend(long.pieces);
                format.of_days &= long.of_days;
                continue;
            }
            let (write, symbol) = match symbol {
                b'-' => {
                    let (&symbol, after) = rest.split_first()?;
                    rest = after;
                    (unpadded(symbol)?, symbol)
                }
                _ => (padded(symbol)?, symbol),
            };
            format.pieces.push(Piece::Directive(write));
            format.of_days &= !b"HIpMSfgn".contains(&symbol);
        }
        Some(format)
    }

    pub(super) fn write(&self, moment: &Moment, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text),
                Piece::Directive(write) => write(moment, out),
            }
        }
    }
}

impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&String::from_utf8_lossy(text)),
            Self::Directive(_) => f.write_str("%"),
        }
    }
}

impl Moment {
    /// Some nanoseconds after the start of a day.
    pub(super) fn new(days: i64, nanoseconds: i64, zone: bool) -> Self {
        let (year, month, day) = calendar::date_of(days);
        Self { days, year, month, day, nanoseconds, zone }
    }

    fn seconds(&self) -> i64 {
        self.nanoseconds / SECOND
    }

    fn hour(&self) -> i64 {
        self.seconds() / 3600
    }

    /// The hour of a clock with twelve of them.
    fn hour_of_12(&self) -> i64 {
        (self.hour() + 11) % 12 + 1
    }

    fn minute(&self) -> i64 {
        self.seconds() / 60 % 60
    }

    fn month_name(&self) -> &'static str {
        MONTHS[self.month as usize - 1]
    }

    fn weekday_name(&self) -> &'static str {
        WEEKDAYS[iso_weekday(self.days) as usize - 1]
    }

    /// The days of the year before this one, and those since the last day of the week that is `first`, 1 to 7.
    fn weeks_from(&self, first: i64) -> i64 {
        let since = (iso_weekday(self.days) - first).rem_euclid(7);
        (day_of_year(self.days) - 1 + 7 - since) / 7
    }

    /// The year that the ISO week belongs to: that of its Thursday.
    fn iso_year(&self) -> i64 {
        calendar::date_of(self.days - iso_weekday(self.days) + 4).0
    }
}

fn padded(symbol: u8) -> Option<Write> {
    Some(match symbol {
        b'%' => |_, out| out.push(b'%'),
        b'a' => |moment, out| out.extend_from_slice(&moment.weekday_name().as_bytes()[..3]),
        b'A' => |moment, out| out.extend_from_slice(moment.weekday_name().as_bytes()),
        b'w' => |moment, out| number(iso_weekday(moment.days) % 7, 1, out),
        b'u' => |moment, out| number(iso_weekday(moment.days), 1, out),
        b'd' => |moment, out| number(moment.day.into(), 2, out),
        b'b' | b'h' => |moment, out| out.extend_from_slice(&moment.month_name().as_bytes()[..3]),
        b'B' => |moment, out| out.extend_from_slice(moment.month_name().as_bytes()),
        b'q' => |moment, out| number(i64::from(moment.month.div_ceil(3)), 1, out),
        b'm' => |moment, out| number(moment.month.into(), 2, out),
        b'y' => |moment, out| number(moment.year.abs() % 100, 2, out),
        b'Y' => |moment, out| year(moment.year, out),
        b'G' => |moment, out| year(moment.iso_year(), out),
        b'H' => |moment, out| number(moment.hour(), 2, out),
        b'I' => |moment, out| number(moment.hour_of_12(), 2, out),
        b'p' => |moment, out| out.extend_from_slice(if moment.hour() < 12 { b"AM" } else { b"PM" }),
        b'M' => |moment, out| number(moment.minute(), 2, out),
        b'S' => |moment, out| number(moment.seconds() % 60, 2, out),
        b'f' => |moment, out| number(moment.nanoseconds % SECOND / 1_000, 6, out),
        b'g' => |moment, out| number(moment.nanoseconds % SECOND / 1_000_000, 3, out),
        b'n' => |moment, out| number(moment.nanoseconds % SECOND, 9, out),
        b'z' => |_, out| out.extend_from_slice(b"+00"),
        b'Z' => |moment, out| out.extend_from_slice(if moment.zone { b"UTC" } else { b"" }),
        b'j' => |moment, out| number(day_of_year(moment.days), 3, out),
        b'U' => |moment, out| number(moment.weeks_from(7), 2, out),
        b'W' => |moment, out| number(moment.weeks_from(1), 2, out),
        b'V' => |moment, out| number(week(moment.days), 2, out),
        _ => return None,
    })
}

/// The same without zeros before the number.
fn unpadded(symbol: u8) -> Option<Write> {
    Some(match symbol {
        b'd' => |moment, out| number(moment.day.into(), 1, out),
        b'm' => |moment, out| number(moment.month.into(), 1, out),
        b'y' => |moment, out| number(moment.year.abs() % 100, 1, out),
        b'H' => |moment, out| number(moment.hour(), 1, out),
        b'I' => |moment, out| number(moment.hour_of_12(), 1, out),
        b'M' => |moment, out| number(moment.minute(), 1, out),
        b'S' => |moment, out| number(moment.seconds() % 60, 1, out),
        b'j' => |moment, out| number(day_of_year(moment.days), 1, out),
        _ => return None,
    })
}

fn year(year: i64, out: &mut Vec<u8>) {
    if year < 0 {
        out.push(b'-');
    }
    number(year.abs(), if year < 0 { 1 } else { 4 }, out);
}

/// Appends a number that is not below zero with at least this many digits.
fn number(value: i64, digits: u32, out: &mut Vec<u8>) {
    let digits = digits.max(value.max(1).ilog10() + 1);
    out.extend((0..digits).rev().map(|place| b'0' + (value / 10i64.pow(place) % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: &str, date: &str, nanoseconds: i64, zone: bool) -> String {
        let days = calendar::parse_date(date.as_bytes()).unwrap();
        let mut out = Vec::new();
        Format::parse(format.as_bytes()).unwrap().write(&Moment::new(days, nanoseconds, zone), &mut out);
        String::from_utf8(out).unwrap()
    }

    /// What DuckDB writes.
    #[test]
    fn directives() {
        let time = ((3 * 60 + 4) * 60 + 5) * SECOND + 678_901_234;
        for (format, expected) in [
            ("%a %A %w %u", "Fri Friday 5 5"),
            ("%d %-d %b %h %B %m %-m %y %-y %Y %G", "09 9 Feb Feb February 02 2 24 24 2024 2024"),
            ("%H %-H %I %-I %p %M %-M %S %-S", "03 3 03 3 AM 04 4 05 5"),
            ("%f %g %n %z%Z", "678901 678 678901234 +00"),
            ("%j %-j %U %W %V", "040 40 05 06 06"),
            ("%c|%x|%X|%%é", "2024-02-09 03:04:05|2024-02-09|03:04:05|%é"),
            ("", ""),
        ] {
            assert_eq!(text(format, "2024-02-09", time, false), expected, "{format}");
        }
        assert_eq!(text("%z%Z", "2024-02-09", 0, true), "+00UTC");
        for (hour, expected) in [(0, "12 AM"), (11, "11 AM"), (12, "12 PM"), (13, "1 PM"), (23, "11 PM")] {
            assert_eq!(text("%-I %p", "2024-02-09", hour * 3600 * SECOND, false), expected);
        }
        for (date, expected) in [
            ("2021-01-03", "01 00 53 2020 7 0"),
            ("2023-01-01", "01 00 52 2022 7 0"),
            ("2024-12-30", "52 53 01 2025 1 1"),
        ] {
            assert_eq!(text("%U %W %V %G %u %w", date, 0, false), expected, "{date}");
        }
        assert_eq!(text("%Y %y", "0099-01-09", 0, false), "0099 99");
        assert_eq!(text("%Y %y", "-0012-01-09", 0, false), "-12 12");
        assert_eq!(text("%Y", "+12000-01-01", 0, false), "12000");
    }

    #[test]
    fn what_is_no_directive_is_refused() {
        for format in ["%", "a%", "%E", "%-", "%-Y", "%s", "%é"] {
            assert!(Format::parse(format.as_bytes()).is_none(), "{format}");
        }
    }

    #[test]
    fn times_of_the_day_are_found_out() {
        for (format, of_days) in
            [("%Y-%m-%d", true), ("%x", true), ("%c", false), ("%H", false), ("%-M", false), ("H", true)]
        {
            assert_eq!(Format::parse(format.as_bytes()).unwrap().of_days, of_days, "{format}");
        }
    }
}
