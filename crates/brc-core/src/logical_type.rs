//! Logical types (what the values of a column mean) and physical types (how they are stored in memory).
//!
//! There are many [`LogicalType`]s and few [`PhysicalType`]s. Code that packs, compares, groups or sums values sees
//! only physical types, so a new logical type needs only a text form and a name in each encoding. Matches on either
//! have no wildcard arm, so the compiler lists everything that a new type still needs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the values of a column mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LogicalType {
    /// A boolean, stored as 0 or 1.
    Bool,
    /// A signed integer of 8 bits.
    Int8,
    /// A signed integer of 16 bits.
    Int16,
    /// A signed integer of 32 bits.
    Int32,
    /// A signed integer of 64 bits.
    Int64,
    /// An unsigned integer of 64 bits.
    UInt64,
    /// An exact decimal: an integer divided by ten to the power of `scale`.
    Decimal {
        /// The maximum number of digits, 1 to 38.
        precision: u8,
        /// The number of digits after the decimal point, 0 to `precision`.
        scale: u8,
    },
    /// A 32-bit IEEE 754 float, kept bit for bit.
    Float32,
    /// A 64-bit IEEE 754 float, kept bit for bit.
    Float64,
    /// A date: days since 1970-01-01 in the proleptic Gregorian calendar, 32 bits.
    Date,
    /// A time of day: units since midnight.
    Time {
        /// The unit.
        unit: TimeUnit,
    },
    /// A point in time: units since 1970-01-01 00:00:00, 64 bits.
    Timestamp {
        /// The unit.
        unit: TimeUnit,
        /// Whether it is an instant in UTC; otherwise it is local time without a zone.
        zone: bool,
    },
    /// A byte string meant as text: usually UTF-8, but arbitrary bytes are kept.
    String,
    /// A byte string that is not text.
    Binary,
    /// A 128-bit UUID; see [`crate::uuid`].
    Uuid,
}

/// The unit of times and timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TimeUnit {
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

impl TimeUnit {
    /// All units, the longest first.
    pub const ALL: [Self; 4] = [Self::Second, Self::Millisecond, Self::Microsecond, Self::Nanosecond];

    /// The number of units in a second.
    #[must_use]
    pub fn per_second(self) -> i64 {
        10i64.pow(self.digits())
    }

    /// The number of fractional digits of a second.
    #[must_use]
    pub fn digits(self) -> u32 {
        match self {
            Self::Second => 0,
            Self::Millisecond => 3,
            Self::Microsecond => 6,
            Self::Nanosecond => 9,
        }
    }

    /// Its symbol: `s`, `ms`, `us` or `ns`.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Millisecond => "ms",
            Self::Microsecond => "us",
            Self::Nanosecond => "ns",
        }
    }
}

/// How the values of a column are represented in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PhysicalType {
    /// Integers of 8 to 128 bits.
    Integers,
    /// 64-bit IEEE 754 floats. 32-bit floats are widened, which keeps order and bits: see [`crate::float32`].
    Floats,
    /// Byte strings, or their dictionary codes.
    Bytes,
}

impl LogicalType {
    /// The maximum precision of a decimal.
    pub const MAX_PRECISION: u8 = 38;

    /// The maximum precision at which every decimal fits 64 bits.
    pub const MAX_PRECISION_64: u8 = 18;

    /// A decimal of that scale with the maximum precision that fits 64 bits, or with a larger one if the scale requires
    /// it.
    #[must_use]
    pub fn decimal(scale: u8) -> Self {
        Self::Decimal { precision: Self::MAX_PRECISION_64.max(scale), scale }
    }

    /// The 64-bit type for numbers with `scale` decimals: integers if `scale` is 0.
    #[must_use]
    pub fn number(scale: u8) -> Self {
        if scale == 0 { Self::Int64 } else { Self::decimal(scale) }
    }

