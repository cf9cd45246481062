//! What a terminal can be given: a name may have any bytes, and a terminal obeys control characters.

use std::borrow::Cow;
use std::fmt::Write;

/// Some bytes as text for a terminal: control characters but for line feeds and tabs, and what is not UTF-8, are
/// written as escapes like `\x1b`.
#[must_use]
pub fn lines(bytes: &[u8]) -> Cow<'_, str> {
    escaped(bytes, |character| character.is_control() && !matches!(character, '\n' | '\t'))
}

/// The same for what has to stay in its place on a line: line feeds and tabs are escaped too.
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
    fn what_a_terminal_would_obey_is_escaped() {
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
