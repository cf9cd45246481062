//! Fast parsers for values in the usual text form. A text that they reject may still be a value.
//!
//! Digits are read eight at a time, with loads that extend beyond the value: the bytes after it are shifted out, so
//! that no step depends on the number of digits.

use crate::infer::{AsFloat, MAX_EXACT_DIGITS, as_float};
use brc_core::decimal::{FLOAT_POWERS, POWERS};
use brc_core::{LogicalType, TimeUnit, Value, calendar, float32, uuid};

/// A value, and whether it will be written differently.
pub(super) type Parsed<T> = Option<(T, bool)>;

/// The text of a value, and the text after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    /// The text from the value's first byte to the end of the buffer.
    tail: &'a [u8],
    length: usize,
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::new(bytes, bytes.len())
    }
}

impl<'a> Text<'a> {
    /// The first `length` bytes of `tail`, which must have as many.
    #[inline(always)]
    pub(super) fn new(tail: &'a [u8], length: usize) -> Self {
        Self { tail, length }
    }

    #[inline(always)]
    pub(super) fn tail(self) -> &'a [u8] {
        self.tail
    }

    #[inline(always)]
    pub(super) fn bytes(self) -> &'a [u8] {
        &self.tail[..self.length]
    }

    /// The value without its first `count` bytes, which it must have.
    #[inline(always)]
    fn skip(self, count: usize) -> Self {
        Self { tail: &self.tail[count..], length: self.length - count }
    }

    /// Whether the value starts with a minus, and the rest.
    #[inline(always)]
    fn sign(self) -> (bool, Self) {
        if self.length > 0 && self.tail[0] == b'-' { (true, self.skip(1)) } else { (false, self) }
    }

    /// The eight bytes from `at` on, in little-endian order, padded with 0 at the end of the buffer.
    #[inline(always)]
    fn word(self, at: usize) -> u64 {
        match self.tail.get(at..).and_then(<[u8]>::first_chunk) {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => self.last_word(at),
        }
    }

    #[cold]
    fn last_word(self, at: usize) -> u64 {
        let rest = self.tail.get(at..).unwrap_or_default();
        (0..).zip(rest).fold(0, |word, (index, byte)| word | u64::from(*byte) << (8 * index))
    }

    /// Parses `count` digits from `at` on; `count` is 1 to 18.
    #[inline(always)]
    fn number(self, at: usize, count: usize) -> Option<i64> {
        if count <= 8 {
            return eight(leading_zeros(self.word(at), count)).map(i64::from);
        }
        let (above, count) = (count % 8, count - count % 8);
        let mut value = if above > 0 { eight(leading_zeros(self.word(at), above))?.into() } else { 0 };
        for index in (0..count).step_by(8) {
            value = value * 100_000_000 + i64::from(eight(self.word(at + above + index) ^ ZEROS)?);
        }
        Some(value)
    }
}

/// Parses an integer without leading zeros, of at most 18 digits.
#[inline(always)]
pub(super) fn integer(text: Text<'_>) -> Parsed<i64> {
    let (negative, digits) = text.sign();
    if digits.length.wrapping_sub(1) >= 18 || (digits.tail[0] == b'0' && (negative || digits.length > 1)) {
        return None;
    }
    let value = digits.number(0, digits.length)?;
    Some((if negative { -value } else { value }, false))
}

/// Parses a decimal with at most `scale` decimals, and at most 18 digits once scaled.
#[inline(always)]
pub(super) fn decimal(text: Text<'_>, scale: u8) -> Parsed<i64> {
    let Plain { negative, whole, decimals, digits } = plain(text)?;
    let missing = usize::from(scale).checked_sub(decimals)?;
    if whole + usize::from(scale) > 18 {
        return None;
    }
    let value = digits * POWERS[missing];
    Some((if negative { -value } else { value }, missing > 0))
}

