//! `regexp_replace(s, pattern, replacement)`: a string in which what matches a regular expression is replaced: the first
//! match, or all with option `g`. In the replacement `\0` is the match, and `\1` to `\9` are its groups.

use super::pattern::Pattern;
use super::{Bound, Function, Mismatch, constant_text, count, refuse, string};
use crate::node::Typed;
use crate::vector::Text;
use brc_core::LogicalType;
use regex::bytes::Regex;

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
    let most = if global { usize::MAX } else { 1 };
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        rows.strings(|row, out| replace(views[0].bytes(row), &regex, &pieces, most, out))
    }))
}

/// The pieces of a replacement for a pattern of so many groups.
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

fn replace(text: &[u8], regex: &Regex, pieces: &[Piece], most: usize, out: &mut Text<'_>) {
    let mut end = 0;
    if pieces.iter().all(|piece| matches!(piece, Piece::Text(_) | Piece::Group(0))) {
        // Where a match begins and ends is found faster than its groups.
        for found in regex.find_iter(text).take(most) {
            out.extend_from_slice(&text[end..found.start()]);
            append(pieces, |_| found.as_bytes(), out);
            end = found.end();
            if !out.has_room_for(0) {
                return;
            }
        }
    } else {
        for found in regex.captures_iter(text).take(most) {
            let whole = found.get(0).map_or(end..end, |whole| whole.range());
            out.extend_from_slice(&text[end..whole.start]);
            append(pieces, |group| found.get(group).map_or(&[], |group| group.as_bytes()), out);
            end = whole.end;
            if !out.has_room_for(0) {
                return;
            }
        }
    }
    out.extend_from_slice(&text[end..]);
}

fn append<'t>(pieces: &[Piece], group: impl Fn(usize) -> &'t [u8], out: &mut Text<'_>) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Group(number) => out.extend_from_slice(group(*number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
