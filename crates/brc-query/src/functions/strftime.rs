//! `strftime(t, format)`: a date or a timestamp as text.

use super::directive::{self, Format, Moment};
use super::temporal::Clock;
use super::{Bound, Function, Mismatch, constant_text, count, refuse};
use crate::functions::typed::Typed;
use crate::values::view::{Rows, View};
use brc_core::{Array, LogicalType, calendar};

pub(super) static STRFTIME: Function = Function {
    name: "strftime",
    aliases: &[],
    usage: "strftime(t, format)",
    about: "a date or timestamp as text: %Y-%m-%d %H:%M:%S, %b (month), %a (weekday), %j, %V and others, as in DuckDB",
    example: ("strftime(date '2024-02-29', '%d %b %Y')", "29 Feb 2024"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    bind_with(arguments, STRFTIME.usage, format_of)
}

/// A format as DuckDB has it, which is that of C but for a few directives.
///
/// # Errors
/// What is needed instead.
pub(super) fn format_of(text: &[u8]) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| format!("needs a format of text and {}", directive::ALL))
}

/// Binds a function of a point in time and a text that `parse` makes a format of.
pub(super) fn bind_with(
    arguments: &[Typed],
    usage: &str,
    parse: impl FnOnce(&[u8]) -> Result<Format, String>,
) -> Result<Bound, Mismatch> {
    count(arguments, 2..=2, usage)?;
    // SQLite has the format first.
    let index = usize::from(Clock::of(arguments, 0).is_err() && Clock::of(arguments, 1).is_ok());
    let clock = Clock::of(arguments, index)?;
    if !clock.has_date {
        return refuse(index, "needs a date or a timestamp");
    }
    let format = match parse(&constant_text(arguments, 1 - index)?) {
        Ok(format) => format,
        Err(needed) => return refuse(1 - index, needed),
    };
    let zone = matches!(arguments[index].logical_type, LogicalType::Timestamp { zone: true, .. });
    Ok(Bound::new(LogicalType::String, move |views, rows| written(&format, clock, zone, &views[index], rows)))
}

fn written(
    format: &Format,
    clock: Clock,
    zone: bool,
    view: &View<'_>,
    rows: &Rows<'_>,
) -> Result<Array, crate::values::error::EvalError> {
    let nanoseconds = calendar::DAY_SECONDS * 1_000_000_000 / clock.per_day;
    // Neighbours are often of the same day.
    let (mut last, mut text) = (None, Vec::new());
    rows.strings(|row, out| {
        let (days, units) = clock.split(view.narrow(row));
        let units = if format.of_days { 0 } else { units };
        if last != Some((days, units)) {
            text.clear();
            format.write(&Moment::new(days, units * nanoseconds, zone), &mut text);
            last = Some((days, units));
        }
        out.extend_from_slice(&text);
    })
}