/// Parses a float of at most [`MAX_EXACT_DIGITS`] digits and no exponent, which is exact.
#[inline(always)]
pub(super) fn float(text: Text<'_>) -> Parsed<(f64, DigitCounts)> {
    let Plain { negative, whole, decimals, digits } = plain(text)?;
    if whole + decimals > MAX_EXACT_DIGITS {
        return None;
    }
    // Both operands are exact, so the quotient is the float nearest to the number.
    let value = digits as f64 / FLOAT_POWERS[decimals];
    // Smaller floats are written with an exponent.
    if value < 1e-4 && digits > 0 {
        return None;
    }
    let altered = decimals == 0 || (decimals > 1 && text.tail[text.length - 1] == b'0');
    let shape =
        DigitCounts { whole: if text.sign().1.tail[0] == b'0' { 0 } else { whole as u8 }, scale: decimals as u8 };
    Some(((if negative { -value } else { value }, shape), altered))
}

/// Parses a float that would be written identically, with any number of digits and any exponent.
pub(super) fn printed_float(text: Text<'_>) -> Parsed<(f64, DigitCounts)> {
    let bytes = text.bytes();
    let AsFloat { value, is_same_text: true, .. } = as_float(bytes)? else { return None };
    let first_digit = bytes.iter().find(|byte| **byte != b'-')?;
    let has_exponent = bytes.contains(&b'e');
    let point = bytes.iter().position(|byte| *byte == b'.').filter(|_| value.is_finite() && !has_exponent);
    let shape = point.map_or(DigitCounts { whole: 0, scale: 0 }, |point| DigitCounts {
        whole: if *first_digit == b'0' { 0 } else { (point - usize::from(bytes[0] == b'-')) as u8 },
        scale: (bytes.len() - point - 1) as u8,
    });
    Some(((value, shape), false))
}

/// Parses a 32-bit float, rounding once and not by way of 64 bits.
pub(super) fn float32(text: Text<'_>) -> Parsed<f64> {
    let bytes = text.bytes();
    let value = float32::parse(bytes).filter(|value| value.is_finite()).map(float32::widen)?;
    Some((value, is_altered(bytes, Value::Float(value), LogicalType::Float32)))
}

/// Parses a UUID.
pub(super) fn uuid(text: Text<'_>) -> Parsed<i128> {
    let bytes = text.bytes();
    let value = uuid::parse(bytes)?;
    Some((value, uuid::text(value) != *bytes))
}

fn is_altered(text: &[u8], value: Value<'_>, logical_type: LogicalType) -> bool {
    let mut written = Vec::with_capacity(32);
    value.write(logical_type, &mut written);
    written != text
}

/// The number of digits before and after the decimal point; leading zeros do not count.
#[derive(Debug, Clone, Copy)]
pub(super) struct DigitCounts {
    pub(super) whole: u8,
    pub(super) scale: u8,
}

/// A number without exponent and leading zeros.
struct Plain {
    negative: bool,
    /// The number of digits before and after the decimal point.
    whole: usize,
    decimals: usize,
    /// All digits as one integer.
    digits: i64,
}

/// Parses numbers of at most 18 digits, except negative zero.
#[inline(always)]
fn plain(text: Text<'_>) -> Option<Plain> {
    let (negative, text) = text.sign();
    let first = text.word(0);
    let whole = match point(first) {
        8 => 8 + point(text.word(8)),
        whole => whole,
    };
    let (whole, decimals) = match text.length.checked_sub(whole + 1) {
        None => (text.length, 0),
        Some(0) => return None,
        Some(decimals) if whole < 16 => (whole, decimals),
        Some(_) => return None,
    };
    if whole == 0 || whole + decimals > 18 || (first as u8 == b'0' && whole > 1) {
        return None;
    }
    let digits = if decimals == 0 {
        text.number(0, whole)?
    } else if whole + decimals <= 8 {
        let after = leading_zeros(text.word(whole + 1), decimals);
        eight(leading_zeros(first, whole) >> (8 * decimals) | after)?.into()
    } else {
        text.number(0, whole)? * POWERS[decimals] + text.number(whole + 1, decimals)?
    };
    (digits > 0 || !negative).then_some(Plain { negative, whole, decimals, digits })
}

