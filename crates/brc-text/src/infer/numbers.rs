//! Requirements of values that may be numbers.

use super::forms::FormSet;
use super::{
    ALTERED, ALTERED_AS_FLOAT, BEYOND_INT64, BEYOND_UINT64, FLOAT, INEXACT, NEGATIVE, NUMBER, Seen, UNGROUPED,
};
use crate::form::are_signed_digits;
use brc_core::{LogicalType, Value};

/// What a number requires; `None` if the text is not a number.
pub(super) fn seen(text: &[u8]) -> Option<Seen> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        // Instruments print a sign and an exponent; without an exponent it may be a telephone number.
        [b'+', digits @ ..] if memchr::memchr2(b'e', b'E', digits).is_some() => (false, digits),
        _ => (false, text),
    };
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (whole, &digits[..whole]) {
        (0, _) if !matches!(digits, [b'.', b'0'..=b'9', ..]) => return word(text, is_negative, digits),
        // Leading zeros would be lost.
        (2.., [b'0', ..]) => return None,
        _ => {}
    }
    let rest = &digits[whole..];
    let decimals = match rest.strip_prefix(b".") {
        Some(rest) => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
        None => 0,
    };
    let (fraction, exponent) = rest.split_at(if decimals > 0 { decimals + 1 } else { 0 });
    if let [b'e' | b'E', exponent @ ..] = exponent {
        let forms = if decimals > 0 { FormSet::with_decimal_point() } else { FormSet::ALL };
        return if are_signed_digits(exponent) { Some(Seen { forms, ..float(text)? }) } else { None };
    }
    if !exponent.is_empty() {
        return None;
    }
    let scale = u8::try_from(decimals).unwrap_or(u8::MAX / 2).min(u8::MAX / 2);
    let significant = if digits[0] == b'0' { 0 } else { u8::try_from(whole).unwrap_or(u8::MAX / 2).min(u8::MAX / 2) };
    let mut flags = NUMBER;
    if whole == 0 || is_negative && digits.iter().all(|byte| matches!(byte, b'0' | b'.')) {
        flags |= ALTERED;
    }
    if decimals > 0 && (decimals != 3 || !(1..=3).contains(&whole) || digits[0] == b'0') {
        flags |= UNGROUPED;
    }
    if fraction.is_empty() {
        flags |= integer_flags(is_negative, integer(is_negative, &digits[..whole]));
    }
    flags |= if whole + decimals > MAX_EXACT_DIGITS {
        as_float(text).map_or(ALTERED_AS_FLOAT | INEXACT, AsFloat::flags)
    } else if is_shortest(&digits[..whole + fraction.len()], whole) {
        0
    } else {
        ALTERED_AS_FLOAT
    };
    Some(Seen { flags, whole: significant, scale, least_scale: scale, ..Seen::NOTHING })
}

/// Infinity or NaN.
fn word(text: &[u8], is_negative: bool, unsigned: &[u8]) -> Option<Seen> {
    let is = |word: &[u8]| unsigned.eq_ignore_ascii_case(word);
    // The sign of NaN has no text form.
    if !(is(b"inf") || is(b"infinity") || is(b"nan") && !is_negative) {
        return None;
    }
    float(text)
}

/// What a value that can only be a float requires.
fn float(text: &[u8]) -> Option<Seen> {
    Some(Seen { flags: FLOAT | as_float(text)?.flags(), ..Seen::NOTHING })
}

/// The integer with these digits; `None` if there are more than any 64-bit integer has.
fn integer(is_negative: bool, digits: &[u8]) -> Option<i128> {
    if digits.len() > 20 {
        return None;
    }
    let value = digits.iter().fold(0i128, |value, byte| value * 10 + i128::from(byte - b'0'));
    Some(if is_negative { -value } else { value })
}

/// The flags for an integer; one without a value has too many digits.
pub(super) fn integer_flags(is_negative: bool, value: Option<i128>) -> u32 {
    let within = |min: i128, max: i128| value.is_some_and(|value| (min..=max).contains(&value));
    let mut flags = if is_negative { NEGATIVE } else { 0 };
    if !within(i64::MIN.into(), i64::MAX.into()) {
        flags |= BEYOND_INT64;
        if !within(0, u64::MAX.into()) {
            flags |= BEYOND_UINT64;
        }
    }
    flags
}

/// A float with this many digits always equals the number that was written: it is the quotient of two exact floats.
pub(crate) const MAX_EXACT_DIGITS: usize = 15;

/// All decimals below this number of units are exact as floats.
pub(crate) const EXACT_UNITS: u128 = 10u128.pow(MAX_EXACT_DIGITS as u32);

