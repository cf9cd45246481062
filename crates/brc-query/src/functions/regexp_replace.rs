//! `regexp_replace(s, pattern, replacement)`: a string in which what matches a regular expression is replaced: the
//! first match, or all with option `g`. In the replacement `\0` is the match, and `\1` to `\9` are its groups.

use super::pattern::Pattern;
use super::trim::is_continuation;
use super::{Bound, Function, Mismatch, constant_text, count, refuse, string};
use crate::functions::typed::Typed;
use crate::values::text::Text;
use brc_core::LogicalType;
use regex::bytes::{Match, Regex};
use std::ops::Range;

pub(super) static REGEXP_REPLACE: Function = Function {
    name: "regexp_replace",
    aliases: &[],
    usage: "regexp_replace(s, pattern, replacement[, options])",
    about: "s with the first match replaced, or all with option 'g'; \\1 in the replacement is the first group",
    example: ("regexp_replace('order 66', '([a-z]+) ([0-9]+)', '\\2 \\1')", "66 order"),
    bind,
};

/// A piece of a replacement.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    /// A group of the match; the first is the match itself.
    Group(usize),
}

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 3..=4, REGEXP_REPLACE.usage)?;
    string(arguments, 0)?;
    let Pattern { regex, global } = Pattern::of(arguments, 1, 3)?;
    let pieces = match pieces(&constant_text(arguments, 2)?, regex.captures_len() - 1) {
        Ok(pieces) => pieces,
        Err(needed) => return refuse(2, needed),
    };
    let has_groups = pieces.iter().any(|piece| !matches!(piece, Piece::Text(_) | Piece::Group(0)));
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        let mut locations = regex.capture_locations();
        rows.strings(|row, out| {
            let text = views[0].bytes(row);
            match (global, has_groups) {
                (true, _) => replace_all(text, &regex, &pieces, has_groups, out),
                // Where a match begins and ends is found faster than its groups.
                (false, false) => {
                    let found = first(text, |start| regex.find_at(text, start));
                    replace(text, found, &pieces, |_| None, out);
                }
                (false, true) => {
                    let found = first(text, |start| regex.captures_read_at(&mut locations, text, start));
                    replace(text, found, &pieces, |group| locations.get(group), out);
                }
            }
        })
    }))
}

/// The pieces of a replacement for a pattern of this many groups.
fn pieces(replacement: &[u8], groups: usize) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), Vec::new(), replacement.iter());
    while let Some(&byte) = rest.next() {
        match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (b'\\', Some(b'\\')) => text.push(b'\\'),
            (b'\\', Some(digit @ b'0'..=b'9')) => {
                let group = usize::from(digit - b'0');
                if group > groups {
                    return Err(format!("needs groups that its pattern has: {groups}, but \\{group} is beyond"));
                }
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Group(group));
            }
            (b'\\', _) => return Err(r"needs a digit or another \ after each \ of its replacement".to_owned()),
            _ => text.push(byte),
        }
    }
    pieces.push(Piece::Text(text));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    Ok(pieces)
}

/// The first match that splits no character, of those that `find` finds from a byte on.
fn first<'t>(text: &'t [u8], mut find: impl FnMut(usize) -> Option<Match<'t>>) -> Option<Range<usize>> {
    let mut start = 0;
    loop {
        let found = find(start)?.range();
        if !splits_character(text, &found) {
            return Some(found);
        }
        start = found.end + 1;
    }
}

/// Whether a match of nothing lies between the bytes of a character.
fn splits_character(text: &[u8], found: &Range<usize>) -> bool {
    found.is_empty() && text.get(found.start).is_some_and(|&byte| is_continuation(byte))
}

