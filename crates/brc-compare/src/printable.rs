//! Escapes text for terminals: a file name may contain any bytes, and a terminal interprets control characters.

use std::borrow::Cow;
use std::fmt::Write;

/// Bytes as text for a terminal. Control characters except line feeds and tabs, and invalid UTF-8, are escaped like
/// `\x1b`.
#[must_use]
pub fn lines(bytes: &[u8]) -> Cow<'_, str> {
    escaped(bytes, |character| character.is_control() && !matches!(character, '\n' | '\t'))
}

/// Like [`lines`], for text on a single line: line feeds and tabs are escaped too.
#[must_use]
pub fn line(bytes: &[u8]) -> Cow<'_, str> {
    escaped(bytes, char::is_control)
}

fn escaped(bytes: &[u8], is_strange: impl Fn(char) -> bool) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(&is_strange) => return Cow::Borrowed(text),
        _ => {}
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match u8::try_from(character) {
                _ if !is_strange(character) => out.push(character),
                // Writing to memory does not fail.
                Ok(byte) if byte.is_ascii() => _ = write!(out, "{}", byte.escape_ascii()),
                _ => out.extend(character.escape_unicode()),
            }
        }
        _ = write!(out, "{}", chunk.invalid().escape_ascii());
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (bytes, one_line) in [
            (&b"Abha"[..], "Abha"),
            ("São Paulo 一 \\".as_bytes(), "São Paulo 一 \\"),
            (b"\x1b[31mred\x07\x7f", "\\x1b[31mred\\x07\\x7f"),
            (b"a\tb\rc\0", "a\\tb\\rc\\x00"),
            (b"K\xf6ln \x9b", "K\\xf6ln \\x9b"),
            ("\u{9b}31m".as_bytes(), "\\u{9b}31m"),
            (b"a\nb", "a\\nb"),
        ] {
            assert_eq!(line(bytes), one_line);
            assert_eq!(lines(bytes), one_line.replace("\\n", "\n").replace("\\t", "\t"));
        }
    }
}
