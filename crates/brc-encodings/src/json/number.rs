//! Parses JSON numbers as exact scaled integers.

use brc_core::RowFault;

/// A parsed JSON number: `digits / 10^decimals`.
struct Parts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// The number of decimals after applying the exponent and dropping trailing zeros; negative if zeros are missing
    /// before the point.
    decimals: i64,
    /// The number of significant digits, from the first one on.
    digits: usize,
}

/// Parses a valid JSON number as an integer scaled by ten to the power of `scale`, if that is exact: `12.3`, `12.30`
/// and `123e-1` at scale 1 are all 123.
///
/// # Errors
/// If it has too many decimals, or does not fit 64 bits.
pub(super) fn parse(text: &[u8], scale: u8) -> Result<i64, RowFault> {
    let too_large = || RowFault::NumberTooLarge(RowFault::quote(text), i64::BITS);
    match parse_wide(text, scale) {
        Ok(number) => i64::try_from(number).map_err(|_| too_large()),
        Err(RowFault::NumberTooLarge(..)) => Err(too_large()),
        Err(fault) => Err(fault),
    }
}

/// The same for 128-bit integers.
///
/// # Errors
/// As for [`parse`], with 128 bits.
pub(super) fn parse_wide(text: &[u8], scale: u8) -> Result<i128, RowFault> {
    let quote = || RowFault::quote(text);
    let parts = Parts::of(text);
    let mut digits = parts.significant().peekable();
    if digits.peek().is_none() {
        return Ok(0);
    }
    let Ok(zeros) = usize::try_from(i64::from(scale).saturating_sub(parts.decimals)) else {
        return Err(RowFault::TooManyDecimals { text: quote(), scale });
    };
    let too_large = || RowFault::NumberTooLarge(quote(), i128::BITS);
    // The negative range is larger by one, so the value is accumulated negated. A significant digit precedes the zeros,
    // so the number overflows soon, however many they are.
    let negated = digits
        .chain(std::iter::repeat_n(0, zeros))
        .try_fold(0i128, |value, digit| value.checked_mul(10)?.checked_sub(digit.into()))
        .ok_or_else(too_large)?;
    if parts.negative { Ok(negated) } else { negated.checked_neg().ok_or_else(too_large) }
}

impl<'a> Parts<'a> {
    fn of(text: &'a [u8]) -> Self {
        let (mantissa, exponent) = split_at(text, |byte| matches!(byte, b'e' | b'E'));
        let (negative, mantissa) = mantissa.strip_prefix(b"-").map_or((false, mantissa), |rest| (true, rest));
        let (whole, fraction) = split_at(mantissa, |byte| byte == b'.');
        let all = whole.len() + fraction.len();
        let zeros = fraction.iter().rev().chain(whole.iter().rev()).take_while(|&&digit| digit == b'0').count();
        let decimals = (fraction.len() as i64 - zeros as i64).saturating_sub(saturating(exponent));
        let decimals = if zeros == all { 0 } else { decimals };
        Self { negative, whole, fraction, decimals, digits: all - zeros }
    }

    /// The digits without leading and trailing zeros.
    fn significant(&self) -> impl Iterator<Item = i64> + 'a {
        let digits = self.whole.iter().chain(self.fraction).take(self.digits);
        digits.skip_while(|&&digit| digit == b'0').map(|&digit| i64::from(digit - b'0'))
    }
}

/// The bytes before the first one that matches, and those after it.
fn split_at(text: &[u8], is_between: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    match text.iter().position(|&byte| is_between(byte)) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[]),
    }
}