/// Whether a number of at most [`MAX_EXACT_DIGITS`] digits would be written identically as a float: without trailing
/// zeros, and without an exponent, as numbers below 0.0001 have.
fn is_shortest(digits: &[u8], whole: usize) -> bool {
    match digits.split_at(whole) {
        (_, [] | [_, _, .., b'0']) | (b"0", [_, b'0', b'0', b'0', b'0', ..]) => false,
        (_, [_, ..]) => true,
    }
}

/// A number as a float.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsFloat {
    pub(crate) value: f64,
    /// Whether the shortest text of the float is the text that was read.
    pub(crate) is_same_text: bool,
    /// Whether the shortest text of the float is the same number, or the text is the float with more digits than that,
    /// as `%.17g` and `%.18e` print it.
    pub(crate) is_exact: bool,
}

impl AsFloat {
    /// The flags for what the conversion loses.
    fn flags(self) -> u32 {
        (if self.is_same_text { 0 } else { ALTERED_AS_FLOAT }) | (if self.is_exact { 0 } else { INEXACT })
    }
}

/// Parses a float, and formats it for comparison.
pub(crate) fn as_float(text: &[u8]) -> Option<AsFloat> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let mut shortest = Vec::with_capacity(32);
    Value::Float(value).write(LogicalType::Float64, &mut shortest);
    let is_same_text = shortest == text;
    let is_exact = match value.is_finite() {
        true => {
            is_same_text || {
                let digits = digits_and_exponent(text);
                digits == digits_and_exponent(&shortest) || is_printed(value, &digits)
            }
        }
        false => !text.iter().any(u8::is_ascii_digit),
    };
    Some(AsFloat { value, is_same_text, is_exact })
}

/// The maximum number of significant digits that a program prints of a float.
const MAX_PRINTED_DIGITS: usize = 40;

/// Whether these are the digits and the exponent of a float, rounded to as many digits. Zeros at the end make no
/// difference: decimals of a column have as many digits as the longest one.
fn is_printed(value: f64, text: &(Vec<u8>, i64)) -> bool {
    (1..=MAX_PRINTED_DIGITS).contains(&text.0.len())
        && digits_and_exponent(format!("{value:.*e}", text.0.len() - 1).as_bytes()) == *text
}

/// Whether a number that was parsed as a float is [that float](AsFloat::is_exact).
pub(crate) fn is_exact_float(text: &[u8]) -> bool {
    as_float(text).is_some_and(|float| float.is_exact)
}

/// The digits of a number without leading and trailing zeros, and the power of ten of the last one; 0 for zero.
fn digits_and_exponent(text: &[u8]) -> (Vec<u8>, i64) {
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&text[..at], std::str::from_utf8(&text[at + 1..]).ok().and_then(|digits| digits.parse().ok())),
        None => (text, Some(0)),
    };
    let decimals = mantissa.iter().position(|&byte| byte == b'.').map_or(0, |point| mantissa.len() - point - 1);
    let mut digits: Vec<u8> =
        mantissa.iter().copied().filter(u8::is_ascii_digit).skip_while(|&byte| byte == b'0').collect();
    // No float has an exponent that overflows here.
    let mut last = exponent.unwrap_or(i64::MAX / 2).saturating_sub(decimals as i64);
    while digits.last() == Some(&b'0') {
        digits.pop();
        last = last.saturating_add(1);
    }
    let last = if digits.is_empty() { 0 } else { last };
    (digits, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn floats_with_more_digits_than_they_need_are_exact() {
        for (text, is_exact) in [
            ("0.10000000000000001", true),
            ("3.455841920647860221e-01", true),
            ("-2.0000000000000002e-05", true),
            ("1.49999999999999994e-01", true),
            ("1.50000000000000000e-01", true),
            ("0.1000000000000000055511151231257827", true),
            ("1.10000000000000010", true),
            ("1.1000000000000001000000000000000000e0", true),
            ("0.1000000000000000055511151231257828", false),
            ("1.00000000000000011e0", false),
            ("12345678901234567", false),
            ("9007199254740993", false),
        ] {
            assert_eq!(is_exact_float(text.as_bytes()), is_exact, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn printed_floats_are_exact(bits in any::<u64>(), digits in 16usize..25) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let text = format!("{value:.digits$e}");
            let float = as_float(text.as_bytes()).unwrap();
            prop_assert!(float.is_exact && float.value == value, "{}", text);
        }

        #[test]
        fn short_numbers_are_exact_floats(text in "(0|[1-9][0-9]{0,6})(\\.0{0,5}[0-9]{0,3}[1-9]?)?") {
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            if digits <= MAX_EXACT_DIGITS && !text.ends_with('.') {
                let whole = text.find('.').unwrap_or(text.len());
                let float = as_float(text.as_bytes()).unwrap();
                prop_assert_eq!(is_shortest(text.as_bytes(), whole), float.is_same_text);
                prop_assert!(float.is_exact);
            }
        }
    }
}
