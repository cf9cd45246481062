//! Formats numbers.

use brc_core::decimal::DIGIT_PAIRS;

/// The maximum number of digits.
const DIGITS: usize = 20;

/// Appends a number with at least `width` digits.
#[inline]
pub(super) fn number(mut number: u64, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; DIGITS];
    let mut start = DIGITS;
    while number >= 10 {
        start -= 2;
        digits[start..start + 2].copy_from_slice(&DIGIT_PAIRS[(number % 100) as usize]);
        number /= 100;
    }
    if number > 0 {
        start -= 1;
        digits[start] = b'0' + number as u8;
    }
    out.extend_from_slice(&digits[start.min(DIGITS - width)..]);
}

/// Appends a number of hundredths with two decimals.
pub(super) fn hundredths(hundredths: u64, out: &mut Vec<u8>) {
    number(hundredths / 100, 1, out);
    out.push(b'.');
    out.extend_from_slice(&DIGIT_PAIRS[(hundredths % 100) as usize]);
}

/// Appends a number of millionths with six decimals.
pub(super) fn millionths(millionths: u64, out: &mut Vec<u8>) {
    number(millionths / 1_000_000, 1, out);
    out.push(b'.');
    number(millionths % 1_000_000, 6, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_standard_library() {
        for value in [0, 1, 9, 10, 19, 99, 100, 101, 990, 1000, 12_345, 1_000_000, u64::from(u32::MAX), u64::MAX] {
            for width in [1, 3, 10] {
                let mut out = Vec::new();
                number(value, width, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), format!("{value:0width$}"));
            }
        }
        let mut out = Vec::new();
        hundredths(1205, &mut out);
        millionths(12_000_034, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "12.0512.000034");
    }
}