/// Appends a text of which one part is replaced. The groups other than the part itself are where `group` says.
fn replace(
    text: &[u8],
    part: Option<Range<usize>>,
    pieces: &[Piece],
    group: impl Fn(usize) -> Option<(usize, usize)>,
    out: &mut Text<'_>,
) {
    let Some(part) = part else { return out.extend_from_slice(text) };
    out.extend_from_slice(&text[..part.start]);
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Group(0) => out.extend_from_slice(&text[part.clone()]),
            Piece::Group(number) => {
                let (start, end) = group(*number).unwrap_or_default();
                out.extend_from_slice(&text[start..end]);
            }
        }
    }
    out.extend_from_slice(&text[part.end..]);
}

/// The same for all matches.
fn replace_all(text: &[u8], regex: &Regex, pieces: &[Piece], has_groups: bool, out: &mut Text<'_>) {
    let mut end = 0;
    let mut append = |whole: Range<usize>, group: &dyn Fn(usize) -> Option<(usize, usize)>| {
        if splits_character(text, &whole) {
            return true;
        }
        // What follows the match is appended with the next one.
        let range = |place: (usize, usize)| (place.0 - end, place.1 - end);
        let part = whole.start - end..whole.end - end;
        replace(&text[end..whole.end], Some(part), pieces, |number| group(number).map(range), out);
        end = whole.end;
        out.has_room_for(0)
    };
    if has_groups {
        for found in regex.captures_iter(text) {
            let place = |number| found.get(number).map(|group: Match<'_>| (group.start(), group.end()));
            let whole = place(0).unwrap_or_default();
            if !append(whole.0..whole.1, &place) {
                return;
            }
        }
    } else if !regex.find_iter(text).all(|found| append(found.range(), &|_| None)) {
        return;
    }
    out.extend_from_slice(&text[end..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::memory::Allowance;
    use crate::values::text::push_text;
    use brc_core::StringBuffer;
    use proptest::prelude::*;

    proptest! {
        /// The library's expressions of text split no character either.
        #[test]
        fn matches_are_those_of_text(
            text in "[abé日]{0,10}",
            pattern in prop::sample::select(vec!["", "a*", "(é)|b", "(a)(b)?", "x?", "(.)(日*)", r"\b", r"\B"]),
        ) {
            let (regex, of_text) = (Regex::new(pattern).unwrap(), regex::Regex::new(pattern).unwrap());
            let has_group = regex.captures_len() > 1;
            let (ours, theirs) = if has_group { (r"<\1|\0>", "<${1}|${0}>") } else { (r"<\0>", "<${0}>") };
            let pieces = pieces(ours.as_bytes(), regex.captures_len() - 1).unwrap();
            let written = |write: &dyn Fn(&mut Text<'_>)| {
                let mut strings = StringBuffer::default();
                push_text(&mut strings, Allowance::default(), write).unwrap();
                String::from_utf8(strings.as_strings().get(0).to_vec()).unwrap()
            };
            let all = written(&|out| replace_all(text.as_bytes(), &regex, &pieces, has_group, out));
            prop_assert_eq!(all, of_text.replace_all(&text, theirs));
            let one = written(&|out| {
                let mut locations = regex.capture_locations();
                let found = first(text.as_bytes(), |start| regex.captures_read_at(&mut locations, text.as_bytes(), start));
                replace(text.as_bytes(), found, &pieces, |group| locations.get(group), out);
            });
            prop_assert_eq!(one, of_text.replace(&text, theirs));
        }
    }

    #[test]
    fn replacements_are_taken_apart() {
        let text = |text: &str| Piece::Text(text.into());
        for (replacement, expected) in [
            ("", Ok(vec![])),
            (r"\1", Ok(vec![Piece::Group(1)])),
            (r"<\0\\>$1", Ok(vec![text("<"), Piece::Group(0), text(r"\>$1")])),
            (r"\10", Ok(vec![Piece::Group(1), text("0")])),
            (r"\3", Err("needs groups that its pattern has: 2, but \\3 is beyond".to_owned())),
            (r"a\", Err(r"needs a digit or another \ after each \ of its replacement".to_owned())),
            (r"\n", Err(r"needs a digit or another \ after each \ of its replacement".to_owned())),
        ] {
            assert_eq!(pieces(replacement.as_bytes(), 2), expected, "{replacement}");
        }
    }
}
