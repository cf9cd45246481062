//! Binary data as hexadecimal digits, because JSON has no binary type.

use crate::rows::RowBuffer;

/// Appends two lower-case digits for each byte.
pub(super) fn write(bytes: &[u8], out: &mut RowBuffer) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Binary data as JSON has it, without quotes.
#[must_use]
pub fn hex_digits(bytes: &[u8]) -> String {
    let mut out = RowBuffer::default();
    write(bytes, &mut out);
    out.take().into_iter().map(char::from).collect()
}

/// Parses such digits, in upper or lower case; `None` for any other text.
pub(super) fn parse(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    rest.is_empty().then_some(bytes)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut out = RowBuffer::default();
        write(&bytes, &mut out);
        let text = String::from_utf8(out.take()).unwrap();
        assert_eq!(parse(text.as_bytes()), Some(bytes.clone()));
        assert_eq!(parse(text.to_uppercase().as_bytes()), Some(bytes));
        for strange in ["0", "0g", "+1", "é"] {
            assert_eq!(parse(strange.as_bytes()), None);
        }
    }
}
