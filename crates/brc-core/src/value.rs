//! Single values and their text form, used by row-based encodings and messages.

use crate::batch::{Column, Data};
use crate::calendar;
use crate::decimal;
use crate::error::RowFault;
use crate::float32;
use crate::logical_type::LogicalType;
use crate::uuid;

/// A value of any type that is not null, in its physical type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// A value of an integer type; decimals are in units of their scale.
    Integer(i128),
    /// A float; 32-bit floats are widened by [`float32::widen`].
    Float(f64),
    /// The bytes of a string.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The value of a row of a column; `None` if it is null. Meant for few rows: each call matches on the column's
    /// type.
    ///
    /// # Panics
    /// If the row is out of bounds.
    #[must_use]
    pub fn of_row(column: &Column<'a>, row: usize) -> Option<Self> {
        if !column.is_valid(row) {
            return None;
        }
        Some(match column.data {
            Data::Codes { codes, dictionary } => Self::Bytes(dictionary.get(codes[row])),
            Data::Runs { runs, dictionary } => {
                let mut left = row;
                let mut of_row = runs.iter().filter(|run| {
                    let here = left < run.rows as usize;
                    left = left.wrapping_sub(run.rows as usize);
                    here
                });
                Self::Bytes(of_row.next().map_or(&[], |run| dictionary.get(run.code)))
            }
            Data::Bytes(strings) => Self::Bytes(strings.get(row)),
            Data::Integers(values) => Self::Integer(values.get(row)),
            Data::Floats(values) => Self::Float(values[row]),
        })
    }

    /// Parses the text form of a value: that of [`Value::write`] and common variants (`TRUE`, `t`, `1.5` for a scale of
    /// 2, `T` between date and time).
    ///
    /// # Errors
    /// If the text is malformed or out of range for the type.
    pub fn parse(text: &'a [u8], logical_type: LogicalType) -> Result<Self, RowFault> {
        let malformed = || RowFault::MalformedValue { text: RowFault::quote(text), expected: logical_type };
        let integer = |value: Option<i64>| value.map(|value| Self::Integer(value.into())).ok_or_else(malformed);
        let value = match logical_type {
            LogicalType::Bool => Self::Integer(truth(text).ok_or_else(malformed)?.into()),
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. } => Self::Integer(decimal::parse_wide(text, logical_type.scale())?),
            LogicalType::Float32 => match float32::parse(text) {
                Some(value) if value.is_finite() || !text.iter().any(u8::is_ascii_digit) => {
                    Self::Float(float32::widen(value))
                }
                Some(_) => {
                    return Err(RowFault::OutOfRange { text: RowFault::quote(text), expected: logical_type });
                }
                None => return Err(malformed()),
            },
            LogicalType::Float64 => Self::Float(parse_float(text).ok_or_else(malformed)?),
            LogicalType::Date => integer(calendar::parse_date(text))?,
            LogicalType::Time { unit } => integer(calendar::parse_time(text, unit))?,
            LogicalType::Timestamp { unit, zone } => integer(calendar::parse_timestamp(text, unit, zone))?,
            LogicalType::String => Self::Bytes(text),
            LogicalType::Binary => Self::Bytes(text),
            LogicalType::Uuid => Self::Integer(uuid::parse(text).ok_or_else(malformed)?),
        };
        value
            .check(logical_type)
            .map_err(|()| RowFault::OutOfRange { text: RowFault::quote(text), expected: logical_type })
    }

    /// Returns the value if the type holds it: integers within its bounds, 32-bit floats that are exact.
    ///
    /// # Errors
    /// If the type does not hold the value.
    #[allow(clippy::result_unit_err)]
    pub fn check(self, logical_type: LogicalType) -> Result<Self, ()> {
        match (self, logical_type.bounds()) {
            (Self::Integer(value), Some((min, max))) if (min..=max).contains(&value) => Ok(self),
            (Self::Integer(_), _) | (_, Some(_)) => Err(()),
            (Self::Float(value), None) if logical_type == LogicalType::Float32 => {
                float32::narrow(value).map(|_| self).ok_or(())
            }
            (Self::Float(_) | Self::Bytes(_), None) => Ok(self),
        }
    }

    /// Appends the text form of a value of that type. Strings are appended unchanged.
    pub fn write(self, logical_type: LogicalType, out: &mut Vec<u8>) {
        match self {
            Self::Bytes(bytes) => out.extend_from_slice(bytes),
            Self::Float(value) if logical_type == LogicalType::Float32 => float32::write(value, out),
            Self::Float(value) => write_float(value, out),
            Self::Integer(value) => write_integer(value, logical_type, out),
        }
    }

    /// The text form, for messages.
    #[must_use]
    pub fn to_text(self, logical_type: LogicalType) -> String {
        let mut out = Vec::new();
        self.write(logical_type, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn write_integer(value: i128, logical_type: LogicalType, out: &mut Vec<u8>) {
    // Checked dates and times always fit 64 bits.
    let narrow = i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
    match logical_type {
        LogicalType::Bool => out.extend_from_slice(if value == 0 { b"false" } else { b"true" }),
        LogicalType::Date => calendar::write_date(narrow, out),
        LogicalType::Time { unit } => calendar::write_time(narrow, unit, out),
        LogicalType::Timestamp { unit, zone } => calendar::write_timestamp(narrow, unit, zone, out),
        LogicalType::Uuid => out.extend_from_slice(&uuid::text(value)),
        LogicalType::Int8
        | LogicalType::Int16
        | LogicalType::Int32
        | LogicalType::Int64
        | LogicalType::UInt64
        | LogicalType::Decimal { .. }
        | LogicalType::Float32
        | LogicalType::Float64
        | LogicalType::String
        | LogicalType::Binary => decimal::format(value, logical_type.scale(), out),
    }
}

/// What a text says of a condition, as in PostgreSQL.
fn truth(text: &[u8]) -> Option<bool> {
    const WORDS: [[&str; 2]; 6] = [["false", "true"], ["f", "t"], ["no", "yes"], ["n", "y"], ["off", "on"], ["0", "1"]];
    let is_it = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    WORDS.iter().find_map(|words| words.iter().position(|word| is_it(word))).map(|position| position == 1)
}

/// Parses a float: digits with an optional point and exponent, `inf`, `infinity` or `nan`, with an optional sign.
fn parse_float(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Appends the shortest text that reads back as the same float; `NaN`, `inf`, `-inf`. The sign and payload of a NaN are
/// not written.
pub fn write_float(value: f64, out: &mut Vec<u8>) {
    if let Some(millionths) = in_millionths(value) {
        decimal::format_trimmed(millionths.into(), MILLIONTHS, out);
    } else if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        // Exponents have Rust's form: `1e300`, and from `9e-5` down.
        out.extend_from_slice(zmij::Buffer::new().format(value).as_bytes());
    } else {
        out.extend_from_slice(format!("{value:?}").as_bytes());
    }
}

/// The scale of millionths.
const MILLIONTHS: u8 = 6;

/// The float as an integer number of millionths, if it is the nearest float to that number and the number has up to 15
/// digits. No other decimal of up to 15 digits is nearest to the same float, so this one is the shortest.
fn in_millionths(value: f64) -> Option<i64> {
    const LIMIT: f64 = 1e15;
    let scaled = value * 1e6;
    if !(1e2..LIMIT).contains(&scaled.abs()) {
        return None;
    }
    let millionths = scaled.round_ties_even();
    (millionths / 1e6 == value && millionths.abs() < LIMIT).then_some(millionths as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{ByteStrings, Integers, Run};
    use crate::bitmap::Bitmap;
    use crate::dictionary::Dictionary;
    use crate::logical_type::TimeUnit;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn floats_are_written_in_their_shortest_form(number: i64, decimals in 0i32..9, bits in 0u32..60) {
            let value = (number >> bits) as f64 / 10f64.powi(decimals);
            for value in [value, f64::from_bits(value.to_bits() + 1), f64::from_bits(number as u64)] {
                let mut out = Vec::new();
                write_float(value, &mut out);
                let expected = match value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
                    true => zmij::Buffer::new().format(value).to_owned(),
                    false => format!("{value:?}"),
                };
                prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }

    fn text(value: Value<'_>, logical_type: LogicalType) -> String {
        value.to_text(logical_type)
    }

    #[test]
    fn values_have_text_forms() {
        for (logical_type, written) in [
            ("bool", "true"),
            ("int8", "-128"),
            ("uint64", "18446744073709551615"),
            ("decimal(38,2)", "-999999999999999999999999999999999999.99"),
            ("float32", "1.1"),
            ("float32", "3.4028235e38"),
            ("float32", "1e-45"),
            ("float32", "-0.0"),
            ("float32", "NaN"),
            ("float32", "-inf"),
            ("uuid", "00000000-0000-0000-0000-000000000000"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000"),
            ("uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            ("float64", "1e300"),
            ("float64", "-0.0"),
            ("float64", "NaN"),
            ("float64", "-inf"),
            ("date", "2024-02-29"),
            ("time(ms)", "23:59:59.999"),
            ("timestamp(s) with zone", "2024-02-29 00:00:00Z"),
            ("string", " as it is "),
            ("binary", "\u{1}\u{0}"),
        ] {
            let logical_type = logical_type.parse().unwrap();
            let value = Value::parse(written.as_bytes(), logical_type).unwrap();
            assert_eq!(text(value, logical_type), written);
        }
    }

    #[test]
    fn booleans_are_written_as_in_postgresql() {
        for (words, expected) in [(["true", "T", "Yes", "y", "ON", "1"], 1), (["FALSE", "f", "no", "N", "off", "0"], 0)]
        {
            for word in words {
                assert_eq!(Value::parse(word.as_bytes(), LogicalType::Bool), Ok(Value::Integer(expected)), "{word}");
            }
        }
    }

    #[test]
    fn values_outside_their_type_are_refused() {
        for (logical_type, written) in [
            ("int8", "128"),
            ("float32", "3.5e38"),
            ("uint64", "-1"),
            ("decimal(3,1)", "100.0"),
            ("int64", "9223372036854775808"),
        ] {
            let fault = Value::parse(written.as_bytes(), logical_type.parse().unwrap()).unwrap_err();
            assert!(matches!(fault, RowFault::OutOfRange { .. }), "{fault}");
        }
        for (logical_type, written) in [
            ("bool", "maybe"),
            ("bool", "2"),
            ("date", "2024-02-30"),
            ("float64", "1,5"),
            ("float32", "x"),
            ("time", ""),
            ("uuid", "123e4567-e89b-12d3-a456-42661417400"),
        ] {
            let fault = Value::parse(written.as_bytes(), logical_type.parse().unwrap()).unwrap_err();
            assert!(matches!(fault, RowFault::MalformedValue { .. }), "{fault}");
        }
        assert!(matches!(Value::parse(b"1.5", LogicalType::Int64), Err(RowFault::TooManyDecimals { .. })));
    }

    #[test]
    fn of_row_reads_every_kind_of_column() {
        let dictionary: Dictionary = ["a", "b"].into_iter().collect();
        let runs = [Run { code: 1, rows: 2 }, Run { code: 0, rows: 1 }];
        let validity = Bitmap::new(&[0b101], 0, 3);
        for (data, first, last) in [
            (Data::Codes { codes: &[1, 1, 0], dictionary: &dictionary }, Value::Bytes(b"b"), Value::Bytes(b"a")),
            (Data::Runs { runs: &runs, dictionary: &dictionary }, Value::Bytes(b"b"), Value::Bytes(b"a")),
            (Data::Bytes(ByteStrings::new(&[0, 1, 1, 2], b"xy")), Value::Bytes(b"x"), Value::Bytes(b"y")),
            (Data::Integers(Integers::I8(&[1, 2, 3])), Value::Integer(1), Value::Integer(3)),
            (Data::Floats(&[1.5, 2.5, 3.5]), Value::Float(1.5), Value::Float(3.5)),
        ] {
            let column = Column::from(data).with_validity(Some(validity));
            let rows: Vec<_> = (0..3).map(|row| Value::of_row(&column, row)).collect();
            assert_eq!(rows, [Some(first), None, Some(last)]);
        }
    }

    proptest! {
        #[test]
        fn floats_round_trip(any: f64, digits in -9_999i32..9_999, exponent in -25i32..25) {
          for value in [any, f64::from(digits) * 10f64.powi(exponent), f64::from(digits), f64::INFINITY, -f64::NAN] {
            let written = text(Value::Float(value), LogicalType::Float64);
            // Of two equally near shortest forms, either may be written.
            prop_assert_eq!(written.len(), format!("{value:?}").len());
            let Value::Float(back) = Value::parse(written.as_bytes(), LogicalType::Float64).unwrap() else { panic!() };
            prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
          }
        }

        #[test]
        fn integers_round_trip(value: i128, index in 0usize..10) {
            let types = [
                LogicalType::Int8,
                LogicalType::Int16,
                LogicalType::Int32,
                LogicalType::Int64,
                LogicalType::UInt64,
                LogicalType::decimal(4),
                LogicalType::Decimal { precision: 38, scale: 20 },
                LogicalType::Bool,
                LogicalType::Date,
                LogicalType::Time { unit: TimeUnit::Nanosecond },
            ];
            let (min, max) = types[index].bounds().unwrap();
            let value = Value::Integer((value % (max + 1)).max(min));
            let written = text(value, types[index]);
            prop_assert_eq!(Value::parse(written.as_bytes(), types[index]), Ok(value), "{}", written);
        }
    }
}