    /// Whether it is a 64-bit type for numbers: [`LogicalType::Int64`], or a decimal of
    /// [`LogicalType::MAX_PRECISION_64`] digits.
    #[must_use]
    pub fn is_64_bit_number(self) -> bool {
        match self {
            Self::Int64 => true,
            Self::Decimal { precision, .. } => precision == Self::MAX_PRECISION_64,
            Self::Bool
            | Self::Int8
            | Self::Int16
            | Self::Int32
            | Self::UInt64
            | Self::Float32
            | Self::Float64
            | Self::Date
            | Self::Time { .. }
            | Self::Timestamp { .. }
            | Self::String
            | Self::Binary
            | Self::Uuid => false,
        }
    }

    /// The physical type of its values.
    #[must_use]
    pub fn physical(self) -> PhysicalType {
        match self {
            Self::Bool
            | Self::Int8
            | Self::Int16
            | Self::Int32
            | Self::Int64
            | Self::UInt64
            | Self::Decimal { .. }
            | Self::Date
            | Self::Time { .. }
            | Self::Timestamp { .. }
            | Self::Uuid => PhysicalType::Integers,
            Self::Float32 | Self::Float64 => PhysicalType::Floats,
            Self::String | Self::Binary => PhysicalType::Bytes,
        }
    }

    /// The number of digits after the decimal point; 0 for types other than decimals.
    #[must_use]
    pub fn scale(self) -> u8 {
        match self {
            Self::Decimal { scale, .. } => scale,
            Self::Bool
            | Self::Int8
            | Self::Int16
            | Self::Int32
            | Self::Int64
            | Self::UInt64
            | Self::Float32
            | Self::Float64
            | Self::Date
            | Self::Time { .. }
            | Self::Timestamp { .. }
            | Self::String
            | Self::Binary
            | Self::Uuid => 0,
        }
    }

    /// The minimum and maximum of an integer type; `None` for other types.
    #[must_use]
    pub fn bounds(self) -> Option<(i128, i128)> {
        let signed = |bits: u32| Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1));
        match self {
            Self::Bool => Some((0, 1)),
            Self::Int8 => signed(8),
            Self::Int16 => signed(16),
            Self::Int32 | Self::Date => signed(32),
            Self::Int64 | Self::Timestamp { .. } => signed(64),
            Self::UInt64 => Some((0, u64::MAX.into())),
            Self::Decimal { precision, .. } => {
                let most = 10i128.pow(u32::from(precision.min(Self::MAX_PRECISION))) - 1;
                Some((-most, most))
            }
            Self::Time { unit } => Some((0, i128::from(unit.per_second()) * 86_400 - 1)),
            Self::Uuid => Some((i128::MIN, i128::MAX)),
            Self::Float32 | Self::Float64 | Self::String | Self::Binary => None,
        }
    }

    /// Whether every value fits a signed 64-bit integer.
    #[must_use]
    pub fn fits_64_bits(self) -> bool {
        self.bounds().is_some_and(|(min, max)| i64::try_from(min).is_ok() && i64::try_from(max).is_ok())
    }

    /// Whether values are numbers, so that they can be summed.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        match self {
            Self::Int8
            | Self::Int16
            | Self::Int32
            | Self::Int64
            | Self::UInt64
            | Self::Decimal { .. }
            | Self::Float32
            | Self::Float64 => true,
            Self::Bool
            | Self::Date
            | Self::Time { .. }
            | Self::Timestamp { .. }
            | Self::String
            | Self::Binary
            | Self::Uuid => false,
        }
    }

    /// Whether values are dates, times of day or both.
    #[must_use]
    pub fn is_temporal(self) -> bool {
        matches!(self, Self::Date | Self::Time { .. } | Self::Timestamp { .. })
    }

    /// Whether values are floats of either width.
    #[must_use]
    pub fn is_float(self) -> bool {
        self.physical() == PhysicalType::Floats
    }

    /// The type syntax that [`parse`](str::parse) accepts, for messages and help.
    pub const FORMS: &'static str = "bool, int8, int16, int32, int64 (or int), uint64, decimal(PRECISION, SCALE) or decimal(SCALE), \
         float32 (or real, float4), float64, date, time, timestamp[(s|ms|us|ns)][ with zone], string, binary, uuid, and \
         names of SQL such as bigint, double, varchar, numeric(PRECISION, SCALE)";
}

