//! Exact decimals: conversion between text and scaled integers, and the rounding of means.

use crate::error::RowFault;

/// The powers of ten that fit a signed 64-bit integer.
pub static POWERS: [i64; 19] = {
    let mut powers = [1; 19];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = 10 * powers[exponent - 1];
        exponent += 1;
    }
    powers
};

/// The powers of ten up to 10^15 as floats, which are exact.
pub static FLOAT_POWERS: [f64; 16] = {
    let mut powers = [1.0; 16];
    let mut exponent = 1;
    while exponent < powers.len() {
        powers[exponent] = POWERS[exponent] as f64;
        exponent += 1;
    }
    powers
};

/// The two digits of each number below 100.
pub static DIGIT_PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < pairs.len() {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Parses a decimal to an integer scaled by ten to the power of `scale`: `12.3` at scale 1 is 123.
///
/// The syntax is an optional `-`, one or more digits, and optionally a point with one or more digits; the digits before
/// the point may be missing: `.5`. Fewer decimals than `scale` are padded with zeros.
///
/// # Errors
/// If the text is empty or malformed, has too many decimals, or does not fit 64 bits.
pub fn parse(text: &[u8], scale: u8) -> Result<i64, RowFault> {
    let (negative, digits) = digits(text, scale)?;
    let too_large = || RowFault::NumberTooLarge(RowFault::quote(text), i64::BITS);
    // The value is accumulated negated, because the negative range is larger by one.
    let negated = digits.into_iter().try_fold(0i64, |value, digit| value.checked_mul(10)?.checked_sub(digit.into()));
    let negated = negated.ok_or_else(too_large)?;
    if negative { Ok(negated) } else { negated.checked_neg().ok_or_else(too_large) }
}

/// Like [`parse`], for 128-bit integers.
///
/// # Errors
/// As for [`parse`], with 128 bits.
pub fn parse_wide(text: &[u8], scale: u8) -> Result<i128, RowFault> {
    let (negative, digits) = digits(text, scale)?;
    let too_large = || RowFault::NumberTooLarge(RowFault::quote(text), i128::BITS);
    let negated = digits.into_iter().try_fold(0i128, |value, digit| value.checked_mul(10)?.checked_sub(digit.into()));
    let negated = negated.ok_or_else(too_large)?;
    if negative { Ok(negated) } else { negated.checked_neg().ok_or_else(too_large) }
}

/// The sign of a decimal and its digits, padded to `scale` decimals.
fn digits(text: &[u8], scale: u8) -> Result<(bool, impl IntoIterator<Item = u8>), RowFault> {
    if text.is_empty() {
        return Err(RowFault::EmptyNumber);
    }
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, decimals) = match digits.iter().position(|&byte| byte == b'.') {
        Some(point) => (&digits[..point], Some(&digits[point + 1..])),
        None => (digits, None),
    };
    let all_digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let is_whole = all_digits(whole) || whole.is_empty() && decimals.is_some();
    if !is_whole || !decimals.is_none_or(all_digits) {
        return Err(RowFault::MalformedNumber(RowFault::quote(text)));
    }
    let decimals = decimals.unwrap_or_default();
    if decimals.len() > usize::from(scale) {
        return Err(RowFault::TooManyDecimals { text: RowFault::quote(text), scale });
    }
    let zeros = std::iter::repeat_n(0, usize::from(scale) - decimals.len());
    Ok((negative, whole.iter().chain(decimals).map(|byte| byte - b'0').chain(zeros)))
}

/// A buffer for the text of any decimal.
pub type Digits = [u8; 64];

/// Appends the decimal `value / 10^scale` with exactly `scale` decimals. Never writes `-0.0`.
#[inline]
pub fn format(value: i128, scale: u8, out: &mut Vec<u8>) {
    match ShortText::of(value, scale) {
        Some(text) => text.append(out),
        None => out.extend_from_slice(write(value, scale, &mut [0; 64])),
    }
}

/// Like [`format`](format()), without trailing zeros except for one directly after the point. `scale` must be at least
/// 1.
pub(crate) fn format_trimmed(value: i128, scale: u8, out: &mut Vec<u8>) {
    match ShortText::of(value, scale) {
        Some(text) => text.trimmed(scale).append(out),
        None => {
            let mut digits = [0; 64];
            let text = write(value, scale, &mut digits);
            let most = usize::from(scale) - 1;
            let zeros = text.iter().rev().take(most).take_while(|&&digit| digit == b'0').count();
            out.extend_from_slice(&text[..text.len() - zeros]);
        }
    }
}

