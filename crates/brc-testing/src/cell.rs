//! Owned values, and test values of every type.

use brc_core::predicate::{ColumnStatistics, ValueBounds};
use brc_core::{LogicalType, PhysicalType, TimeUnit, Value, float_order, float32};
use std::fmt;

/// An owned value. Floats are stored as their bits, so that NaNs and zeros are compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// No value.
    Null,
    /// A value of any type stored as integers.
    Integer(i128),
    /// The bits of a float.
    Float(u64),
    /// A string or binary data.
    Bytes(Vec<u8>),
}

impl From<Option<Value<'_>>> for Cell {
    fn from(value: Option<Value<'_>>) -> Self {
        match value {
            None => Self::Null,
            Some(Value::Integer(value)) => Self::Integer(value),
            Some(Value::Float(value)) => Self::Float(value.to_bits()),
            Some(Value::Bytes(value)) => Self::Bytes(value.to_vec()),
        }
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Integer(value.into())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Float(value.to_bits())
    }
}

impl From<&[u8]> for Cell {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::from(value.as_bytes())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Bytes(value.into_bytes())
    }
}

/// Shows integers as stored, without the scale of their type.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Self::Bytes(value) => f.write_str(&String::from_utf8_lossy(value)),
        }
    }
}

impl Cell {
    /// The value; `None` if it is null.
    #[must_use]
    pub fn value(&self) -> Option<Value<'_>> {
        match self {
            Self::Null => None,
            Self::Integer(value) => Some(Value::Integer(*value)),
            Self::Float(bits) => Some(Value::Float(f64::from_bits(*bits))),
            Self::Bytes(value) => Some(Value::Bytes(value)),
        }
    }

    /// The statistics of a row with this value.
    #[must_use]
    pub fn statistics(&self) -> ColumnStatistics<'_> {
        let number = |value: i128| ValueBounds::Numbers { min: value, max: value };
        let values = match self {
            Self::Null => ValueBounds::None,
            Self::Integer(value) => number(*value),
            Self::Float(bits) => number(float_order(f64::from_bits(*bits)).into()),
            Self::Bytes(value) => ValueBounds::Strings { min: value, max: value },
        };
        ColumnStatistics { values, nulls: *self == Self::Null }
    }

    /// The text form of a value of the given type; `NULL` for a null.
    #[must_use]
    pub fn to_text(&self, logical_type: LogicalType) -> String {
        self.value().map_or("NULL".to_owned(), |value| value.to_text(logical_type))
    }
}

/// The statistics of rows with these values of a column.
#[must_use]
pub fn known<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> ColumnStatistics<'a> {
    let both = |one: ColumnStatistics<'a>, other: ColumnStatistics<'a>| {
        let values = match (one.values, other.values) {
            (ValueBounds::None, values) | (values, ValueBounds::None) => values,
            (ValueBounds::Numbers { min, max }, ValueBounds::Numbers { min: low, max: high }) => {
                ValueBounds::Numbers { min: min.min(low), max: max.max(high) }
            }
            (ValueBounds::Strings { min, max }, ValueBounds::Strings { min: low, max: high }) => {
                ValueBounds::Strings { min: min.min(low), max: max.max(high) }
            }
            _ => ValueBounds::Unknown,
        };
        ColumnStatistics { values, nulls: one.nulls || other.nulls }
    };
    cells.into_iter().map(Cell::statistics).reduce(both).unwrap_or(ColumnStatistics::UNKNOWN)
}

/// Every type: decimals of several sizes, times and timestamps of each unit.
#[must_use]
pub fn all_types() -> Vec<LogicalType> {
    let mut types = vec![
        LogicalType::Bool,
        LogicalType::Int8,
        LogicalType::Int16,
        LogicalType::Int32,
        LogicalType::Int64,
        LogicalType::UInt64,
        LogicalType::Float32,
        LogicalType::Float64,
        LogicalType::Date,
        LogicalType::String,
        LogicalType::Binary,
        LogicalType::Uuid,
    ];
    let decimals = [(1, 0), (3, 3), (9, 9), (10, 2), (18, 1), (19, 3), (38, 0), (38, 10), (38, 38)];
    types.extend(decimals.map(|(precision, scale)| LogicalType::Decimal { precision, scale }));
    for unit in TimeUnit::ALL {
        types.push(LogicalType::Time { unit });
        types.extend([false, true].map(|zone| LogicalType::Timestamp { unit, zone }));
    }
    types
}

/// The [extreme values](extremes) of a type that every encoding can hold.
#[must_use]
pub fn ordinary(logical_type: LogicalType) -> Vec<Cell> {
    extremes(logical_type).into_iter().filter(|cell| is_plain(cell, logical_type)).collect()
}

/// Whether every encoding can hold a value: text has no NUL bytes, JSON has only UTF-8 and NaNs without sign and
/// payload, and Parquet stores seconds as milliseconds.
#[must_use]
pub fn is_plain(cell: &Cell, logical_type: LogicalType) -> bool {
    match cell {
        Cell::Null => true,
        Cell::Integer(seconds) => {
            let is_seconds = matches!(logical_type, LogicalType::Timestamp { unit: TimeUnit::Second, .. });
            !is_seconds || seconds.checked_mul(1000).is_some_and(|value| i64::try_from(value).is_ok())
        }
        Cell::Float(bits) => !f64::from_bits(*bits).is_nan() || *bits == f64::NAN.to_bits(),
        Cell::Bytes(bytes) => !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok(),
    }
}

/// Values of a type, including its minimum and maximum.
#[must_use]
pub fn extremes(logical_type: LogicalType) -> Vec<Cell> {
    match logical_type.physical() {
        PhysicalType::Integers => {
            let (min, max) = logical_type.bounds().unwrap_or((0, 0));
            // Some fit 64 bits as milliseconds, too, if they are seconds.
            let near = [0, 1, -1, 100, -128, 40_000, 1 << 40, -(1 << 33) - 1, min / 1000, max / 1000, min + 1, max / 3];
            let near = near.into_iter().filter(|value| (min..=max).contains(value));
            [min, max].into_iter().chain(near).map(Cell::Integer).collect()
        }
        PhysicalType::Floats if logical_type == LogicalType::Float32 => {
            let payload = f32::from_bits(0xffc0_beef);
            let odd = [f32::NAN, payload, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-45, 1.1, 0.1 + 0.2, 16_777_217.0];
            let ends = [0.0, 1.5, f32::MIN, f32::MAX, f32::MIN_POSITIVE];
            let floats = ends.into_iter().chain(odd);
            floats.map(|float| Cell::Float(float32::widen(float).to_bits())).collect()
        }
        PhysicalType::Floats => {
            let payload = f64::from_bits(0xfff8_0000_dead_beef);
            let odd = [f64::NAN, payload, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 0.1 + 0.2];
            let ends = [0.0, 1.5, f64::MIN, f64::MAX, f64::MIN_POSITIVE];
            ends.into_iter().chain(odd).map(|float| Cell::Float(float.to_bits())).collect()
        }
        PhysicalType::Bytes => {
            let mut strings: Vec<Vec<u8>> = vec![
                Vec::new(),
                b"a".to_vec(),
                b"null".to_vec(),
                b" blanks around ".to_vec(),
                "S\u{e3}o \"Paulo\",\r\n; '#\\".into(),
                "long ".repeat(60).into(),
                b"a\0b".to_vec(),
            ];
            if logical_type == LogicalType::Binary {
                strings.extend([b"\xff\xfe\0".to_vec(), b"\x80".to_vec()]);
            }
            strings.into_iter().map(Cell::Bytes).collect()
        }
    }
}
