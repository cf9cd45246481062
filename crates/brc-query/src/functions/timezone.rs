//! `t at time zone 'Europe/Oslo'`: what the clocks of a zone show at a point in time, or the point in time at which
//! they show something.

use super::zone::{Seconds, Zone};
use super::{Bound, Function, Mismatch, constant_text, count, refuse};
use crate::functions::typed::Typed;
use crate::values::fault::Fault;
use crate::values::vector::{Rows, Vector, View};
use brc_core::{LogicalType, TimeUnit, calendar};

/// Its arguments are the name of a zone and a date or a timestamp.
pub(super) static TIMEZONE: Function = Function {
    name: "timezone",
    aliases: &[],
    usage: "t at time zone 'Europe/Oslo'",
    about: "the local time of a timestamp with zone, or the point in time of a local one; also timezone(zone, t)",
    example: ("timestamp '2024-07-01 12:00:00Z' at time zone 'Europe/Oslo'", "2024-07-01 14:00:00.000000"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, TIMEZONE.usage)?;
    let name = constant_text(arguments, 0)?;
    let Some(zone) = std::str::from_utf8(&name).ok().and_then(Zone::named) else {
        return refuse(0, "needs a time zone of the IANA database, such as 'Europe/Oslo' or 'UTC'");
    };
    // The units of a value that are one of the output.
    let (unit, seconds, scale) = match arguments[1].logical_type {
        LogicalType::Timestamp { unit, zone: true } => (unit, Seconds::OfUtc, 1),
        LogicalType::Timestamp { unit, zone: false } => (unit, Seconds::OfZone, 1),
        LogicalType::Date => {
            let unit = TimeUnit::Microsecond;
            (unit, Seconds::OfZone, calendar::DAY_SECONDS * unit.per_second())
        }
        _ => return refuse(1, "needs a date or a timestamp"),
    };
    let output = LogicalType::Timestamp { unit, zone: seconds == Seconds::OfZone };
    Ok(Bound::new(output, move |views, rows| moved(&zone, unit, seconds, scale, &views[1], rows)))
}

/// Values, this many of whose units are one, moved by the distance of the zone from UTC.
fn moved(
    zone: &Zone,
    unit: TimeUnit,
    seconds: Seconds,
    scale: i64,
    view: &View<'_>,
    rows: &Rows<'_>,
) -> Result<Vector, Fault> {
    let fault = || Fault::Value("'at time zone' needs a year from -9999 to 9999".to_owned());
    let value = |row: usize| view.narrow(row).checked_mul(scale);
    let second = |row: usize| value(row).map(|value| value.div_euclid(unit.per_second()));
    let valid = || (0..rows.count).filter(|&row| rows.is_valid(row));
    let bounds = valid().try_fold((i64::MAX, i64::MIN), |(low, high), row| {
        let second = second(row)?;
        Some((low.min(second), high.max(second)))
    });
    let offsets = match bounds {
        Some((low, high)) if low > high => None,
        Some((low, high)) => Some(zone.offsets(low, high, seconds).ok_or_else(fault)?),
        None => return Err(fault()),
    };
    let mut last = 0;
    rows.narrow(|row| {
        let offset = match (&offsets, second(row)) {
            (Some(offsets), Some(second)) => offsets.at(second, &mut last),
            _ => 0,
        };
        let by = if seconds == Seconds::OfUtc { offset } else { -offset };
        value(row).and_then(|value| value.checked_add(by * unit.per_second())).ok_or_else(fault)
    })
}
