//! Decodes the escapes of JSON strings.

use brc_core::RowFault;
use std::borrow::Cow;

/// Decodes the bytes between two quotes, which are UTF-8 with well-formed escapes.
///
/// # Errors
/// If there is an unpaired surrogate.
pub(super) fn unescape(bytes: &[u8]) -> Result<Cow<'_, [u8]>, RowFault> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let escape = &rest[at + 1..];
        let plain = match escape.first() {
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let (character, length) = character(escape)?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &escape[length..];
                continue;
            }
            Some(itself) => *itself,
            None => break,
        };
        out.push(plain);
        rest = &escape[1..];
    }
    if out.is_empty() && rest.len() == bytes.len() {
        return Ok(Cow::Borrowed(bytes));
    }
    out.extend_from_slice(rest);
    Ok(Cow::Owned(out))
}

/// The character of an escape that begins with `u`, and the escape's length; a surrogate pair is two escapes.
fn character(escape: &[u8]) -> Result<(char, usize), RowFault> {
    let unit = |from: usize| {
        let digits = std::str::from_utf8(escape.get(from..from + 4)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let lone = || RowFault::MalformedString("half of a surrogate pair".to_owned());
    let first = unit(1).ok_or_else(lone)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((character, 5));
    }
    let second = unit(7).filter(|second| escape[5..7] == *b"\\u" && (0xDC00..0xE000).contains(second));
    let pair = second.filter(|_| first < 0xDC00).map(|second| 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
    pair.and_then(char::from_u32).map(|character| (character, 11)).ok_or_else(lone)
}
