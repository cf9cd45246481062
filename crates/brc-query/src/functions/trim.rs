//! `trim(s)`, `trim(s, characters)`: a string without the spaces, or the given characters, around it.

use super::{Bound, Function, Mismatch, count, string};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static TRIM: Function = Function {
    name: "trim",
    aliases: &["btrim"],
    usage: "trim(s[, characters])",
    about: "s without leading and trailing spaces, or others of these characters",
    example: ("trim('  Oslo ')", "Oslo"),
    bind: |arguments| bound(arguments, TRIM.usage, [true, true]),
};

/// Trims the start of strings, the end, or both.
pub(super) fn bound(arguments: &[Typed], usage: &str, [start, end]: [bool; 2]) -> Result<Bound, Mismatch> {
    count(arguments, 1..=2, usage)?;
    string(arguments, 0)?;
    let has_characters = arguments.len() > 1;
    if has_characters {
        string(arguments, 1)?;
    }
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        rows.strings(|row, out| {
            let characters = if has_characters { views[1].bytes(row) } else { b" " };
            out.extend_from_slice(trimmed(views[0].bytes(row), characters, start, end));
        })
    }))
}

fn trimmed<'t>(mut text: &'t [u8], characters: &[u8], start: bool, end: bool) -> &'t [u8] {
    let is_one = |character: &[u8]| {
        let mut rest = characters;
        std::iter::from_fn(|| (!rest.is_empty()).then(|| split_first(&mut rest))).any(|known| known == character)
    };
    while start && !text.is_empty() {
        let mut rest = text;
        if !is_one(split_first(&mut rest)) {
            break;
        }
        text = rest;
    }
    while end && !text.is_empty() {
        // What follows a character of one byte is none that goes on with it.
        let last = text.iter().rposition(|&byte| !is_continuation(byte)).unwrap_or(0);
        let last = if text[last].is_ascii() || is_continuation(text[last]) { text.len() - 1 } else { last };
        if !is_one(&text[last..]) {
            break;
        }
        text = &text[..last];
    }
    text
}

/// Takes the first character off a text that has one.
fn split_first<'t>(text: &mut &'t [u8]) -> &'t [u8] {
    let begins_one = !text[0].is_ascii() && !is_continuation(text[0]);
    let length = 1 + text[1..].iter().take_while(|&&byte| begins_one && is_continuation(byte)).count();
    let (first, rest) = text.split_at(length);
    *text = rest;
    first
}

/// Whether a byte goes on with a character that begins before it.
pub(super) fn is_continuation(byte: u8) -> bool {
    (byte as i8) < -0x40
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_trimmed(text in "[aéé日x ]{0,12}", characters in "[aé日 ]{0,4}") {
            let set: Vec<char> = characters.chars().collect();
            for (start, end, expected) in [
                (true, true, text.trim_matches(&set[..])),
                (true, false, text.trim_start_matches(&set[..])),
                (false, true, text.trim_end_matches(&set[..])),
            ] {
                prop_assert_eq!(trimmed(text.as_bytes(), characters.as_bytes(), start, end), expected.as_bytes());
            }
        }
    }

    #[test]
    fn what_is_no_text_is_trimmed_too() {
        assert_eq!(trimmed(b" \x80\xff ", b" ", true, true), b"\x80\xff");
        assert_eq!(trimmed(b"\x80a\x80", b"\x80", true, true), b"a");
    }
}
