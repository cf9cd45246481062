//! `cast(x as type)`, `try_cast(x as type)`: a value in another type. Exact numbers are rounded half away from zero;
//! what does not fit is an error, or null. An integer is cast to a date as the days since 1970-01-01,
//! for the years 1 to 9999, and to a timestamp as so many of its units.

use super::rounding::Exact;
use super::{Bound, Kernel, exact};
use crate::values::error::EvalError;
use crate::values::number::Number as Decimal;
use crate::values::view::{Rows, View, ViewData};
use brc_core::{Array, ArrayData, LogicalType, TimeUnit, Value, calendar, float32};
use brc_kernels::arithmetic::{Rounding, round};
use brc_kernels::cpu::Level;
use brc_kernels::direct::bounds;

/// The cast of one type to another, if there is one.
pub(crate) fn bound(from: LogicalType, to: LogicalType, attempt: bool) -> Option<Bound> {
    let convert = conversion(from, to)?;
    let kernel: Kernel = Box::new(move |views, rows| {
        if let Some(values) = narrow(&views[0], from, to) {
            return Ok(values.into());
        }
        if to == LogicalType::String {
            return rows.strings(|row, out| {
                views[0].get(row).into_iter().for_each(|value| out.push_value(value, from));
            });
        }
        typed(&*convert, from, to, attempt, &views[0], rows)
    });
    Some(Bound { output: to, nullable: attempt, kernel, exact: None, compared: None })
}

/// Exact numbers as others or as floats, all rows at a time, unless 64 bits may not suffice or something does not fit.
fn narrow(view: &View<'_>, from: LogicalType, to: LogicalType) -> Option<ArrayData> {
    let ViewData::Narrow(values) = &view.data else { return None };
    if is_integer(from) && is_point_in_time(to) || is_point_in_time(from) && is_integer(to) {
        let possible = if to == LogicalType::Date { Some(DAYS_OF_FOUR_DIGITS) } else { to.bounds() };
        let ((low, high), (min, max)) = (bounds(Level::best(), values)?, possible?);
        return (min <= low.into() && i128::from(high) <= max).then(|| values.to_vec().into());
    }
    if !is_exact_number(from) {
        return None;
    }
    if to == LogicalType::Float64 {
        return exact::nearest_floats(values, from.scale()).map(ArrayData::from);
    }
    is_exact_number(to).then_some(())?;
    let (divisor, back) = (exact::factor(to.scale(), from.scale()), exact::factor(from.scale(), to.scale()));
    Exact { rounding: Rounding::Nearest, divisor, back, output: to }.narrow(view).map(ArrayData::from)
}

pub(crate) fn is_exact_number(it: LogicalType) -> bool {
    it.is_numeric() && !it.is_float()
}

fn is_integer(it: LogicalType) -> bool {
    is_exact_number(it) && it.scale() == 0
}

/// The days of the years from 1 to 9999. A number beyond these, such as 20240131, is meant otherwise.
const DAYS_OF_FOUR_DIGITS: (i128, i128) = (-719_162, 2_932_896);

/// Whether values are numbers of days or of other units since 1970-01-01.
fn is_point_in_time(it: LogicalType) -> bool {
    matches!(it, LogicalType::Date | LogicalType::Timestamp { .. })
}

