//! Requirements of values that already have a type, so that typed columns are joined by the rules of inference.

use super::numbers::{EXACT_UNITS, integer_flags};
use super::{DATE, FLOAT, INSTANT, NUMBER, Seen, TIME, TIMESTAMP};
use brc_core::decimal::FLOAT_POWERS;
use brc_core::{LogicalType, TimeUnit, calendar};

/// All integers of at most this magnitude are exact as floats.
const MAX_EXACT_INTEGER: u128 = 1 << 53;

impl Seen {
    /// What values of a type require that lie within these bounds, in units of the type; all values of the type if
    /// there are no bounds.
    #[must_use]
    pub fn of_type(logical_type: LogicalType, bounds: Option<(i128, i128)>) -> Self {
        let (min, max) = bounds.or_else(|| logical_type.bounds()).unwrap_or_default();
        let of_unit = |flags: u32, unit: TimeUnit| {
            let unit = TimeUnit::ALL.iter().position(|known| *known == unit).unwrap_or_default() as u8;
            Self { flags, unit, least_unit: unit, ..Self::NOTHING }
        };
        let [earliest, latest] = [min, max].map(|bound| bound.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
        match logical_type {
            LogicalType::Bool => Self::BOOL,
            LogicalType::Int8
            | LogicalType::Int16
            | LogicalType::Int32
            | LogicalType::Int64
            | LogicalType::UInt64
            | LogicalType::Decimal { .. } => of_numbers(min, max, logical_type.scale()),
            LogicalType::Float32 | LogicalType::Float64 => Self { flags: FLOAT, ..Self::NOTHING },
            LogicalType::Date => {
                let seconds = [earliest, latest].map(|days| days.saturating_mul(calendar::DAY_SECONDS));
                Self { flags: DATE, ..Self::of_times(seconds[0], seconds[1], TimeUnit::Second) }
            }
            LogicalType::Time { unit } => of_unit(TIME, unit),
            LogicalType::Timestamp { unit, zone } => {
                let seen = of_unit(if zone { INSTANT } else { TIMESTAMP }, unit);
                let Self { too_short, .. } = Self::of_times(earliest, latest, unit);
                // The values fit their own unit, even those near the bounds of 64 bits.
                Self { too_short: too_short.min(3 - seen.unit), ..seen }
            }
            LogicalType::String | LogicalType::Binary | LogicalType::Uuid => Self::TEXT,
        }
    }
}

/// What decimals within these bounds require.
fn of_numbers(min: i128, max: i128, scale: u8) -> Seen {
    let most = min.unsigned_abs().max(max.unsigned_abs());
    let is_exact = match scale {
        0 => most <= MAX_EXACT_INTEGER,
        _ => most < EXACT_UNITS && usize::from(scale) < FLOAT_POWERS.len(),
    };
    let flags = if scale == 0 { [min, max].map(|bound| integer_flags(bound < 0, Some(bound))) } else { [0, 0] };
    let of_kind = Seen { flags: NUMBER | flags[0] | flags[1], scale, least_scale: scale, ..Seen::NOTHING };
    let seen = of_kind.join(Seen::of_range(min, max, scale));
    if is_exact { seen } else { seen.join(Seen::inexact()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Value;
    use proptest::prelude::*;

    /// The type that a text of all these columns has.
    fn joined(columns: &[(&str, Option<(i128, i128)>)]) -> String {
        let of = |(logical_type, bounds): &(&str, _)| Seen::of_type(logical_type.parse().unwrap(), *bounds);
        let seen = columns.iter().map(of).fold(Seen::NOTHING, Seen::join);
        seen.logical_type(false).unwrap().to_string()
    }

    #[test]
    fn types_without_bounds_hold_all_values_of_each() {
        for (one, other, expected) in [
            ("int8", "int64", "int64"),
            ("int8", "uint64", "decimal(38,0)"),
            ("int64", "decimal(6,2)", "decimal(38,2)"),
            ("int32", "decimal(6,2)", "decimal(18,2)"),
            ("decimal(6,2)", "decimal(8,1)", "decimal(18,2)"),
            ("decimal(38,2)", "decimal(6,3)", "string"),
            ("int32", "float64", "float64"),
            ("int64", "float64", "string"),
            ("decimal(15,3)", "float32", "float64"),
            ("decimal(16,3)", "float64", "string"),
            ("decimal(15,15)", "float64", "float64"),
            ("decimal(16,16)", "float64", "string"),
            ("date", "timestamp(s)", "timestamp(s)"),
            ("date", "timestamp(ms)", "timestamp(ms)"),
            ("date", "timestamp", "string"),
            ("timestamp(s)", "timestamp(ms)", "string"),
            ("timestamp(s)", "timestamp(s) with zone", "string"),
            ("time(s)", "time(ns)", "time(ns)"),
            ("bool", "int8", "string"),
            ("date", "time", "string"),
            ("string", "int8", "string"),
            ("uuid", "decimal(38,0)", "string"),
        ] {
            assert_eq!(joined(&[(one, None), (other, None)]), expected, "{one} and {other}");
            assert_eq!(joined(&[(other, None), (one, None)]), expected, "{other} and {one}");
        }
    }

    #[test]
    fn bounds_make_types_narrower() {
        let (year, day) = (Some((0, 1_000_000_000)), Some((0, 20_000)));
        for (one, other, expected) in [
            (("int64", Some((-5, 999))), ("decimal(6,2)", None), "decimal(18,2)"),
            (("int64", Some((0, 10i128.pow(16)))), ("decimal(6,2)", None), "decimal(38,2)"),
            (("uint64", Some((0, 5))), ("int8", None), "int64"),
            (("int64", Some((-(1 << 53), 1 << 53))), ("float64", None), "float64"),
            (("int64", Some((0, (1 << 53) + 1))), ("float64", None), "string"),
            (("decimal(18,2)", Some((-EXACT_1, EXACT_1))), ("float64", None), "float64"),
            (("decimal(18,2)", Some((-EXACT_1 - 1, 0))), ("float64", None), "string"),
            (("timestamp(s)", year), ("timestamp(ns)", None), "timestamp(ns)"),
            (("date", day), ("timestamp(ns)", year), "timestamp(ns)"),
        ] {
            assert_eq!(joined(&[one, other]), expected, "{one:?} and {other:?}");
        }
    }

    const EXACT_1: i128 = EXACT_UNITS as i128 - 1;

    proptest! {
        /// The requirements of bounds are those of the texts of the values.
        #[test]
        fn bounds_require_what_their_texts_require(
            index in 0usize..13,
            numbers in prop::array::uniform2((any::<i64>(), 0u32..63)),
            other in prop::sample::select(vec!["0", "1.5", "-3.25", "1e5", "2024-02-29", "2024-02-29 12:30:00.5", "x"]),
        ) {
            let names = [
                "int8", "int32", "int64", "uint64", "decimal(18,2)", "decimal(38,5)", "date", "time(ms)",
                "timestamp(s)", "timestamp(ms)", "timestamp(ns)", "timestamp(s) with zone", "bool",
            ];
            let logical_type: LogicalType = names[index].parse().unwrap();
            let (least, most) = match logical_type {
                // Years have four digits in texts.
                LogicalType::Date => (-719_162, 2_932_896),
                LogicalType::Timestamp { unit, .. } => {
                    let second = i128::from(unit.per_second());
                    (-62_135_596_800 * second, 253_402_300_799 * second)
                }
                _ => logical_type.bounds().unwrap(),
            };
            let narrow = |bound: i128| bound.clamp(i64::MIN.into(), i64::MAX.into());
            let (least, most) = (narrow(least), narrow(most));
            let value = |(number, shift): (i64, u32)| least.max(most.min(i128::from(number >> shift)));
            let [a, b] = numbers.map(value);
            let of_type = Seen::of_type(logical_type, Some((a.min(b), a.max(b))));
            let text = |value: i128| Value::Integer(value).to_text(logical_type);
            let of_texts = Seen::of(text(a).as_bytes()).join(Seen::of(text(b).as_bytes()));
            let other = Seen::of(other.as_bytes());
            let [typed, inferred] = [of_type, of_texts].map(|seen| seen.join(other).logical_type(false).unwrap());
            // Some numbers of more than 15 digits are exact as floats.
            if typed != LogicalType::String || inferred != LogicalType::Float64 {
                prop_assert_eq!(typed, inferred, "{} {} {:?}", text(a), text(b), logical_type);
            }
        }
    }
}
