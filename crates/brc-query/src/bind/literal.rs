//! Constants as typed values.

use super::call::INTERVAL;
use super::{Binder, Result, compare, constant};
use crate::functions::typed::{Scalar, Typed};
use crate::sql::Literal;
use crate::values::number::Number;
use brc_core::{LogicalType, PhysicalType, TimeUnit, Value, float32};

impl Binder<'_> {
    /// A constant by itself.
    pub(super) fn literal(&self, literal: &Literal, position: usize) -> Result {
        let typed = match literal {
            Literal::Null => Some(Typed::literal(LogicalType::String, None)),
            Literal::Bool(value) => Some(Typed::literal(LogicalType::Bool, Some(Scalar::Integer((*value).into())))),
            Literal::Text(text) => Some(Typed::literal(LogicalType::String, Some(Scalar::Bytes(text.clone())))),
            Literal::Number(number) => Some(of_number(number)),
            Literal::Date(text) => parsed(text, LogicalType::Date),
            Literal::Time(text) => finest(text, |unit| LogicalType::Time { unit }),
            Literal::Timestamp(text) => timestamp(text),
            Literal::Interval { .. } => {
                return self.error(INTERVAL, position);
            }
        };
        match typed {
            Some(typed) => Ok(typed),
            None => {
                let (Literal::Date(text) | Literal::Time(text) | Literal::Timestamp(text)) = literal else {
                    return self.error("a constant that is none", position);
                };
                let text = String::from_utf8_lossy(text);
                self.error(format!("'{text}' is not {}", literal.kind()), position)
            }
        }
    }

    /// A constant as a value that compares with one of a type.
    pub(super) fn literal_like(&self, literal: &Literal, like: LogicalType, position: usize) -> Result {
        let found = match (literal, like) {
            (Literal::Number(number), LogicalType::Float32) if number.is_float() => Some(of_float_32(number)),
            (Literal::Number(_), _) if like.is_numeric() => Some(self.literal(literal, position)?),
            (Literal::Text(_), LogicalType::String | LogicalType::Binary) => Some(self.literal(literal, position)?),
            (Literal::Bool(_), LogicalType::Bool) => Some(self.literal(literal, position)?),
            (Literal::Text(text), _) => parsed(text, like),
            (
                Literal::Date(_) | Literal::Time(_) | Literal::Timestamp(_),
                LogicalType::Date | LogicalType::Time { .. } | LogicalType::Timestamp { .. },
            ) => Some(self.literal(literal, position)?),
            _ => None,
        };
        match found {
            Some(found) => Ok(found),
            None => {
                let (kind, hint) = (literal.kind(), constant::hint(literal, like));
                self.mismatch(format!("a value of type {like} is compared with {kind}{hint}"), position, [])
            }
        }
    }
}

fn parsed(text: &[u8], logical_type: LogicalType) -> Option<Typed> {
    let value = Value::parse(text, logical_type).ok()?;
    Some(Typed::literal(logical_type, Some(value.into())))
}

/// Arguments of a function, of which one, a constant string, is the date or timestamp that it means.
pub(super) fn with_time(arguments: &[Typed], index: usize) -> Option<Vec<Typed>> {
    let Some(Scalar::Bytes(text)) = arguments.get(index)?.constant()? else { return None };
    let time = parsed(text, LogicalType::Date).or_else(|| timestamp(text))?;
    let mut arguments = arguments.to_vec();
    arguments[index] = time;
    Some(arguments)
}

fn timestamp(text: &[u8]) -> Option<Typed> {
    [false, true].into_iter().find_map(|zone| finest(text, |unit| LogicalType::Timestamp { unit, zone }))
}

/// In microseconds, unless that is too coarse.
fn finest(text: &[u8], of: impl Fn(TimeUnit) -> LogicalType) -> Option<Typed> {
    [TimeUnit::Microsecond, TimeUnit::Nanosecond].into_iter().find_map(|unit| parsed(text, of(unit)))
}

