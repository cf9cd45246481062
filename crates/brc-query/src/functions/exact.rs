//! Exact arithmetic of integers and decimals: in 64 bits as long as they are enough, else in 128; what does not fit its
//! type is an error.

use super::{Bound, Mismatch, count, number, refuse};
use crate::functions::typed::{Scalar, Typed};
use crate::values::error::EvalError;
use crate::values::view::{Rows, View, ViewData};
use brc_core::{Array, LogicalType, Value};
use brc_kernels::arithmetic::{self, combined};
use brc_kernels::cpu::Level;
use brc_kernels::direct::bounds;
use std::borrow::Cow;

/// What numbers of a type are: how many digits, and how many of them after the point; `None` of floats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    pub(super) precision: u8,
    pub(super) scale: u8,
    /// Whether they are integers of up to 64 bits with a sign.
    pub(super) is_int64: bool,
}

/// The digits of an argument's values. Those of a constant are counted.
pub(super) fn digits(typed: &Typed) -> Option<Digits> {
    let int = |precision| Some(Digits { precision, scale: 0, is_int64: true });
    match (typed.logical_type, typed.constant()) {
        (LogicalType::Int64, Some(Some(Scalar::Integer(value)))) => int(value.unsigned_abs().to_string().len() as u8),
        (LogicalType::Int8, _) => int(3),
        (LogicalType::Int16, _) => int(5),
        (LogicalType::Int32, _) => int(10),
        (LogicalType::Int64, _) => int(19),
        (LogicalType::UInt64, _) => Some(Digits { precision: 20, scale: 0, is_int64: false }),
        (LogicalType::Decimal { precision, scale }, _) => Some(Digits { precision, scale, is_int64: false }),
        (
            LogicalType::Bool
            | LogicalType::Float32
            | LogicalType::Float64
            | LogicalType::Date
            | LogicalType::Time { .. }
            | LogicalType::Timestamp { .. }
            | LogicalType::String
            | LogicalType::Binary
            | LogicalType::Uuid,
            _,
        ) => None,
    }
}

/// A decimal of this many digits, or as many as there can be.
pub(super) fn decimal(precision: u8, scale: u8) -> LogicalType {
    let scale = scale.min(LogicalType::MAX_PRECISION);
    LogicalType::Decimal { precision: precision.clamp(scale.max(1), LogicalType::MAX_PRECISION), scale }
}

/// The types of two arguments, which must be numbers; `None` if one of them is a float.
pub(super) fn both(arguments: &[Typed]) -> Result<Option<(Digits, Digits)>, Mismatch> {
    number(arguments, 0)?;
    number(arguments, 1)?;
    Ok(digits(&arguments[0]).zip(digits(&arguments[1])))
}

/// The sum or difference of such numbers.
pub(super) fn sum_type(one: Digits, other: Digits) -> LogicalType {
    if one.is_int64 && other.is_int64 {
        return LogicalType::Int64;
    }
    let scale = one.scale.max(other.scale);
    let whole = (one.precision - one.scale).max(other.precision - other.scale);
    decimal((whole + scale).saturating_add(1), scale)
}

/// A sum or difference of numbers, which `of_floats` computes of floats.
pub(super) fn sum<O: Operation>(
    operation: O,
    arguments: &[Typed],
    of_floats: fn(f64, f64) -> f64,
) -> Result<Bound, Mismatch> {
    let Some((one, other)) = both(arguments)? else { return Ok(floats(arguments, of_floats)) };
    let output = sum_type(one, other);
    let scale = output.scale();
    if scale < one.scale.max(other.scale) {
        return refuse(1, "has too many decimals");
    }
    let factors = [factor(one.scale, scale), factor(other.scale, scale)];
    Ok(bound(operation, output, [one.scale, other.scale], factors))
}

/// Ten to the power of the difference of two scales.
pub(super) fn factor(from: u8, to: u8) -> i128 {
    10i128.pow(u32::from(to.saturating_sub(from)).min(38))
}

/// An operation in 64 bits, and in 128 bits.
pub(super) trait Operation: Copy + Send + Sync + 'static {
    const SYMBOL: &'static str;
    const NARROW: arithmetic::Operation;
    fn wide(one: i128, other: i128) -> Option<i128>;
}

/// What an operation is as long as 64 bits suffice: `one * factor ∘ other * factor`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact {
    pub(crate) operation: arithmetic::Operation,
    pub(crate) factors: [i128; 2],
}

/// Computes `one * factor ∘ other * factor`.
pub(super) fn bound<O: Operation>(_: O, output: LogicalType, scales: [u8; 2], factors: [i128; 2]) -> Bound {
    let exact = Exact { operation: O::NARROW, factors };
    let bound = Bound::new(output, move |views, rows| {
        let [one, other] = [&views[0], &views[1]];
        if let Some(values) = narrow::<O>(output, factors, one, other) {
            return Ok(Array::from(values));
        }
        wide::<O>(output, scales, factors, [one, other], rows)
    });
    Bound { exact: Some(exact), ..bound }
}

/// All rows in 64 bits, unless that or the type might not be enough for values between the smallest and the largest ones.
fn narrow<O: Operation>(output: LogicalType, factors: [i128; 2], one: &View<'_>, other: &View<'_>) -> Option<Vec<i64>> {
    let (ViewData::Narrow(one), ViewData::Narrow(other)) = (&one.data, &other.data) else { return None };
    let [one, other] = [scaled(one, factors[0])?, scaled(other, factors[1])?];
    fits::<O>(output, &one, &other)?;
    Some(combined(Level::best(), O::NARROW, &one, &other))
}

