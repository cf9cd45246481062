//! UUIDs. They are 128-bit integers in memory, so that code for integers also encodes, compares and groups them.
//!
//! The integers sort like the texts: big-endian, minus 2^127.

/// The length of a binary UUID in bytes.
pub const BYTES: usize = 16;

/// The length of a UUID's text in bytes.
pub const TEXT_BYTES: usize = 36;

/// The number of hexadecimal digits before each hyphen.
const HYPHENS: [usize; 4] = [8, 12, 16, 20];

const SIGN: u128 = 1 << 127;

/// Converts the 16 bytes of a UUID to its integer.
#[must_use]
#[inline]
pub fn from_bytes(bytes: [u8; BYTES]) -> i128 {
    (u128::from_be_bytes(bytes) ^ SIGN) as i128
}

/// Converts an integer to the 16 bytes of its UUID.
#[must_use]
#[inline]
pub fn to_bytes(value: i128) -> [u8; BYTES] {
    (value as u128 ^ SIGN).to_be_bytes()
}

/// The text of a UUID in lower case: `123e4567-e89b-12d3-a456-426614174000`.
#[must_use]
pub fn text(value: i128) -> [u8; TEXT_BYTES] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; TEXT_BYTES];
    let mut at = 0;
    for (index, byte) in to_bytes(value).into_iter().enumerate() {
        at += usize::from(HYPHENS.contains(&(2 * index)));
        text[at] = DIGITS[usize::from(byte >> 4)];
        text[at + 1] = DIGITS[usize::from(byte & 15)];
        at += 2;
    }
    text
}

/// Parses a UUID: 32 hexadecimal digits in either case, with the hyphens of [`text`] or without, optionally in braces.
#[must_use]
pub fn parse(text: &[u8]) -> Option<i128> {
    let text = text.strip_prefix(b"{").map_or(Some(text), |rest| rest.strip_suffix(b"}"))?;
    let has_hyphens = match text.len() {
        TEXT_BYTES => true,
        32 => false,
        _ => return None,
    };
    let mut value = 0u128;
    let mut rest = text;
    for digit in 0..32 {
        if has_hyphens && HYPHENS.contains(&digit) {
            rest = rest.strip_prefix(b"-")?;
        }
        let (&first, others) = rest.split_first()?;
        value = value << 4 | u128::from(char::from(first).to_digit(16)?);
        rest = others;
    }
    Some((value ^ SIGN) as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_round_trip_in_order(a: i128, b: i128) {
            prop_assert_eq!(parse(&text(a)), Some(a));
            prop_assert_eq!(from_bytes(to_bytes(a)), a);
            prop_assert_eq!(text(a).cmp(&text(b)), a.cmp(&b));
            prop_assert_eq!(to_bytes(a).cmp(&to_bytes(b)), a.cmp(&b));
        }
    }

    #[test]
    fn uuids_are_written_in_several_ways() {
        let value = parse(b"123e4567-e89b-12d3-a456-426614174000").unwrap();
        for same in [
            "123E4567-E89B-12D3-A456-426614174000",
            "{123e4567-e89b-12d3-a456-426614174000}",
            "123e4567e89b12d3a456426614174000",
        ] {
            assert_eq!(parse(same.as_bytes()), Some(value), "{same}");
        }
        for other in [
            "",
            "-",
            "{}",
            "{123e4567-e89b-12d3-a456-426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e4567-e89b-12d3-a4564-26614174000",
            "123e4567-e89b-12d3-a456-42661417400g",
            "123e4567-e89b-12d3-a45642661417-4000",
            "+23e4567e89b12d3a456426614174000",
        ] {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
        assert_eq!(&text(i128::MIN), b"00000000-0000-0000-0000-000000000000");
        assert_eq!(&text(i128::MAX), b"ffffffff-ffff-ffff-ffff-ffffffffffff");
    }
}
