//! Accessors for the values of logical types, for encodings of rows: they match on the type, and read the value as that
//! type stores it.

use brc_core::{LogicalType, TimeUnit, Value, uuid};

/// The integer of a value whose type is stored as integers.
pub(crate) fn integer(value: Value<'_>) -> i128 {
    match value {
        Value::Integer(integer) => integer,
        Value::Float(_) | Value::Bytes(_) => 0,
    }
}

/// The same for a type that fits 64 bits.
pub(crate) fn integer_64(value: Value<'_>) -> i64 {
    integer(value) as i64
}

/// The float of a value whose type is stored as floats.
pub(crate) fn float(value: Value<'_>) -> f64 {
    match value {
        Value::Float(float) => float,
        Value::Integer(_) | Value::Bytes(_) => 0.0,
    }
}

/// The bytes of a value whose type is stored as byte strings.
pub(crate) fn bytes(value: Value<'_>) -> &[u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        Value::Integer(_) | Value::Float(_) => &[],
    }
}

/// A UUID from its 16 bytes, or from its text.
pub(crate) fn uuid(bytes: &[u8]) -> Option<i128> {
    bytes.try_into().ok().map(uuid::from_bytes).or_else(|| uuid::parse(bytes))
}

/// Whether values are numbers of at most 64 bits, as most values of most tables are: encodings have fast paths for
/// them.
pub(crate) fn is_short_number(logical_type: LogicalType) -> bool {
    logical_type.is_numeric() && logical_type.fits_64_bits()
}

/// An integer as a float, if that is exact: other programs write `1` for 1.0.
pub(crate) fn float_of(integer: i128) -> Option<f64> {
    (integer.unsigned_abs() <= 1 << 53).then_some(integer as f64)
}

/// Nanoseconds per second.
const NANOS: i64 = 1_000_000_000;

/// A timestamp as whole seconds and remaining nanoseconds.
pub(crate) fn seconds_and_nanos(units: i64, unit: TimeUnit) -> (i64, u32) {
    let per_second = unit.per_second();
    (units.div_euclid(per_second), (units.rem_euclid(per_second) * (NANOS / per_second)) as u32)
}

/// A timestamp from seconds and nanoseconds, if it is a whole number of its unit.
pub(crate) fn from_seconds(seconds: i64, nanos: u32, unit: TimeUnit) -> Option<i128> {
    let per_second = unit.per_second();
    let (nanos, of_unit) = (i64::from(nanos), NANOS / per_second);
    (nanos < NANOS && nanos % of_unit == 0)
        .then(|| i128::from(seconds) * i128::from(per_second) + i128::from(nanos / of_unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_seconds_and_nanoseconds() {
        for unit in TimeUnit::ALL {
            for units in [0, 1, -1, 999, -1000, 1_700_000_000_123, i64::MIN, i64::MAX] {
                let (seconds, nanos) = seconds_and_nanos(units, unit);
                assert_eq!(from_seconds(seconds, nanos, unit), Some(units.into()), "{units} {unit:?}");
            }
        }
        assert_eq!(from_seconds(0, 1, TimeUnit::Microsecond), None);
        assert_eq!(from_seconds(0, 1_000_000_000, TimeUnit::Nanosecond), None);
    }

    #[test]
    fn only_exact_integers_become_floats() {
        assert_eq!(float_of(-(1 << 53)), Some(-9_007_199_254_740_992.0));
        assert_eq!(float_of((1 << 53) + 1), None);
    }
}