/// A text of up to 16 bytes, the first in the lowest byte. It is built and appended as a whole: writing single digits
/// and reading them back together would stall the processor's store forwarding.
#[derive(Clone, Copy)]
struct ShortText {
    bytes: u128,
    length: u32,
}

impl ShortText {
    /// The text of a decimal with up to 8 digits before the point and up to 6 after it.
    #[inline]
    fn of(value: i128, scale: u8) -> Option<Self> {
        const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
        let magnitude = u64::try_from(value.unsigned_abs()).ok()?;
        let (whole, decimals) = match scale {
            0 => (magnitude, 0),
            1..=6 => (magnitude / POWERS[usize::from(scale)] as u64, magnitude % POWERS[usize::from(scale)] as u64),
            _ => return None,
        };
        if whole >= 100_000_000 {
            return None;
        }
        let digits = eight_digits(whole);
        let unused = (digits.trailing_zeros() / 8).min(7);
        let mut text = Self { bytes: u128::from((digits | ZEROS) >> (8 * unused)), length: 8 - unused };
        if scale > 0 {
            let digits = (eight_digits(decimals) | ZEROS) >> (64 - 8 * u32::from(scale));
            text.bytes |= ((u128::from(digits) << 8) | u128::from(b'.')) << (8 * text.length);
            text.length += 1 + u32::from(scale);
        }
        if value < 0 {
            text = Self { bytes: (text.bytes << 8) | u128::from(b'-'), length: text.length + 1 };
        }
        Some(text)
    }

    /// Removes trailing zeros of the `scale` decimals, except for one directly after the point.
    fn trimmed(self, scale: u8) -> Self {
        let zeros = u128::from_le_bytes([b'0'; 16]);
        let unused = 8 * (16 - self.length);
        let trailing = ((self.bytes ^ zeros) << unused).leading_zeros() / 8;
        Self { length: self.length - trailing.min(u32::from(scale) - 1), ..self }
    }

    #[inline]
    fn append(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes.to_le_bytes());
        out.truncate(out.len() - (16 - self.length as usize));
    }
}

