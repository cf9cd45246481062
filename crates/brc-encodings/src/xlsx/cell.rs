//! The cells of a sheet, with their meaning.
//!
//! A spreadsheet has only one kind of number, and a date is a number with a format: the kind of a cell follows from its
//! value.

use brc_core::TimeUnit;
use brc_core::calendar::{DAY_SECONDS, days_of, parse_date, parse_timestamp, write_date, write_time, write_timestamp};
use brc_core::value::write_float;
use calamine::{Data, ExcelDateTime};

/// Milliseconds per day.
pub(super) const DAY: i64 = DAY_SECONDS * 1000;

/// Up to here, floats represent every whole number exactly.
const MAX_WHOLE: f64 = (1i64 << 53) as f64;

/// A cell that is not empty.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Bool(bool),
    Whole(i64),
    Float(f64),
    /// A time of day, in milliseconds.
    Time(i64),
    /// A date, possibly with a time, in milliseconds since 1970.
    Moment(i64),
    Text(String),
    /// The error of a failed formula, such as `#N/A`.
    Error(String),
}

impl Cell {
    /// Converts a cell of the library; `None` if the cell is empty, or displays nothing.
    pub(super) fn of(data: Data) -> Option<Self> {
        Some(match data {
            Data::Int(value) => Self::Whole(value),
            Data::Float(value) if value == value.trunc() && value.abs() <= MAX_WHOLE => Self::Whole(value as i64),
            Data::Float(value) => Self::Float(value),
            Data::Bool(value) => Self::Bool(value),
            Data::DateTime(value) => moment(value),
            Data::DateTimeIso(text) => iso_moment(&text).map_or(Self::Text(text), Self::Moment),
            Data::DurationIso(text) => match iso_duration(&text) {
                Some(time) if time < DAY => Self::Time(time),
                Some(time) => Self::Text(duration(time)),
                None => Self::Text(text),
            },
            Data::Error(error) => Self::Error(error.to_string()),
            Data::String(text) if !text.is_empty() => Self::Text(text),
            Data::String(_) | Data::Empty => return None,
        })
    }

    /// The cell as a spreadsheet displays it by default.
    pub(super) fn to_text(&self) -> String {
        let mut text = Vec::new();
        match self {
            Self::Text(text) | Self::Error(text) => return text.clone(),
            Self::Bool(value) => return if *value { "TRUE" } else { "FALSE" }.to_owned(),
            Self::Whole(value) => return value.to_string(),
            Self::Float(value) => write_float(*value, &mut text),
            Self::Time(time) => {
                let (value, unit) = in_unit(*time);
                write_time(value, unit, &mut text);
            }
            Self::Moment(moment) if moment % DAY == 0 => write_date(moment / DAY, &mut text),
            Self::Moment(moment) => {
                let (value, unit) = in_unit(*moment);
                write_timestamp(value, unit, false, &mut text);
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Milliseconds in the coarsest unit that represents them exactly.
fn in_unit(value: i64) -> (i64, TimeUnit) {
    if value % 1000 == 0 { (value / 1000, TimeUnit::Second) } else { (value, TimeUnit::Millisecond) }
}

/// A number of days with the format of a date, a time or a duration.
fn moment(value: ExcelDateTime) -> Cell {
    let days = value.as_f64();
    let time = (days * DAY as f64).round();
    if (0.0..DAY as f64).contains(&time) {
        return Cell::Time(time as i64);
    }
    if days.is_nan() || days < 0.0 {
        return Cell::Float(days);
    }
    if value.is_duration() {
        return Cell::Text(duration(time as i64));
    }
    let (year, month, day, hour, minute, second, milli) = value.to_ymd_hms_milli();
    // Spreadsheets have a 29 February 1900.
    let date = days_of(year.into(), month.into(), day.into()).or_else(|| days_of(year.into(), month.into(), 28));
    let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    Cell::Moment(date.unwrap_or_default() * DAY + seconds * 1000 + i64::from(milli))
}

/// A date, or a date and a time such as `2024-01-31T12:00:00`, in milliseconds since 1970.
fn iso_moment(text: &str) -> Option<i64> {
    let date = || parse_date(text.as_bytes()).map(|days| days * DAY);
    parse_timestamp(text.as_bytes(), TimeUnit::Millisecond, false).or_else(date)
}

/// A duration such as `PT12H30M05.5S`, in milliseconds.
fn iso_duration(text: &str) -> Option<i64> {
    let mut rest = text.strip_prefix("PT")?;
    let mut total = 0.0;
    for (unit, seconds) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(unit) {
            total += number.parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number))? * seconds;
            rest = after;
        }
    }
    rest.is_empty().then_some((total * 1000.0).round() as i64)
}

/// A duration of more than a day, as hours, minutes and seconds.
fn duration(milliseconds: i64) -> String {
    let seconds = milliseconds / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calamine::ExcelDateTimeType::{DateTime, TimeDelta};

    fn text(data: Data) -> String {
        Cell::of(data).map_or_else(|| "NULL".to_owned(), |cell| cell.to_text())
    }

    #[test]
    fn cells_are_formatted_as_displayed() {
        for (data, expected) in [
            (Data::Float(1.0), "1"),
            (Data::Float(-0.5), "-0.5"),
            (Data::Float(1e20), "1e20"),
            (Data::Bool(true), "TRUE"),
            (Data::String(String::new()), "NULL"),
            (Data::DateTime(ExcelDateTime::new(45943.0, DateTime, false)), "2025-10-13"),
            (Data::DateTime(ExcelDateTime::new(45943.5, DateTime, false)), "2025-10-13 12:00:00"),
            (Data::DateTime(ExcelDateTime::new(0.75, DateTime, false)), "18:00:00"),
            (Data::DateTime(ExcelDateTime::new(1.0, DateTime, false)), "1900-01-01"),
            (Data::DateTime(ExcelDateTime::new(61.0, DateTime, false)), "1900-03-01"),
            (Data::DateTime(ExcelDateTime::new(1.5, TimeDelta, false)), "36:00:00"),
            (Data::DateTimeIso("2024-02-29".into()), "2024-02-29"),
            (Data::DateTimeIso("2024-02-29T01:02:03.5".into()), "2024-02-29 01:02:03.500"),
            (Data::DurationIso("PT12H30M05S".into()), "12:30:05"),
            (Data::DurationIso("PT30H00M00S".into()), "30:00:00"),
            (Data::DurationIso("P1Y".into()), "P1Y"),
        ] {
            assert_eq!(text(data.clone()), expected, "{data:?}");
        }
    }
}
