//! `s like pattern`: whether a string matches a pattern, in which `%` matches any characters and `_` matches one.

use super::pieces::Pieces;
use super::segments::{Element, Matching, Segments};
use super::{Bound, Function, Mismatch, constant_text, count, refuse, string};
use crate::functions::typed::Typed;
use crate::values::view::ViewData;
use brc_core::{Array, LogicalType};

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
                Ok(Array::from(found))
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
    Element(Element),
}

fn text(text: impl Into<String>) -> Part {
    Part::Element(Element::Text(text.into()))
}

fn parts(pattern: &[u8], escape: Option<&[u8]>) -> Option<Vec<Part>> {
    let mut escape = std::str::from_utf8(escape.unwrap_or_default()).ok()?.chars();
    let (escape, None) = (escape.next(), escape.next()) else { return None };
    let mut parts = Vec::new();
    let mut characters = std::str::from_utf8(pattern).ok()?.chars();
    while let Some(character) = characters.next() {
        let part = match character {
            _ if escape == Some(character) => text(characters.next()?),
            '%' => Part::Any,
            '_' => Part::Element(Element::One),
            _ => text(character),
        };
        match (parts.last_mut(), part) {
            (Some(Part::Any), Part::Any) => {}
            (Some(Part::Element(Element::Text(text))), Part::Element(Element::Text(more))) => text.push_str(&more),
            (_, part) => parts.push(part),
        }
    }
    Some(parts)
}

/// The pieces of text that matching strings contain; `None` if the pattern is more than texts between `%`.
fn pieces(parts: &[Part]) -> Option<Pieces> {
    let (mut parts, mut start, mut end) = (parts, "", "");
    if let [Part::Element(Element::Text(text)), rest @ ..] = parts
        && rest.first() == Some(&Part::Any)
    {
        (start, parts) = (text, rest);
    }
    if let [rest @ .., Part::Element(Element::Text(text))] = parts
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
    let texts =
        texts.map(|part| if let Part::Element(Element::Text(text)) = part { Some(text.as_str()) } else { None });
    Some(Pieces::new(start, &texts.collect::<Option<Vec<_>>>()?, end))
}

/// Whether a string matches. In one that is not UTF-8, `_` is also a byte of no character.
fn test(parts: &[Part], insensitive: bool) -> Result<impl Fn(&[u8]) -> bool + Send + Sync + use<>, regex::Error> {
    let segments: Vec<Vec<Element>> = parts.split(|part| *part == Part::Any).map(elements).collect();
    let segments: Vec<&[Element]> = segments.iter().map(Vec::as_slice).collect();
    let of = |bytes| Segments::new(&segments, Matching { insensitive, bytes });
    let of_characters = of(false)?;
    let has_one = parts.contains(&Part::Element(Element::One));
    let of_bytes = has_one.then(|| of(true)).transpose()?;
    let is_binary = |text: &[u8]| std::str::from_utf8(text).is_err();
    Ok(move |text: &[u8]| {
        of_characters.are_in(text) || of_bytes.as_ref().is_some_and(|bytes| is_binary(text) && bytes.are_in(text))
    })
}

/// The parts that are no `%`.
fn elements(parts: &[Part]) -> Vec<Element> {
    let element = |part: &Part| match part {
        Part::Any => None,
        Part::Element(element) => Some(element.clone()),
    };
    parts.iter().filter_map(element).collect()
}

/// What all strings begin with that match a pattern, and whether all that begin so match it; `None` if they have
/// nothing in common.
pub(crate) fn like_prefix(pattern: &[u8]) -> Option<(Vec<u8>, bool)> {
    let parts = parts(pattern, None)?;
    match &parts[..] {
        [Part::Element(Element::Text(text)), rest @ ..] if !rest.is_empty() => {
            Some((text.clone().into(), rest == [Part::Any]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

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
        assert_eq!(escaped, [text("100%")]);
        assert_eq!(parts(b"a!", Some(b"!")), None);
        assert_eq!(like_prefix(b"ab%"), Some((b"ab".to_vec(), true)));
        assert_eq!(like_prefix(b"ab%c"), Some((b"ab".to_vec(), false)));
        assert_eq!(like_prefix(b"%c"), None);
    }

    /// Whether a pattern without escapes matches, in plain code.
    fn matches(pattern: &[char], text: &[char], insensitive: bool) -> bool {
        let folded = |character: char| match insensitive {
            true => character.to_lowercase().next().unwrap_or(character),
            false => character,
        };
        match (pattern, text) {
            ([], _) => text.is_empty(),
            (['%', rest @ ..], _) => (0..=text.len()).any(|skipped| matches(rest, &text[skipped..], insensitive)),
            ([_, ..], []) => false,
            ([one, rest @ ..], [first, others @ ..]) => {
                (*one == '_' || folded(*one) == folded(*first)) && matches(rest, others, insensitive)
            }
        }
    }

    proptest! {
        #[test]
        fn patterns_match_as_plain_code_says(pattern in "[aAäÄ_%]{0,7}", text in "[aAäÄß]{0,7}", insensitive: bool) {
            let found = test(&parts(pattern.as_bytes(), None).unwrap(), insensitive).unwrap()(text.as_bytes());
            let characters = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = matches(&characters(&pattern), &characters(&text), insensitive);
            prop_assert_eq!(found, expected, "{} like {}", text, pattern);
        }
    }

    #[test]
    fn long_patterns_are_no_trouble() {
        let start = Instant::now();
        let text = "ab".repeat(20_000);
        for (pattern, matches) in [
            ("%A".repeat(2000), false),
            ("%A_".repeat(2000), true),
            ("%a%B".repeat(5000), true),
            ("%a%_A".repeat(5000), false),
            ("_%".repeat(5000), true),
        ] {
            let matching = test(&parts(pattern.as_bytes(), None).unwrap(), true).unwrap();
            assert_eq!(matching(text.as_bytes()), matches, "{}", &pattern[..8]);
            assert!(!matching(b"ab"));
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
