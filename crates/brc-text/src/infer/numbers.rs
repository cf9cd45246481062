//! Values that may be numbers.

use super::{ALTERED, ALTERED_AS_FLOAT, BEYOND_INT64, BEYOND_UINT64, FLOAT, INEXACT, NEGATIVE, NUMBER, Seen};

/// What a value demands that is a number.
pub(super) fn seen(text: &[u8]) -> Option<Seen> {
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (whole, &digits[..whole]) {
        (0, _) => return word(text, is_negative, digits),
        // Leading zeros would not come back.
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
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        let is_number = !exponent.is_empty() && exponent.iter().all(u8::is_ascii_digit);
        return is_number.then(|| Seen { flags: FLOAT | float_flags(text), ..Seen::NOTHING });
    }
    if !exponent.is_empty() {
        return None;
    }
    let scale = u8::try_from(decimals).unwrap_or(u8::MAX / 2).min(u8::MAX / 2);
    let significant = if digits[0] == b'0' { 0 } else { u8::try_from(whole).unwrap_or(u8::MAX / 2).min(u8::MAX / 2) };
    let mut flags = NUMBER;
    if is_negative && digits.iter().all(|byte| matches!(byte, b'0' | b'.')) {
        flags |= ALTERED;
    }
    if fraction.is_empty() {
        flags |= integer_flags(is_negative, &digits[..whole]);
    }
    // A float of fifteen digits is always the number that was written.
    if whole + decimals > 15 {
        flags |= float_flags(text) & INEXACT;
    }
    if !is_written_as_float(text) {
        flags |= ALTERED_AS_FLOAT;
    }
    Some(Seen { flags, whole: significant, scale, least_scale: scale, ..Seen::NOTHING })
}

/// Infinity, or what is no number.
fn word(text: &[u8], is_negative: bool, unsigned: &[u8]) -> Option<Seen> {
    let is = |word: &[u8]| unsigned.eq_ignore_ascii_case(word);
    // The sign of what is no number has no text form.
    if !(is(b"inf") || is(b"infinity") || is(b"nan") && !is_negative) {
        return None;
    }
    Some(Seen { flags: FLOAT | float_flags(text), ..Seen::NOTHING })
}

fn integer_flags(is_negative: bool, digits: &[u8]) -> u16 {
    let value =
        (digits.len() <= 20).then(|| digits.iter().fold(0i128, |value, byte| value * 10 + i128::from(byte - b'0')));
    let value = value.map(|value| if is_negative { -value } else { value });
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

/// What is lost if a number is read as a float.
fn float_flags(text: &[u8]) -> u16 {
    let altered = if is_written_as_float(text) { 0 } else { ALTERED_AS_FLOAT };
    if is_exact_float(text) { altered } else { altered | INEXACT }
}

/// Whether a number would be written just so if it were a float.
fn is_written_as_float(text: &[u8]) -> bool {
    parsed(text).is_some_and(|value| format!("{value:?}").as_bytes() == text)
}

fn parsed(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Whether the shortest text of a number, read as a float, is the same number.
pub(crate) fn is_exact_float(text: &[u8]) -> bool {
    let Some(value) = parsed(text) else { return false };
    if !value.is_finite() {
        return !text.iter().any(u8::is_ascii_digit);
    }
    let shortest = format!("{value:e}");
    digits_and_exponent(text) == digits_and_exponent(shortest.as_bytes())
}

/// The digits of a number without zeros around them, and the power of ten of the last one; 0 for zero.
fn digits_and_exponent(text: &[u8]) -> (Vec<u8>, i64) {
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&text[..at], std::str::from_utf8(&text[at + 1..]).ok().and_then(|digits| digits.parse().ok())),
        None => (text, Some(0)),
    };
    let decimals = mantissa.iter().position(|&byte| byte == b'.').map_or(0, |point| mantissa.len() - point - 1);
    let mut digits: Vec<u8> =
        mantissa.iter().copied().filter(u8::is_ascii_digit).skip_while(|&byte| byte == b'0').collect();
    // No float has an exponent that does not fit.
    let mut last = exponent.unwrap_or(i64::MAX / 2).saturating_sub(decimals as i64);
    while digits.last() == Some(&b'0') {
        digits.pop();
        last = last.saturating_add(1);
    }
    let last = if digits.is_empty() { 0 } else { last };
    (digits, last)
}