/// The digits of a number below 10⁸ as bytes, the first in the lowest byte.
#[inline]
fn eight_digits(number: u64) -> u64 {
    // Halves, quarters and digits, each divided by a single multiplication.
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x7f_0000_007f;
    let quarters = hundreds | ((halves - 100 * hundreds) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((quarters - 10 * tens) << 8)
}

/// The text that [`format`](format()) appends, written at the end of `digits`.
pub fn write(value: i128, scale: u8, digits: &mut Digits) -> &[u8] {
    // Almost all numbers fit 64 bits, for which division is many times faster.
    let mut position = match u64::try_from(value.unsigned_abs()) {
        Ok(rest) => write_narrow(rest, scale, digits),
        Err(_) => write_digits(value.unsigned_abs(), scale, digits),
    };
    if value < 0 {
        position -= 1;
        digits[position] = b'-';
    }
    &digits[position..]
}

/// Writes digits at the end of `digits` and returns their start.
fn write_digits(mut rest: u128, scale: u8, digits: &mut Digits) -> usize {
    let point = digits.len() - usize::from(scale);
    let mut position = digits.len();
    while rest > 0 || position >= point {
        if position == point && scale > 0 {
            position -= 1;
            digits[position] = b'.';
        }
        position -= 1;
        digits[position] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    position
}

/// Like [`write_digits`], for 64-bit numbers, two digits at a time.
fn write_narrow(mut rest: u64, scale: u8, digits: &mut Digits) -> usize {
    let mut position = digits.len();
    for _ in 0..scale / 2 {
        position -= 2;
        digits[position..position + 2].copy_from_slice(&DIGIT_PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if scale % 2 == 1 {
        position -= 1;
        digits[position] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    if scale > 0 {
        position -= 1;
        digits[position] = b'.';
    }
    while rest >= 10 {
        position -= 2;
        digits[position..position + 2].copy_from_slice(&DIGIT_PAIRS[(rest % 100) as usize]);
        rest /= 100;
        if rest == 0 {
            return position;
        }
    }
    position -= 1;
    digits[position] = b'0' + rest as u8;
    position
}

/// [`format`](format()) as a string.
#[must_use]
pub fn to_string(value: i128, scale: u8) -> String {
    let mut out = Vec::new();
    format(value, scale, &mut out);
    out.into_iter().map(char::from).collect()
}

/// The mean `sum / count` rounded to an integer, halves up (toward +∞), as the 1BRC rules require.
///
/// # Panics
/// If `count` is 0.
#[must_use]
pub fn mean(sum: i128, count: u64) -> i128 {
    // Almost all sums fit 64 bits, for which division is many times faster.
    if let (Ok(sum), Ok(count)) = (i64::try_from(sum), i64::try_from(count)) {
        let (quotient, remainder) = (sum.div_euclid(count), sum.rem_euclid(count));
        return i128::from(quotient) + i128::from(remainder >= count - remainder);
    }
    let count = i128::from(count);
    let quotient = sum.div_euclid(count);
    let remainder = sum.rem_euclid(count);
    quotient + i128::from(remainder >= count - remainder)
}

/// A number with thousands separators: `1,234,567`.
#[must_use]
pub fn with_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with a noun in singular or plural: `1 line`, `3,000 lines`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", with_thousands(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_decimals() {
        for (text, scale, value) in [
            ("12.3", 1, 123),
            ("-12.3", 1, -123),
            ("0.0", 1, 0),
            ("-0.0", 1, 0),
            ("7", 1, 70),
            ("007.5", 1, 75),
            ("1.5", 3, 1500),
            ("42", 0, 42),
            ("9223372036854775807", 0, i64::MAX),
            ("-9223372036854775808", 0, i64::MIN),
            ("-922337203685477580.8", 1, i64::MIN),
        ] {
            assert_eq!(parse(text.as_bytes(), scale), Ok(value), "{text}");
        }
    }

    #[test]
    fn refuses_malformed_decimals() {
        for text in
            ["1.", "-.", "--1.0", "1e5", "nan", " 1.0", "1.0 ", "1..0", "+1.0", "-", ".", "1.0\r", "1.0\0", "1,0"]
        {
            assert!(matches!(parse(text.as_bytes(), 1), Err(RowFault::MalformedNumber(_))), "{text}");
        }
        assert_eq!(parse(b"", 1), Err(RowFault::EmptyNumber));
        assert!(matches!(parse(b"1.23", 1), Err(RowFault::TooManyDecimals { .. })));
        assert!(matches!(parse(b"1.0", 0), Err(RowFault::TooManyDecimals { .. })));
        assert!(matches!(parse(b"922337203685477580.8", 1), Err(RowFault::NumberTooLarge(..))));
        assert!(matches!(parse(b"99999999999999999999", 0), Err(RowFault::NumberTooLarge(..))));
    }

    #[test]
    fn means_round_halves_up() {
        for (sum, count, rounded) in
            [(1, 2, 1), (-1, 2, 0), (-3, 2, -1), (3, 2, 2), (2, 3, 1), (-2, 3, -1), (-5, 10, 0), (0, 7, 0)]
        {
            assert_eq!(mean(sum, count), rounded, "{sum}/{count}");
        }
        assert_eq!(mean(i128::from(i64::MIN) * i128::from(u64::MAX), u64::MAX), i128::from(i64::MIN));
    }

    proptest! {
        #[test]
        fn text_round_trips(value: i64, scale in 0u8..=18) {
            let text = to_string(i128::from(value), scale);
            prop_assert_eq!(parse(text.as_bytes(), scale), Ok(value));
        }

        #[test]
        fn short_texts_match_long_ones(value: i64, bits in 0u32..64, scale in 0u8..10) {
            let value = i128::from(value >> bits);
            let mut digits = [0; 64];
            let written = std::str::from_utf8(write(value, scale, &mut digits)).unwrap();
            prop_assert_eq!(to_string(value, scale), written);
            if scale > 0 {
                let mut trimmed = Vec::new();
                format_trimmed(value, scale, &mut trimmed);
                let (whole, decimals) = written.split_once('.').unwrap();
                let expected = match decimals.trim_end_matches('0') {
                    "" => format!("{whole}.0"),
                    decimals => format!("{whole}.{decimals}"),
                };
                prop_assert_eq!(String::from_utf8(trimmed).unwrap(), expected);
            }
        }

        #[test]
        fn mean_matches_its_definition(sum in -(1i128 << 100)..(1i128 << 100), count in 1u64..) {
            let n = i128::from(count);
            prop_assert_eq!(mean(sum, count), (2 * sum + n).div_euclid(2 * n));
        }
    }
}