/// Parses a date of ten bytes.
#[inline(always)]
pub(super) fn date(text: Text<'_>) -> Parsed<i64> {
    if text.length != 10 { None } else { day(text).map(|days| (days, false)) }
}

/// Parses the date in the first ten bytes.
#[inline(always)]
fn day(text: Text<'_>) -> Option<i64> {
    const DASHES: u64 = u64::from_le_bytes(*b"0000-00-");
    let (front, back) = (text.word(0) ^ DASHES, text.word(2) >> 48 ^ 0x3030);
    // After the XOR, dashes at the right positions are zero; the digits are shifted over them.
    let digits = front & 0xffff_ffff | front >> 8 & 0xffff << 32 | back << 48;
    let dashes = front & (0xff << 32 | 0xff << 56);
    if dashes != 0 || !are_digits(digits) {
        return None;
    }
    let pairs = pairs(digits);
    let pair = |index: u32| (pairs >> (16 * index) & 0xff) as u32;
    calendar::days_of((100 * pair(0) + pair(1)).into(), pair(2), pair(3))
}

/// Parses a time of day.
#[inline(always)]
pub(super) fn time(text: Text<'_>, unit: TimeUnit) -> Parsed<i64> {
    let text = text.bytes();
    let value = calendar::parse_time(text, unit)?;
    Some((value, text.len() != length_of_clock(unit)))
}

/// Parses a timestamp.
#[inline(always)]
pub(super) fn timestamp(text: Text<'_>, unit: TimeUnit, zone: bool) -> Parsed<i64> {
    let text = text.bytes();
    if !text.first()?.is_ascii_digit() {
        return None;
    }
    let value = calendar::parse_timestamp(text, unit, zone)?;
    let is_written_so = text.len() == 11 + length_of_clock(unit) + usize::from(zone)
        && text[10] == b' '
        && (!zone || text.last() == Some(&b'Z'));
    Some((value, !is_written_so))
}

/// Parses `true` or `false`.
#[inline(always)]
pub(super) fn boolean(text: Text<'_>) -> Parsed<i64> {
    match text.bytes() {
        b"true" => Some((1, false)),
        b"false" => Some((0, false)),
        _ => None,
    }
}

fn length_of_clock(unit: TimeUnit) -> usize {
    8 + if unit == TimeUnit::Second { 0 } else { 1 + unit.digits() as usize }
}

const EACH: u64 = u64::from_le_bytes([1; 8]);
const ZEROS: u64 = EACH * b'0' as u64;

/// The number of bytes of a word before the first point.
#[inline(always)]
fn point(word: u64) -> usize {
    let differences = word ^ (EACH * b'.' as u64);
    // The lowest of these bits marks the first byte without differences; higher bits may be wrong.
    (differences.wrapping_sub(EACH) & !differences & (EACH << 7)).trailing_zeros() as usize / 8
}

/// The first `count` bytes of a word, 1 to 8, as digits preceded by zeros.
#[inline(always)]
fn leading_zeros(word: u64, count: usize) -> u64 {
    (word ^ ZEROS) << (64 - 8 * count)
}

#[inline(always)]
fn are_digits(digits: u64) -> bool {
    // Adding six carries values above nine into the high half.
    (digits | digits.wrapping_add(EACH * 6)) & (EACH * 0xf0) == 0
}

/// Each pair of digits as a number, in every second byte.
#[inline(always)]
fn pairs(digits: u64) -> u64 {
    digits.wrapping_mul(10).wrapping_add(digits >> 8)
}