/// The least type that holds the number exactly; a float if it was written as one or none does.
fn of_number(number: &Number) -> Typed {
    let (scale, whole) = (number.scale(), number.whole_digits());
    let float = || Typed::literal(LogicalType::Float64, Some(Scalar::Float(number.to_float().to_bits())));
    if number.exponential || whole + scale > usize::from(LogicalType::MAX_PRECISION) {
        return float();
    }
    let (value, exact) = number.floor(scale as u8);
    match (exact, scale, i64::try_from(value)) {
        (true, 0, Ok(_)) => Typed::literal(LogicalType::Int64, Some(Scalar::Integer(value))),
        (true, ..) => {
            let precision = (whole + scale).max(1) as u8;
            Typed::literal(LogicalType::Decimal { precision, scale: scale as u8 }, Some(Scalar::Integer(value)))
        }
        _ => float(),
    }
}

/// The number that a constant is, unless it is none or not finite.
fn number(typed: &Typed) -> Option<Number> {
    match typed.constant()??.value() {
        _ if !typed.logical_type.is_numeric() => None,
        // What is whole is exactly that; of other floats the shortest text that means them.
        Value::Float(value) if value.is_finite() && value.fract() == 0.0 => Some(Number::new(&format!("{value:.0}"))),
        Value::Float(value) if value.is_finite() => Some(Number::new(&format!("{value}"))),
        value @ Value::Integer(_) => Some(Number::new(&value.to_text(typed.logical_type))),
        Value::Float(_) | Value::Bytes(_) => None,
    }
}

/// The float of 32 bits nearest to a number, unless it is beyond all of them.
fn of_float_32(number: &Number) -> Typed {
    let value = constant::rounded(number.to_float());
    let logical_type = if float32::narrow(value).is_some() { LogicalType::Float32 } else { LogicalType::Float64 };
    Typed::literal(logical_type, Some(Scalar::Float(value.to_bits())))
}

/// Values of which one is taken: beside values of another type, constant strings are such values, too, if they can be.
pub(super) fn like_the_others(parts: Vec<(Typed, usize)>) -> Vec<(Typed, usize)> {
    let is_text = |part: &Typed| part.logical_type == LogicalType::String && part.constant().is_some();
    let mut others = parts.iter().filter(|(part, _)| !is_text(part)).map(|(part, _)| Some(part.logical_type));
    let common = others.next().and_then(|first| others.fold(first, |one, other| compare::common(one?, other?)));
    let Some(common) = common.filter(|common| *common != LogicalType::String) else { return parts };
    let like = |(part, position): (Typed, usize)| match part.constant() {
        Some(Some(Scalar::Bytes(text))) if is_text(&part) => (parsed(text, common).unwrap_or(part), position),
        _ => (part, position),
    };
    parts.into_iter().map(like).collect()
}

/// Values of which one is taken: beside floats of 32 bits, constant numbers are such floats too.
pub(super) fn like_floats_32(parts: Vec<(Typed, usize)>) -> Vec<(Typed, usize)> {
    let is_float_32 = |(part, _): &(Typed, usize)| part.logical_type == LogicalType::Float32;
    if !parts.iter().any(is_float_32) {
        return parts;
    }
    let is_float_32 = |number: &Number| number.is_float() || float32::narrow(number.to_float()).is_some();
    let like = |(part, position): (Typed, usize)| match number(&part).filter(is_float_32) {
        Some(number) => (of_float_32(&number), position),
        None => (part, position),
    };
    parts.into_iter().map(like).collect()
}

/// A typed constant as it would be written, for comparing it with a column of a type; `None` if the type has none like
/// it.
pub(super) fn written(typed: &Typed, beside: LogicalType) -> Option<Literal> {
    let scalar = typed.constant()??;
    let text = scalar.value().to_text(typed.logical_type);
    Some(match typed.logical_type {
        LogicalType::Bool => Literal::Bool(text == "true"),
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. } => Literal::Number(number(typed)?),
        LogicalType::Float32 | LogicalType::Float64 => match number(typed) {
            Some(number) => Literal::Number(number),
            None if beside.physical() == PhysicalType::Integers => return None,
            None => Literal::Text(text.into_bytes()),
        },
        LogicalType::Date => Literal::Date(text.into_bytes()),
        LogicalType::Time { .. } => Literal::Time(text.into_bytes()),
        LogicalType::Timestamp { .. } => Literal::Timestamp(text.into_bytes()),
        LogicalType::String | LogicalType::Binary => match scalar {
            Scalar::Bytes(bytes) => Literal::Text(bytes.clone()),
            Scalar::Integer(_) | Scalar::Float(_) => return None,
        },
        LogicalType::Uuid => Literal::Text(text.into_bytes()),
    })
}