/// `None` if an operation may need more than 64 bits, or leave its type. It is the largest or the smallest at the bounds
/// of what it is of.
fn fits<O: Operation>(output: LogicalType, one: &[i64], other: &[i64]) -> Option<()> {
    let (min, max) = output.bounds()?;
    let (Some(one), Some(other)) = (bounds(Level::best(), one), bounds(Level::best(), other)) else { return Some(()) };
    for (one, other) in [(one.0, other.0), (one.0, other.1), (one.1, other.0), (one.1, other.1)] {
        let extreme = O::wide(one.into(), other.into()).filter(|extreme| (min..=max).contains(extreme))?;
        i64::try_from(extreme).ok()?;
    }
    Some(())
}

fn scaled(values: &[i64], factor: i128) -> Option<Cow<'_, [i64]>> {
    if factor == 1 {
        return Some(Cow::Borrowed(values));
    }
    let factor = i64::try_from(factor).ok()?;
    if let Some((min, max)) = bounds(Level::best(), values) {
        min.checked_mul(factor)?;
        max.checked_mul(factor)?;
    }
    Some(Cow::Owned(values.iter().map(|&value| value.wrapping_mul(factor)).collect()))
}

/// Row by row, of those that count.
fn wide<O: Operation>(
    output: LogicalType,
    scales: [u8; 2],
    factors: [i128; 2],
    [one, other]: [&View<'_>; 2],
    rows: &Rows<'_>,
) -> Result<Array, EvalError> {
    let (min, max) = output.bounds().unwrap_or((i128::MIN, i128::MAX));
    let mut values = Vec::with_capacity(rows.count);
    for row in 0..rows.count {
        if !rows.is_valid(row) {
            values.push(0);
            continue;
        }
        let [left, right] = [one.integer(row), other.integer(row)];
        let value = left.checked_mul(factors[0]).zip(right.checked_mul(factors[1]));
        let value = value.and_then(|(left, right)| O::wide(left, right));
        let Some(value) = value.filter(|value| (min..=max).contains(value)) else {
            let text = |value, scale| Value::Integer(value).to_text(decimal(LogicalType::MAX_PRECISION, scale));
            let (left, right) = (text(left, scales[0]), text(right, scales[1]));
            return Err(EvalError::Value(format!("{left} {} {right} is out of range for {output}", O::SYMBOL)));
        };
        values.push(value);
    }
    Ok(match values.iter().all(|&value| i64::try_from(value).is_ok()) {
        true => values.into_iter().map(|value| value as i64).collect::<Vec<_>>().into(),
        false => values.into(),
    })
}

/// The values of numbers as floats: the nearest ones.
pub(super) fn float(view: &View<'_>, scale: u8, row: usize) -> f64 {
    match view.data {
        ViewData::Floats(values) => values[row],
        _ if scale == 0 => view.integer(row) as f64,
        _ => crate::values::ratio::nearest_small(view.integer(row), 10u128.pow(scale.into())),
    }
}

/// Floats have 53 bits.
const EXACT: i64 = 1 << 53;

/// Integers in units of a scale as floats: the nearest ones; `None` if one division may not give these.
pub(super) fn nearest_floats(values: &[i64], scale: u8) -> Option<Vec<f64>> {
    let unit = i64::try_from(factor(0, scale)).ok().filter(|&unit| unit <= EXACT)?;
    if unit != 1 && !is_exact(values, 1) {
        return None;
    }
    let unit = unit as f64;
    Some(values.iter().map(|&value| value as f64 / unit).collect())
}

/// Whether all integers times a factor are floats.
pub(super) fn is_exact(values: &[i64], factor: i64) -> bool {
    let is_exact = |value: i64| value.checked_mul(factor).is_some_and(|value| (-EXACT..=EXACT).contains(&value));
    bounds(Level::best(), values).is_none_or(|(min, max)| is_exact(min) && is_exact(max))
}

/// The numbers of a view as floats, under the same condition.
fn all_floats<'v>(view: &'v View<'_>, scale: u8) -> Option<Cow<'v, [f64]>> {
    match &view.data {
        ViewData::Floats(values) => Some(Cow::Borrowed(values)),
        ViewData::Narrow(values) => nearest_floats(values, scale).map(Cow::Owned),
        ViewData::Wide(_) | ViewData::Strings(_) | ViewData::Codes(..) => None,
    }
}

/// The scales of two numbers; 0 of floats.
pub(super) fn scales(arguments: &[Typed]) -> [u8; 2] {
    [arguments[0].logical_type.scale(), arguments[1].logical_type.scale()]
}

/// A function of one number that is a float.
pub(super) fn float_of_one(arguments: &[Typed], usage: &str, operation: fn(f64) -> f64) -> Result<Bound, Mismatch> {
    count(arguments, 1..=1, usage)?;
    let scale = number(arguments, 0)?.scale();
    Ok(Bound::new(LogicalType::Float64, move |views, rows| rows.floats(|row| operation(float(&views[0], scale, row)))))
}

/// Computes an operation of floats.
pub(super) fn floats(arguments: &[Typed], operation: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> Bound {
    let [one, other] = scales(arguments);
    Bound::new(LogicalType::Float64, move |views, rows| {
        if let (Some(ones), Some(others)) = (all_floats(&views[0], one), all_floats(&views[1], other)) {
            let values = ones.iter().zip(others.iter()).map(|(&one, &other)| operation(one, other));
            return Ok(values.collect::<Vec<_>>().into());
        }
        rows.floats(|row| operation(float(&views[0], one, row), float(&views[1], other, row)))
    })
}
