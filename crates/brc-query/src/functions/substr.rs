//! `substr(s, from, length)`: characters of a string, the first of which is number 1. A negative `from` counts from the end.

use super::{Bound, Function, Mismatch, count, refuse, string};
use crate::node::Typed;
use brc_core::LogicalType;

pub(super) static SUBSTR: Function = Function {
    name: "substr",
    aliases: &["substring"],
    usage: "substr(s, from[, length])",
    about: "the characters of a string from one on, which is number 1 if it is the first",
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 2..=3, SUBSTR.usage)?;
    string(arguments, 0)?;
    for (index, argument) in arguments.iter().enumerate().skip(1) {
        if !argument.logical_type.fits_64_bits() || argument.logical_type.scale() > 0 {
            return refuse(index, "needs an integer");
        }
    }
    let has_length = arguments.len() == 3;
    Ok(Bound::new(LogicalType::String, move |views, rows| {
        rows.strings(|row, out| {
            let length = if has_length { views[2].narrow(row) } else { i64::MAX };
            out.extend_from_slice(part(views[0].bytes(row), views[1].narrow(row), length));
        })
    }))
}

/// So many characters from one on.
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