/// Why a text is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// There is no type of this name.
    #[error("unknown type '{0}' (types: {forms})", forms = LogicalType::FORMS)]
    Unknown(String),
    /// The precision or scale of a decimal is out of range.
    #[error(
        "decimal({precision}, {scale}): the precision must be between 1 and {max}, and the scale at most the precision",
        max = LogicalType::MAX_PRECISION
    )]
    Decimal {
        /// The precision.
        precision: u8,
        /// The scale.
        scale: u8,
    },
}

impl fmt::Display for LogicalType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::Int8 => f.write_str("int8"),
            Self::Int16 => f.write_str("int16"),
            Self::Int32 => f.write_str("int32"),
            Self::Int64 => f.write_str("int64"),
            Self::UInt64 => f.write_str("uint64"),
            Self::Decimal { precision, scale } => write!(f, "decimal({precision},{scale})"),
            Self::Float32 => f.write_str("float32"),
            Self::Float64 => f.write_str("float64"),
            Self::Date => f.write_str("date"),
            Self::Time { unit: TimeUnit::Microsecond } => f.write_str("time"),
            Self::Time { unit } => write!(f, "time({})", unit.symbol()),
            Self::Timestamp { unit, zone } => {
                f.write_str("timestamp")?;
                if *unit != TimeUnit::Microsecond {
                    write!(f, "({})", unit.symbol())?;
                }
                f.write_str(if *zone { " with zone" } else { "" })
            }
            Self::String => f.write_str("string"),
            Self::Binary => f.write_str("binary"),
            Self::Uuid => f.write_str("uuid"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms_round_trip() {
        for text in [
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint64",
            "decimal(18,1)",
            "decimal(38,38)",
            "float32",
            "float64",
            "date",
            "time",
            "time(ns)",
            "timestamp",
            "timestamp(s)",
            "timestamp(ms) with zone",
            "timestamp with zone",
            "string",
            "binary",
            "uuid",
        ] {
            assert_eq!(text.parse::<LogicalType>().unwrap().to_string(), text);
        }
        for (text, written) in [
            ("int", "int64"),
            ("real", "float32"),
            ("FLOAT4", "float32"),
            ("decimal(2)", "decimal(18,2)"),
            ("decimal(20)", "decimal(20,20)"),
            (" Decimal( 10 , 2 ) ", "decimal(10,2)"),
            ("timestamp (us)  with  zone", "timestamp with zone"),
        ] {
            assert_eq!(text.parse::<LogicalType>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn unknown_types_are_refused() {
        for text in ["", "floating", "int(3)", "decimal(x)", "decimal(1,2,3)", "timestamp(h)", "date with zone"] {
            assert_eq!(text.parse::<LogicalType>(), Err(TypeError::Unknown(text.to_owned())));
        }
        for (text, precision, scale) in [("decimal(0,0)", 0, 0), ("decimal(39,2)", 39, 2), ("decimal(2,3)", 2, 3)] {
            assert_eq!(text.parse::<LogicalType>(), Err(TypeError::Decimal { precision, scale }));
        }
    }

    #[test]
    fn bounds_are_those_of_the_values() {
        assert_eq!(LogicalType::Int8.bounds(), Some((-128, 127)));
        assert_eq!(LogicalType::decimal(1).bounds(), Some((1 - 10i128.pow(18), 10i128.pow(18) - 1)));
        assert!(LogicalType::decimal(1).fits_64_bits());
        assert!(!LogicalType::UInt64.fits_64_bits());
        assert!(!LogicalType::Decimal { precision: 19, scale: 0 }.fits_64_bits());
        assert_eq!(LogicalType::String.bounds(), None);
    }
}
