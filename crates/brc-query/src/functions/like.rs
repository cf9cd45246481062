//! `s like pattern`: whether a string is what a pattern says, in which `%` stands for any characters and `_` for one.

use super::{Bound, Function, Mismatch, constant_text, count, refuse, string};
use crate::node::Typed;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

pub(super) static LIKE: Function = Function {
    name: "like",
    aliases: &[],
    usage: "s like pattern [escape c]",
    about: "whether a string matches a pattern: % is any characters, _ is one",
    bind: |arguments| bind(arguments, false),
};

pub(super) fn bind(arguments: &[Typed], insensitive: bool) -> Result<Bound, Mismatch> {
    count(arguments, 2..=3, LIKE.usage)?;
    string(arguments, 0)?;
    let pattern = constant_text(arguments, 1)?;
    let escape = if arguments.len() == 3 { Some(constant_text(arguments, 2)?) } else { None };
    let Some(parts) = parts(&pattern, escape.as_deref()) else {
        return refuse(1, "needs a UTF-8 pattern that does not end with its escape, which is one character");
    };
    if !insensitive && let [Part::Any, Part::Text(text), Part::Any] = &parts[..] {
        let finder = Finder::new(text.as_bytes()).into_owned();
        return Ok(Bound::test(move |text| finder.find(text).is_some()));
    }
    let Ok(regex) = regex(&parts, insensitive) else { return refuse(1, "is too long a pattern") };
    Ok(Bound::test(move |text| regex.is_match(text)))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// `%`
    Any,
    /// `_`
    One,
    Text(String),
}

fn parts(pattern: &[u8], escape: Option<&[u8]>) -> Option<Vec<Part>> {
    let mut escape = std::str::from_utf8(escape.unwrap_or_default()).ok()?.chars();
    let (escape, None) = (escape.next(), escape.next()) else { return None };
    let mut parts = Vec::new();
    let mut characters = std::str::from_utf8(pattern).ok()?.chars();
    while let Some(character) = characters.next() {
        let part = match character {
            _ if escape == Some(character) => Part::Text(characters.next()?.to_string()),
            '%' => Part::Any,
            '_' => Part::One,
            _ => Part::Text(character.to_string()),
        };
        match (parts.last_mut(), part) {
            (Some(Part::Any), Part::Any) => {}
            (Some(Part::Text(text)), Part::Text(more)) => text.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
    Some(parts)
}

fn regex(parts: &[Part], insensitive: bool) -> Result<Regex, regex::Error> {
    let mut text = String::from("^");
    for part in parts {
        match part {
            Part::Any => text.push_str("(?-u:.)*"),
            // One character; where there is no UTF-8, one byte.
            Part::One => text.push_str("(?:.|(?-u:.))"),
            Part::Text(part) => text.push_str(&regex::escape(part)),
        }
    }
    text.push('$');
    RegexBuilder::new(&text).dot_matches_new_line(true).case_insensitive(insensitive).build()
}

/// What all strings begin with that match a pattern, and whether all that begin so match it; `None` if they have nothing in
/// common.
pub(crate) fn like_prefix(pattern: &[u8]) -> Option<(Vec<u8>, bool)> {
    let parts = parts(pattern, None)?;
    match &parts[..] {
        [Part::Text(text), rest @ ..] if !rest.is_empty() => Some((text.clone().into(), rest == [Part::Any])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_strings() {
        for (pattern, text, matches) in [
            ("a%", "abc", true),
            ("a%", "bac", false),
            ("%b%", "abc", true),
            ("_b_", "abc", true),
            ("_b_", "ab", false),
            ("S_o", "São", true),
            ("%", "", true),
            ("", "", true),
            ("a.c", "abc", false),
            ("a%c", "a\nc", true),
            ("100\\%", "100%", false),
        ] {
            let parts = parts(pattern.as_bytes(), None).unwrap();
            assert_eq!(regex(&parts, false).unwrap().is_match(text.as_bytes()), matches, "{text} like {pattern}");
        }
        let escaped = parts(b"100!%", Some(b"!")).unwrap();
        assert_eq!(escaped, [Part::Text("100%".to_owned())]);
        assert_eq!(parts(b"a!", Some(b"!")), None);
        assert_eq!(like_prefix(b"ab%"), Some((b"ab".to_vec(), true)));
        assert_eq!(like_prefix(b"ab%c"), Some((b"ab".to_vec(), false)));
        assert_eq!(like_prefix(b"%c"), None);
    }
}