/// Parses eight digits, the first one in the lowest byte, by adding pairs, then pairs of pairs.
#[inline(always)]
fn eight(digits: u64) -> Option<u32> {
    const EVERY_FOURTH: u64 = 0x0000_00ff_0000_00ff;
    let pairs = pairs(digits);
    let high = (pairs & EVERY_FOURTH).wrapping_mul(100 + (1_000_000 << 32));
    let low = (pairs >> 16 & EVERY_FOURTH).wrapping_mul(1 + (10_000 << 32));
    are_digits(digits).then_some((high.wrapping_add(low) >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::Seen;
    use proptest::prelude::*;

    /// A fast parser must agree with the slow one.
    fn check(text: &str, logical_type: LogicalType, found: Parsed<i64>) {
        let Some((value, altered)) = found else { return };
        let expected = Value::parse(text.as_bytes(), logical_type);
        assert_eq!(expected, Ok(Value::Integer(value.into())), "{text} as {logical_type}");
        assert_eq!(expected.unwrap().to_text(logical_type) != text, altered, "{text} as {logical_type}");
    }

    #[test]
    fn usual_values_are_parsed() {
        assert_eq!(integer(text("-123456789012345678")), Some((-123_456_789_012_345_678, false)));
        assert_eq!(decimal(text("-12345678.9"), 2), Some((-1_234_567_890, true)));
        assert_eq!(decimal(text("123456789.123456789"), 9), Some((123_456_789_123_456_789, false)));
        assert_eq!(date(text("1969-12-31")), Some((-1, false)));
        assert_eq!(float(text("-23.456789")).map(|((value, _), altered)| (value, altered)), Some((-23.456789, false)));
        for odd in ["", "-", "-0", "01", "1x", "1234567x", "12345678x", "1234567890123456789"] {
            assert_eq!(integer(text(odd)), None, "{odd}");
        }
        for odd in ["", "1.", ".5", "1.234", "00.1", "1.x", "-0.0", "12345678901234567.8"] {
            assert_eq!(decimal(text(odd), 2), None, "{odd}");
        }
        for odd in ["1969-12+31", "1969+12-31", "1969-12-3x", "1969-12-32", "1969-12-310"] {
            assert_eq!(date(text(odd)), None, "{odd}");
        }
    }

    fn text(value: &str) -> Text<'_> {
        value.as_bytes().into()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn fast_parsers_agree_with_the_slow_one(
            value in prop_oneof![crate::infer::tests::values(), "-?0\\.0{0,5}[0-9]{1,3}"],
            after in "[,.0-9-]{0,20}",
            scale in 0u8..=18,
            unit in 0usize..4,
            zone: bool,
        ) {
            let unit = TimeUnit::ALL[unit];
            let tail = value.clone() + &after;
            let text = Text::new(tail.as_bytes(), value.len());
            check(&value, LogicalType::Int64, integer(text));
            check(&value, LogicalType::decimal(scale), decimal(text, scale));
            check(&value, LogicalType::Date, date(text));
            check(&value, LogicalType::Time { unit }, time(text, unit));
            check(&value, LogicalType::Timestamp { unit, zone }, timestamp(text, unit, zone));
            check(&value, LogicalType::Bool, boolean(text));
            if let Some(((float, shape), altered)) = float(text).or_else(|| printed_float(text)) {
                let expected = Value::parse(value.as_bytes(), LogicalType::Float64).unwrap();
                prop_assert_eq!(format!("{expected:?}"), format!("{:?}", Value::Float(float)));
                prop_assert_eq!(Value::Float(float).to_text(LogicalType::Float64) != value, altered);
                let of_column = [Seen::of(value.as_bytes()), Seen::of_digits(shape.whole, shape.scale)]
                    .map(|seen| Seen::of(b"1e300").join(Seen::of(b"0.125")).join(seen).logical_type(altered));
                prop_assert_eq!(of_column[0], if altered { Some(LogicalType::String) } else { of_column[1] });
            }
        }
    }
}
