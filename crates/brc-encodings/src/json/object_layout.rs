//! The layout of objects in a text.

use super::syntax::{self, Reason, is_space, skip_spaces};
use crate::input::{Input, PREFIX_BYTES};
use crate::text::LONGEST_LINE;
use brc_core::Result;
use brc_text::BYTE_ORDER_MARK;
use memchr::memchr;

/// The layout of objects in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectLayout {
    /// One object per line.
    Lines,
    /// Objects span lines, share a line, or are in an array.
    Objects { in_array: bool },
}

/// Whether the first bytes begin an object with a key or an empty one, or an array of such objects.
pub(crate) fn is_json(prefix: &[u8]) -> bool {
    let mut bytes = text(prefix).iter().filter(|byte| !is_space(**byte)).peekable();
    let in_array = bytes.next_if_eq(&&b'[').is_some();
    match bytes.next() {
        Some(b'{') => matches!(bytes.next(), Some(b'"' | b'}')),
        Some(b']') => in_array && bytes.next().is_none(),
        _ => false,
    }
}

/// Extends the prefix of a source, up to the longest allowed row; returns whether it became longer.
///
/// # Errors
/// If the source cannot be read.
pub(super) fn extend_prefix(input: &mut Input) -> Result<bool> {
    let known = input.prefix.len();
    input.extend_prefix(known.saturating_mul(4).clamp(PREFIX_BYTES, LONGEST_LINE + 2))?;
    Ok(input.prefix.len() > known)
}

/// A text without its byte order mark.
pub(super) fn text(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK).unwrap_or(prefix)
}

impl ObjectLayout {
    /// The layout of a source, reading as many first bytes as needed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn of(input: &mut Input) -> Result<Self> {
        loop {
            if let Some(objects) = Self::of_prefix(text(&input.prefix)) {
                return Ok(objects);
            }
            if !extend_prefix(input)? {
                return Ok(Self::Lines);
            }
        }
    }

    /// The layout of a text with this prefix; `None` if the prefix is too short.
    fn of_prefix(text: &[u8]) -> Option<Self> {
        let mut at = skip_spaces(text, 0);
        if text.get(at) == Some(&b'[') {
            return Some(Self::Objects { in_array: true });
        }
        let mut members = Vec::new();
        let mut has_rows = false;
        while at < text.len() {
            let line_end = memchr(b'\n', &text[at..]).map(|length| at + length);
            let line = &text[..line_end.unwrap_or(text.len())];
            let whole = match syntax::object(line, at, &mut members) {
                // An object may continue on the next line, or be malformed.
                Err(malformed) if malformed.reason == Reason::Ended => syntax::object(text, at, &mut members),
                whole => whole,
            };
            let next = match whole {
                Ok(end) if end > line.len() => return Some(Self::Objects { in_array: false }),
                Ok(end) => skip_spaces(text, end),
                Err(malformed) if malformed.reason == Reason::Ended => {
                    return has_rows.then_some(Self::Lines);
                }
                Err(_) => line.len(),
            };
            if next < line.len() && text[next] == b'{' {
                return Some(Self::Objects { in_array: false });
            }
            has_rows |= next >= line.len();
            at = skip_spaces(text, next.max(line.len()));
        }
        has_rows.then_some(Self::Lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_recognised_by_its_first_bytes() {
        for text in ["{\"", "{}", " \n{ \n\t\"a", "{\"a\":1.0}\n", "[{\"a\":1}]", "[]", " [\n  {\n\"", "\u{feff}[ {}"] {
            assert!(is_json(text.as_bytes()), "{text}");
        }
        for text in ["", "{", "a;1.0\n", "{a;1.0", "[1]", "\"{\"", "[x]", "[[{\"a\":1}]]", "[];"] {
            assert!(!is_json(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn the_first_objects_determine_the_layout() {
        let values = Some(ObjectLayout::Objects { in_array: false });
        for (text, objects) in [
            ("{\"a\":1}\n{\"a\":2}\n", Some(ObjectLayout::Lines)),
            ("\n \n{\"a\":1}\r\n", Some(ObjectLayout::Lines)),
            ("{\"a\":1}", Some(ObjectLayout::Lines)),
            ("{\"a\":1}\n{\"a\":", Some(ObjectLayout::Lines)),
            ("x\n{\"a\":1}\n", Some(ObjectLayout::Lines)),
            // A malformed line is not a part of an object over several lines.
            ("{\"a\":1\n{\"a\":2}\n", Some(ObjectLayout::Lines)),
            ("{\"a\":\"1\n{\"a\":2}\n", Some(ObjectLayout::Lines)),
            ("{\"a\":1}{\"a\":2}\n", values),
            ("{\"a\":1} {\"a\":", values),
            ("{\n\"a\":1}", values),
            ("{\"a\":1}\n{\n  \"a\": 2\n}\n", values),
            (" [", Some(ObjectLayout::Objects { in_array: true })),
            ("", None),
            ("{\"a\":", None),
            ("{\"a\":[\n", None),
        ] {
            assert_eq!(ObjectLayout::of_prefix(text.as_bytes()), objects, "{text}");
        }
    }
}
