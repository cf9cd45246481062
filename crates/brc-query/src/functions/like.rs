//! `s like pattern`: whether a string is what a pattern says, in which `%` stands for any characters and `_` for one.

use super::pieces::Pieces;
use super::{Bound, Function, Mismatch, constant_text, count, refuse, string};
use crate::node::Typed;
use crate::vector::{Values, ViewData};
use brc_core::LogicalType;
use regex::bytes::{Regex, RegexBuilder};

pub(super) static LIKE: Function = Function {
    name: "like",
    aliases: &[],
    usage: "s like pattern [escape c]",
    about: "whether s matches a pattern: % is any text, _ any one character",
    example: ("'Oslo' like 'O%'", "true"),
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
    if let Some(pieces) = pieces(&parts).filter(|_| !insensitive) {
        return Ok(Bound::new(LogicalType::Bool, move |views, rows| match (&views[0].data, rows.are_all_valid()) {
            (ViewData::Strings(strings), true) => {
                let mut found = vec![0; rows.count];
                pieces.search(*strings, |row| found[row] = 1);
                Ok(rows.vector(Values::Narrow(found)))
            }
            _ => rows.truths(|row| pieces.are_in(views[0].bytes(row))),
        }));
    }
    let Ok(test) = test(&parts, insensitive) else { return refuse(1, "is too long a pattern") };
    Ok(Bound::test(test))
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

/// The pieces of text that strings have; `None` if more is asked of them.
fn pieces(parts: &[Part]) -> Option<Pieces> {
    let (mut parts, mut start, mut end) = (parts, "", "");
    if let [Part::Text(text), rest @ ..] = parts
        && rest.first() == Some(&Part::Any)
    {
        (start, parts) = (text, rest);
    }
    if let [rest @ .., Part::Text(text)] = parts
        && rest.last() == Some(&Part::Any)
    {
        (end, parts) = (text, rest);
    }
    let [Part::Any, inner @ ..] = parts else { return None };
    let inner = match inner {
        [] => inner,
        [inner @ .., Part::Any] => inner,
        _ => return None,
    };
    let texts = inner.iter().filter(|part| **part != Part::Any);
    let texts = texts.map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
    Some(Pieces::new(start, &texts.collect::<Option<Vec<_>>>()?, end))
}

/// Whether a string matches. In one that is not UTF-8, `_` is also a byte of no character.
fn test(parts: &[Part], insensitive: bool) -> Result<impl Fn(&[u8]) -> bool + Send + Sync + use<>, regex::Error> {
    let of_characters = regex(parts, insensitive, ".")?;
    let has_one = parts.contains(&Part::One);
    let of_bytes = has_one.then(|| regex(parts, insensitive, "(?:.|(?-u:.))")).transpose()?;
    let is_binary = |text: &[u8]| std::str::from_utf8(text).is_err();
    Ok(move |text: &[u8]| {
        of_characters.is_match(text) || of_bytes.as_ref().is_some_and(|regex| is_binary(text) && regex.is_match(text))
    })
}

/// The regular expression of a pattern, in which `one` is one character.
fn regex(parts: &[Part], insensitive: bool, one: &str) -> Result<Regex, regex::Error> {
    let mut text = String::from("^");
    for part in parts {
        match part {
            Part::Any => text.push_str("(?-u:.)*"),
            Part::One => text.push_str(one),
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
            ("__%-%", "é-5", false),
            ("%__", "é", false),
            ("__", "éß", true),
            ("a%b%c", "axbyc", true),
            ("a%b%c", "axcyb", false),
            ("%b%%c%", "xbcx", true),
            ("%b%c%", "xcbx", false),
            ("ab%ba", "aba", false),
            ("ab%ba", "abba", true),
        ] {
            let parts = parts(pattern.as_bytes(), None).unwrap();
            if let Some(pieces) = pieces(&parts) {
                assert_eq!(pieces.are_in(text.as_bytes()), matches, "{text} like {pattern}");
            }
            assert_eq!(test(&parts, false).unwrap()(text.as_bytes()), matches, "{text} like {pattern}");
        }
        for (pattern, simple) in
            [("a%", true), ("%a%b", true), ("%", true), ("a", false), ("a_%", false), ("%_%", false)]
        {
            assert_eq!(pieces(&parts(pattern.as_bytes(), None).unwrap()).is_some(), simple, "{pattern}");
        }
        let binary = parts(b"__-%", None).unwrap();
        assert!(test(&binary, false).unwrap()(b"\xe9\xff-x"));
        let escaped = parts(b"100!%", Some(b"!")).unwrap();
        assert_eq!(escaped, [Part::Text("100%".to_owned())]);
        assert_eq!(parts(b"a!", Some(b"!")), None);
        assert_eq!(like_prefix(b"ab%"), Some((b"ab".to_vec(), true)));
        assert_eq!(like_prefix(b"ab%c"), Some((b"ab".to_vec(), false)));
        assert_eq!(like_prefix(b"%c"), None);
    }
}