/// A value as one of another type; `None` if there is none.
type Conversion = Box<dyn Fn(Value<'_>) -> Option<Number> + Send + Sync>;

/// Floats from here on are integers, and not all of these.
const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

enum Number {
    Integer(i128),
    Float(f64),
    /// The bytes as they are.
    Same,
}

fn typed(
    convert: &(dyn Fn(Value<'_>) -> Option<Number> + Send + Sync),
    from: LogicalType,
    to: LogicalType,
    attempt: bool,
    view: &View<'_>,
    rows: &Rows<'_>,
) -> Result<Array, EvalError> {
    rows.values(to, |row| {
        let Some(value) = view.get(row) else { return Ok(None) };
        let converted = match convert(value) {
            Some(Number::Integer(value)) => Value::Integer(value).check(to).ok(),
            Some(Number::Float(value)) => Some(Value::Float(value)),
            Some(Number::Same) => Some(Value::Bytes(view.bytes(row))),
            None => None,
        };
        match converted {
            None if !attempt => {
                let text = value.to_text(from);
                let reason = reason(&text, from, to);
                Err(EvalError::Value(format!("cannot cast '{text}' to {to}{reason}; try_cast gives null instead")))
            }
            converted => Ok(converted),
        }
    })
}

/// Why some values of a type have no equal of another.
fn reason(value: &str, from: LogicalType, to: LogicalType) -> String {
    match to {
        LogicalType::Date if is_integer(from) => {
            ", for which a number is the days since 1970-01-01; make_date(year, month, day) is a date of its parts"
                .into()
        }
        LogicalType::Timestamp { unit, zone: false } if from == LogicalType::String && has_zone(value, unit) => {
            ", because it says its distance from UTC; cast it to timestamptz".into()
        }
        LogicalType::Int8 if is_exact_number(from) => " of 8 bits, -128 to 127; write int64 for more".into(),
        _ => String::new(),
    }
}

/// Whether a text is a timestamp with its distance from UTC.
fn has_zone(text: &str, unit: TimeUnit) -> bool {
    Value::parse(text.as_bytes(), LogicalType::Timestamp { unit, zone: true }).is_ok()
}

fn conversion(from: LogicalType, to: LogicalType) -> Option<Conversion> {
    Some(match (from, to) {
        _ if from == to || to == LogicalType::String => Box::new(same),
        (LogicalType::String, LogicalType::Binary) => Box::new(same),
        (LogicalType::String, _) => Box::new(move |value| parsed(value, to)),
        (LogicalType::Bool, LogicalType::Float32 | LogicalType::Float64) => {
            Box::new(|value| integer(value).map(|value| Number::Float(value as f64)))
        }
        (LogicalType::Bool, _) if is_exact_number(to) => {
            let unit = exact::factor(0, to.scale());
            Box::new(move |value| integer(value).map(|value| Number::Integer(value * unit)))
        }
        (_, LogicalType::Bool) if is_exact_number(from) => {
            Box::new(|value| integer(value).map(|value| Number::Integer((value != 0).into())))
        }
        (LogicalType::Float32, LogicalType::Float64) => Box::new(same),
        (LogicalType::Float64, LogicalType::Float32) => Box::new(|value| match value {
            Value::Float(value) => rounded(value),
            Value::Integer(_) | Value::Bytes(_) => None,
        }),
        (LogicalType::Float32 | LogicalType::Float64, _) if is_exact_number(to) => {
            let (decimals, power) = (to.scale().into(), 10f64.powi(to.scale().into()));
            Box::new(move |value| {
                let Value::Float(value) = value else { return None };
                let mut value = [value];
                round(Level::Portable, Rounding::Nearest, decimals, from == LogicalType::Float32, &mut value);
                let digits = (value[0] * power).round();
                // Beyond, not all integers are floats.
                let integer = match digits.abs() < TWO_TO_53 {
                    true => digits as i128,
                    false => Decimal::new(&format!("{}", value[0])).floor(to.scale()).0,
                };
                (digits.abs() < 1e38).then_some(Number::Integer(integer))
            })
        }
        (_, LogicalType::Float64) if is_exact_number(from) => {
            let unit = 10u128.pow(from.scale().into());
            Box::new(move |value| {
                integer(value).map(|value| Number::Float(crate::values::ratio::nearest_small(value, unit)))
            })
        }
        (_, LogicalType::Float32) if is_exact_number(from) => {
            let unit = 10u128.pow(from.scale().into());
            Box::new(move |value| rounded(crate::values::ratio::nearest_small(integer(value)?, unit)))
        }
        _ if is_exact_number(from) && is_exact_number(to) => {
            let (up, down) = (exact::factor(from.scale(), to.scale()), exact::factor(to.scale(), from.scale()));
            Box::new(move |value| {
                Rounding::Nearest.quotient(integer(value)?, down).checked_mul(up).map(Number::Integer)
            })
        }
        _ if from.is_temporal() && to.is_temporal() => clocks(from, to)?,
        _ if is_integer(from) && to == LogicalType::Date => {
            let (first, last) = DAYS_OF_FOUR_DIGITS;
            Box::new(move |value| integer(value).filter(|day| (first..=last).contains(day)).map(Number::Integer))
        }
        _ if is_integer(from) && is_point_in_time(to) || is_point_in_time(from) && is_integer(to) => Box::new(same),
        _ => return None,
    })
}

/// The float of 32 bits nearest to a float; none if that is finite and beyond all of them.
fn rounded(value: f64) -> Option<Number> {
    let nearest = float32::nearest(value);
    (nearest.is_finite() || !value.is_finite()).then(|| Number::Float(float32::widen(nearest)))
}

fn same(value: Value<'_>) -> Option<Number> {
    Some(match value {
        Value::Integer(value) => Number::Integer(value),
        Value::Float(value) => Number::Float(value),
        Value::Bytes(_) => Number::Same,
    })
}

fn integer(value: Value<'_>) -> Option<i128> {
    match value {
        Value::Integer(value) => Some(value),
        Value::Float(_) | Value::Bytes(_) => None,
    }
}

/// The value that a string denotes, without the spaces around it and the plus sign before a number.
fn parsed(value: Value<'_>, to: LogicalType) -> Option<Number> {
    let Value::Bytes(text) = value else { return None };
    let text = match text.trim_ascii() {
        [b'+', rest @ ..] if to.is_numeric() && matches!(rest, [b'0'..=b'9' | b'.', ..]) => rest,
        text => text,
    };
    match Value::parse(text, to).ok()? {
        Value::Integer(value) => Some(Number::Integer(value)),
        Value::Float(value) => Some(Number::Float(value)),
        Value::Bytes(_) => Some(Number::Same),
    }
}

fn clocks(from: LogicalType, to: LogicalType) -> Option<Conversion> {
    let day = |unit: TimeUnit| i128::from(unit.per_second()) * i128::from(calendar::DAY_SECONDS);
    let (up, down) = match (from, to) {
        (LogicalType::Date, LogicalType::Timestamp { unit, .. }) => (day(unit), 1),
        (LogicalType::Timestamp { unit, .. }, LogicalType::Date) => (1, day(unit)),
        (LogicalType::Timestamp { unit, .. }, LogicalType::Time { unit: to }) => {
            let (day, up, down) = (day(unit), i128::from(to.per_second()), i128::from(unit.per_second()));
            return Some(Box::new(move |value| {
                integer(value).map(|value| Number::Integer(value.rem_euclid(day) * up / down))
            }));
        }
        (LogicalType::Time { unit }, LogicalType::Time { unit: to })
        | (LogicalType::Timestamp { unit, .. }, LogicalType::Timestamp { unit: to, .. }) => {
            (i128::from(to.per_second()), i128::from(unit.per_second()))
        }
        _ => return None,
    };
    Some(Box::new(move |value| integer(value).map(|value| Number::Integer((value * up).div_euclid(down)))))
}
