//! Values as nearly all are written. What these functions do not know may still be a value.

use brc_core::{TimeUnit, calendar};

/// A value, and whether it is written in another way than it stands here.
pub(super) type Parsed<T> = Option<(T, bool)>;

/// An integer without leading zeros, of at most 18 digits.
#[inline]
pub(super) fn integer(text: &[u8]) -> Parsed<i64> {
    let (negative, digits) = sign(text);
    let value = canonical(digits)?;
    // Not `-0`, which would come back as `0`.
    if negative && value == 0 {
        return None;
    }
    Some((if negative { -value } else { value }, false))
}

/// A decimal with at most `scale` decimals and 18 digits with all of these.
#[inline]
pub(super) fn decimal(text: &[u8], scale: u8) -> Parsed<i64> {
    let (negative, digits) = sign(text);
    let point = digits.iter().position(|&byte| byte == b'.').unwrap_or(digits.len());
    let whole = canonical(&digits[..point])?;
    let decimals = digits.get(point + 1..).unwrap_or_default();
    let missing = usize::from(scale).checked_sub(decimals.len())?;
    if (point < digits.len() && decimals.is_empty()) || point + usize::from(scale) > 18 {
        return None;
    }
    let fraction = if decimals.is_empty() { 0 } else { number(decimals)? };
    let value = whole * 10i64.pow(scale.into()) + fraction * 10i64.pow(missing as u32);
    if negative && value == 0 {
        return None;
    }
    Some((if negative { -value } else { value }, missing > 0))
}

/// A date of ten bytes.
#[inline]
pub(super) fn date(text: &[u8]) -> Parsed<i64> {
    let &[a, b, c, d, b'-', m, n, b'-', s, t] = text else { return None };
    let digits = u64::from_le_bytes([a, b, c, d, m, n, s, t]);
    let all = eight(digits)?;
    let days = calendar::days_of(i64::from(all / 10_000), all / 100 % 100, all % 100)?;
    Some((days, false))
}

/// A time of day.
#[inline]
pub(super) fn time(text: &[u8], unit: TimeUnit) -> Parsed<i64> {
    let value = calendar::parse_time(text, unit)?;
    Some((value, text.len() != length_of_clock(unit)))
}

/// A timestamp.
#[inline]
pub(super) fn timestamp(text: &[u8], unit: TimeUnit, zone: bool) -> Parsed<i64> {
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    let value = calendar::parse_timestamp(text, unit, zone)?;
    let is_written_so = text.len() == 11 + length_of_clock(unit) + usize::from(zone)
        && text[10] == b' '
        && (!zone || text.last() == Some(&b'Z'));
    Some((value, !is_written_so))
}

/// `true` or `false`.
#[inline]
pub(super) fn boolean(text: &[u8]) -> Parsed<i64> {
    match text {
        b"true" => Some((1, false)),
        b"false" => Some((0, false)),
        _ => None,
    }
}

fn length_of_clock(unit: TimeUnit) -> usize {
    8 + if unit == TimeUnit::Second { 0 } else { 1 + unit.digits() as usize }
}

#[inline]
fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        _ => (false, text),
    }
}

/// Digits without leading zeros.
#[inline]
fn canonical(digits: &[u8]) -> Option<i64> {
    match digits {
        [] => None,
        [b'0', _, ..] => None,
        _ => number(digits),
    }
}

/// Up to 18 digits, at least one.
#[inline]
fn number(digits: &[u8]) -> Option<i64> {
    if digits.len() > 18 {
        return None;
    }
    let (chunks, rest) = digits.as_chunks::<8>();
    let mut value = 0;
    for chunk in chunks {
        value = value * 100_000_000 + i64::from(eight(u64::from_le_bytes(*chunk))?);
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// Eight digits, the first one in the lowest byte: added up in pairs, then in pairs of those.
#[inline]
fn eight(digits: u64) -> Option<u32> {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    const HIGH: u64 = u64::from_le_bytes([0xf0; 8]);
    let digits = digits ^ ZEROS;
    // Adding six carries what is above nine into the high half.
    if (digits | digits.wrapping_add(u64::from_le_bytes([6; 8]))) & HIGH != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    const EVERY_FOURTH: u64 = 0x0000_00ff_0000_00ff;
    let high = (pairs & EVERY_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & EVERY_FOURTH).wrapping_mul(1 + (10_000 << 32));
    Some((high.wrapping_add(low) >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::{LogicalType, Value};
    use proptest::prelude::*;

    /// What a fast parser says must be what values are.
    fn check(text: &str, logical_type: LogicalType, found: Parsed<i64>) {
        let Some((value, altered)) = found else { return };
        let expected = Value::parse(text.as_bytes(), logical_type);
        assert_eq!(expected, Ok(Value::Integer(value.into())), "{text} as {logical_type}");
        assert_eq!(expected.unwrap().to_text(logical_type) != text, altered, "{text} as {logical_type}");
    }

    #[test]
    fn usual_values_are_known() {
        assert_eq!(integer(b"-123456789012345678"), Some((-123_456_789_012_345_678, false)));
        assert_eq!(decimal(b"-12345678.9", 2), Some((-1_234_567_890, true)));
        assert_eq!(date(b"1969-12-31"), Some((-1, false)));
        for text in ["", "-", "-0", "01", "1x", "1234567x", "12345678x", "1234567890123456789"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
        for text in ["", "1.", ".5", "1.234", "00.1", "1.x", "-0.0", "12345678901234567.8"] {
            assert_eq!(decimal(text.as_bytes(), 2), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn fast_is_right(text in crate::infer::tests::values(), scale in 0u8..=18, unit in 0usize..4, zone: bool) {
            let (bytes, unit) = (text.as_bytes(), TimeUnit::ALL[unit]);
            check(&text, LogicalType::Int64, integer(bytes));
            check(&text, LogicalType::decimal(scale), decimal(bytes, scale));
            check(&text, LogicalType::Date, date(bytes));
            check(&text, LogicalType::Time { unit }, time(bytes, unit));
            check(&text, LogicalType::Timestamp { unit, zone }, timestamp(bytes, unit, zone));
            check(&text, LogicalType::Bool, boolean(bytes));
        }
    }
}
