//! `t at time zone 'Europe/Oslo'`: what the clocks of a zone show at a point in time, or the point in time at which
//! they show something.

use super::zone::{Seconds, Zone};
use super::{Bound, Function, Mismatch, constant_text, count, refuse};
use crate::functions::typed::Typed;
use crate::values::error::EvalError;
use crate::values::view::{Rows, View};
use brc_core::{Array, LogicalType, TimeUnit, Value, calendar};

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
    let from = arguments[1].logical_type;
    // The units of a value that are one of the output.
    let (unit, seconds, scale) = match from {
        LogicalType::Timestamp { unit, zone: true } => (unit, Seconds::OfUtc, 1),
        LogicalType::Timestamp { unit, zone: false } => (unit, Seconds::OfZone, 1),
        LogicalType::Date => {
            let unit = TimeUnit::Microsecond;
            (unit, Seconds::OfZone, calendar::DAY_SECONDS * unit.per_second())
        }
        _ => return refuse(1, "needs a date or a timestamp"),
    };
    let output = LogicalType::Timestamp { unit, zone: seconds == Seconds::OfZone };
    let movement = Movement { zone, seconds, per_second: unit.per_second(), scale };
    Ok(Bound::new(output, move |views, rows| {
        movement.moved(&views[1], rows, |value| {
            let value = Value::Integer(value.into()).to_text(from);
            EvalError::Value(format!(
                "{value} at time zone '{}' is out of range for {output}",
                String::from_utf8_lossy(&name)
            ))
        })
    }))
}

/// How values are moved by the distance of a zone from UTC.
struct Movement {
    zone: Zone,
    seconds: Seconds,
    /// The number of units of the output in a second.
    per_second: i64,
    /// The number of units of the output in a unit of the input.
    scale: i64,
}

impl Movement {
    fn moved(&self, view: &View<'_>, rows: &Rows<'_>, beyond: impl Fn(i64) -> EvalError) -> Result<Array, EvalError> {
        let value = |row: usize| view.narrow(row).checked_mul(self.scale);
        let second = |value: i64| value.div_euclid(self.per_second);
        let known = (0..rows.count).filter(|&row| rows.is_valid(row)).filter_map(value).map(second);
        let (low, high) = known.fold((i64::MAX, i64::MIN), |(low, high), it| (low.min(it), high.max(it)));
        let offsets = self.zone.offsets(low, high, self.seconds);
        let mut last = 0;
        rows.narrow(|row| {
            let moved = value(row).and_then(|value| {
                let offset = offsets.at(second(value), &mut last);
                let by = if self.seconds == Seconds::OfUtc { offset } else { -offset };
                value.checked_add(by * self.per_second)
            });
            moved.ok_or_else(|| beyond(view.narrow(row)))
        })
    }
}
