//! `substr(s, from, length)`: characters of a string, the first of which is number 1. A negative `from` counts from the
//! end.

use super::{Bound, Function, Mismatch, constant_integer, count, integer, string};
use crate::functions::typed::Typed;
use crate::values::view::ViewData;
use brc_core::{Array, ByteStrings, LogicalType, StringBuffer};

pub(super) static SUBSTR: Function = Function {
    name: "substr",
    aliases: &["substring", "mid"],
    usage: "substr(s, from[, length])",
    about: "the characters of s from position from; the first is 1",
    example: ("substr('database', 5, 3)", "bas"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=3, SUBSTR.usage)?;
    string(arguments, 0)?;
    (1..arguments.len()).try_for_each(|index| integer(arguments, index))?;
    let has_length = arguments.len() == 3;
    let same_for_all = same_for_all(arguments);
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        if let (Some((skipped, most)), ViewData::Strings(strings)) = (same_for_all, &views[0].data)
            && strings.span().is_ascii()
        {
            return Ok(Array::from(parts_of_ascii(*strings, skipped, most)));
        }
        rows.strings(|row, out| {
            let length = if has_length { views[2].narrow(row) } else { i64::MAX };
            out.extend_from_slice(part(views[0].bytes(row), views[1].narrow(row), length));
        })
    }))
}

/// How many characters are left out, and how many are taken then, if that is the same for all strings.
fn same_for_all(arguments: &[Typed]) -> Option<(usize, usize)> {
    let first = constant_integer(arguments, 1).ok().filter(|&first| first > 0)?;
    let most = match arguments.len() {
        3 => constant_integer(arguments, 2).ok()?,
        _ => i64::MAX,
    };
    Some((first as usize - 1, most.max(0) as usize))
}

/// That part of all strings, of which a character is a byte.
fn parts_of_ascii(strings: ByteStrings<'_>, skipped: usize, most: usize) -> StringBuffer {
    let (offsets, bytes) = strings.parts();
    let all = offsets.last().zip(offsets.first()).map_or(0, |(end, start)| (end - start) as usize);
    let mut parts = vec![0; all.min(most.saturating_mul(strings.len())) + COPIED_BYTES];
    let mut ends = Vec::with_capacity(offsets.len());
    ends.push(0);
    let mut at = 0;
    ends.extend(offsets.windows(2).map(|pair| {
        let (start, end) = (pair[0] as usize, pair[1] as usize);
        let start = end.min(start.saturating_add(skipped));
        let length = most.min(end - start);
        match (bytes[start..].first_chunk::<COPIED_BYTES>(), parts[at..].first_chunk_mut()) {
            // A copy of known length is one move, whatever of it counts.
            (Some(longer), Some(room)) if length <= COPIED_BYTES => *room = *longer,
            _ => parts[at..at + length].copy_from_slice(&bytes[start..start + length]),
        }
        at += length;
        // No longer than the strings were.
        at as i32
    }));
    parts.truncate(at);
    StringBuffer::of_parts(ends, parts)
}

/// This many bytes are copied at once.
const COPIED_BYTES: usize = 16;

/// This many characters from one on.
pub(super) fn part(text: &[u8], from: i64, length: i64) -> &[u8] {
    if text.is_ascii() {
        let (start, end) = bounds(from, length, text.len());
        return &text[start..end];
    }
    let starts: Vec<usize> = (0..text.len()).filter(|&at| text[at] as i8 >= -0x40).collect();
    let (start, end) = bounds(from, length, starts.len());
    let byte = |character: usize| starts.get(character).copied().unwrap_or(text.len());
    &text[byte(start)..byte(end)]
}

/// Where characters begin and end among `count`, from 0. What lies before the first counts as well.
fn bounds(from: i64, length: i64, count: usize) -> (usize, usize) {
    let (count, from) = (count as i128, i128::from(from));
    let start = if from < 0 { count + from } else { from - 1 };
    let end = start + i128::from(length.max(0));
    let (start, end) = (start.clamp(0, count), end.clamp(0, count));
    (start as usize, end.max(start) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_of_ascii_are_parts(
            texts in prop::collection::vec("[ -~]{0,40}", 0..20), skipped in 0usize..45, most in 0usize..45
        ) {
            let mut offsets = vec![0];
            texts.iter().for_each(|text| offsets.push(offsets[offsets.len() - 1] + text.len() as i32));
            let bytes = texts.concat();
            let parts = parts_of_ascii(ByteStrings::new(&offsets, bytes.as_bytes()), skipped, most);
            let expected = texts.iter().map(|text| part(text.as_bytes(), skipped as i64 + 1, most as i64));
            prop_assert!(parts.as_strings().iter().eq(expected));
        }
    }

    #[test]
    fn characters_are_counted_from_one() {
        for (text, from, length, expected) in [
            ("hello", 1, 2, "he"),
            ("hello", 2, i64::MAX, "ello"),
            ("hello", 0, 2, "h"),
            ("hello", -3, 2, "ll"),
            ("hello", 4, 9, "lo"),
            ("hello", 9, 1, ""),
            ("hello", 2, -1, ""),
            ("São Paulo", 2, 3, "ão "),
        ] {
            assert_eq!(part(text.as_bytes(), from, length), expected.as_bytes(), "{text} {from} {length}");
        }
    }
}