/// An exponent, clamped to 64 bits; 0 if there is none.
fn saturating(exponent: &[u8]) -> i64 {
    let (negative, digits) = match exponent {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let value = digits
        .iter()
        .fold(0i64, |value, &digit| value.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0'))));
    if negative { -value } else { value }
}

/// Parses numbers of up to seven bytes with exactly the decimals of their column, as nearly all are, without a branch
/// that depends on the number.
pub(super) struct ShortNumber {
    scale: u8,
    /// Masks of eight bytes that end with the number: the bytes before the point, and those after it.
    whole: u64,
    decimals: u64,
    /// The number of bits before the point.
    point: u32,
}

impl ShortNumber {
    /// The longest number, in bytes.
    const LONGEST: u8 = 7;

    pub(super) fn new(scale: u8) -> Self {
        let bytes = |count: u8| u64::MAX.checked_shr(64 - 8 * u32::from(count)).unwrap_or(0);
        // At larger scales no number is short.
        let point = if scale == 0 { 8 } else { Self::LONGEST.saturating_sub(scale) };
        Self { scale, whole: bytes(point), decimals: !bytes((point + 1).min(8)), point: 8 * u32::from(point) }
    }

    /// The number at the start of the text, and its length, if it is short and followed by `end`.
    #[inline]
    pub(super) fn read(&self, text: &[u8], end: u8) -> Option<(i64, usize)> {
        const ONES: u64 = u64::from_le_bytes([1; 8]);
        const ZEROS: u64 = ONES * b'0' as u64;
        let word = u64::from_le_bytes(*text.first_chunk::<8>()?);
        let differences = word ^ (ONES * u64::from(end));
        // The lowest set bit marks the first byte equal to `end`.
        let ends = differences.wrapping_sub(ONES) & !differences & (ONES << 7);
        let bits = ends.trailing_zeros() & !7;
        let negative = word as u8 == b'-';
        let first = (word >> (8 * u32::from(negative))) as u8;
        let point = if self.scale == 0 { 0 } else { 1 + i64::from(self.scale) };
        let whole = i64::from(bits / 8) - i64::from(negative) - point;
        if ends == 0 || whole < 1 || (whole > 1 && first == b'0') || self.scale > 5 {
            return None;
        }
        // Right-aligned in eight bytes, with zeros for the sign and before it.
        let unsigned = word ^ (u64::from(negative) * u64::from(b'-' ^ b'0'));
        let aligned = (unsigned << (64 - bits)) | (ZEROS >> bits);
        let digits = if self.scale == 0 {
            aligned
        } else {
            if (aligned >> self.point) as u8 != b'.' {
                return None;
            }
            (aligned & self.decimals) | ((aligned & self.whole) << 8) | u64::from(b'0')
        };
        let nibbles = ONES * 0xF0;
        if digits & nibbles != ZEROS || digits.wrapping_add(ONES * 6) & nibbles != ZEROS {
            return None;
        }
        let number = i64::from(eight_digits(digits - ZEROS));
        Some((if negative { -number } else { number }, bits as usize / 8))
    }
}

/// The number whose digits are the bytes, the first one in the lowest byte.
#[inline]
fn eight_digits(digits: u64) -> u32 {
    const PAIRS: u64 = 0x0000_00FF_0000_00FF;
    // Combines neighbours: digits to pairs, pairs to fours, fours to all, each with its weight.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let outer = (pairs & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let inner = ((pairs >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    (outer.wrapping_add(inner) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::decimal;
    use proptest::prelude::*;

    #[test]
    fn exact_numbers_are_parsed_in_every_form() {
        for (text, scale, value) in [
            ("12.3", 1, 123),
            ("-12.30", 1, -123),
            ("123e-1", 1, 123),
            ("1e1", 1, 100),
            ("1E+1", 0, 10),
            ("0.00123e4", 1, 123),
            ("1.50", 1, 15),
            ("100e-2", 0, 1),
            ("-0", 1, 0),
            ("-0.000", 1, 0),
            ("0e999999999999999999999", 1, 0),
            ("0.0e-99999999999999999999999", 18, 0),
            ("9223372036854775807", 0, i64::MAX),
            ("-9223372036854775808", 0, i64::MIN),
            ("-9.223372036854775808e18", 0, i64::MIN),
            ("0.000000000000000001", 18, 1),
        ] {
            assert_eq!(parse(text.as_bytes(), scale), Ok(value), "{text}");
        }
        assert_eq!(parse(format!("1{}e-5000", "0".repeat(5000)).as_bytes(), 0), Ok(1));
        assert_eq!(parse(format!("0.{}1e5001", "0".repeat(5000)).as_bytes(), 0), Ok(1));
    }

    #[test]
    fn inexact_numbers_are_rejected() {
        for (text, scale) in [("1.23", 1), ("1e-2", 1), ("0.5", 0), ("1e-99999999999999999999", 18)] {
            assert!(matches!(parse(text.as_bytes(), scale), Err(RowFault::TooManyDecimals { .. })), "{text}");
        }
        for (text, scale) in
            [("9223372036854775808", 0), ("-922337203685477580.9", 1), ("1e19", 0), ("1e99999999999999999999", 0)]
        {
            assert!(matches!(parse(text.as_bytes(), scale), Err(RowFault::NumberTooLarge(..))), "{text}");
        }
    }

    #[test]
    fn the_fast_path_accepts_exactly_short_numbers() {
        for (text, scale, number) in [
            ("-12.3,", 1, Some(-123)),
            ("0.0}", 1, None),
            ("0.0,", 1, Some(0)),
            ("-0.0,", 1, Some(0)),
            ("1234567,", 0, Some(1_234_567)),
            ("12345678,", 0, None),
            ("1.50000,", 5, Some(150_000)),
            ("1.500000,", 6, None),
            ("1.50,", 1, None),
            ("12,", 1, None),
            ("01.0,", 1, None),
            ("-01.0,", 1, None),
            (".5,", 1, None),
            ("-.5,", 1, None),
            ("1.,", 1, None),
            ("-,", 0, None),
            (",", 0, None),
            ("--1,", 0, None),
            ("1-2,", 0, None),
            ("1.2.3,", 1, None),
            ("1:3.4,", 1, None),
            ("1.:,", 1, None),
            ("+1.0,", 1, None),
            ("1e1,", 0, None),
        ] {
            let found = ShortNumber::new(scale).read(format!("{text}        ").as_bytes(), b',');
            assert_eq!(found, number.map(|number| (number, text.len() - 1)), "{text} at scale {scale}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_agrees_with_parse(text in "[-.0-9]{1,7}", tail in "[,}a0 -9]{8}", scale in 0u8..=18) {
            let line = format!("{text},{tail}");
            if let Some((number, length)) = ShortNumber::new(scale).read(line.as_bytes(), b',') {
                prop_assert_eq!(length, text.len());
                prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok());
                prop_assert_eq!(parse(text.as_bytes(), scale), Ok(number));
            }
        }

        #[test]
        fn usual_numbers_take_the_fast_path(value in -99_999i64..=99_999, scale in 0u8..=4) {
            let text = decimal::to_string(i128::from(value), scale);
            let line = format!("{text}}}       ");
            prop_assert_eq!(ShortNumber::new(scale).read(line.as_bytes(), b'}'), Some((value, text.len())));
        }

        #[test]
        fn formatted_decimals_round_trip(value: i64, scale in 0u8..=18, zeros in 0usize..4, shift in 0i32..30) {
            let text = decimal::to_string(i128::from(value), scale);
            prop_assert_eq!(parse(text.as_bytes(), scale), Ok(value));
            let point = if scale == 0 && zeros > 0 { "." } else { "" };
            prop_assert_eq!(parse(format!("{text}{point}{}", "0".repeat(zeros)).as_bytes(), scale), Ok(value));
            prop_assert_eq!(parse(format!("{value}e-{scale}").as_bytes(), scale), Ok(value));
            let shifted = format!("{value}{}e-{}", "0".repeat(shift as usize), i32::from(scale) + shift);
            prop_assert_eq!(parse(shifted.as_bytes(), scale), Ok(value));
        }
    }
}
