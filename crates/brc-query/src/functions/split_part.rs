//! `split_part(s, separator, n)`: one of the parts between separators.

use super::{Bound, Function, Mismatch, contains, count, integer, string, substr};
use crate::functions::typed::Typed;
use brc_core::LogicalType;

pub(super) static SPLIT_PART: Function = Function {
    name: "split_part",
    aliases: &["splitpart"],
    usage: "split_part(s, separator, n)",
    about: "part number n of s between separators; of a negative n, counted from the end; '' if there is none",
    example: ("split_part('a-b-c', '-', 2)", "b"),
    bind,
};

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    count(arguments, 3..=3, SPLIT_PART.usage)?;
    string(arguments, 0)?;
    string(arguments, 1)?;
    integer(arguments, 2)?;
    Ok(Bound::new(LogicalType::String, |views, rows| {
        rows.strings(|row, out| {
            out.extend_from_slice(part(views[0].bytes(row), views[1].bytes(row), views[2].narrow(row)));
        })
    }))
}

/// A part by its number. Nothing separates single characters.
fn part<'t>(text: &'t [u8], separator: &[u8], number: i64) -> &'t [u8] {
    if separator.is_empty() {
        return if number == 0 { &[] } else { substr::part(text, number, 1) };
    }
    let number = match usize::try_from(number) {
        Ok(number) => number.checked_sub(1),
        Err(_) => {
            let parts = parts(text, separator).count();
            parts.checked_sub(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX))
        }
    };
    number.and_then(|number| parts(text, separator).nth(number)).unwrap_or_default()
}

fn parts<'t>(text: &'t [u8], separator: &[u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = contains::find(text, separator);
        rest = end.map(|end| &text[end + separator.len()..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_those_of_the_library(text in "[ab-]{0,12}", separator in "[ab-]{1,2}", number in -6i64..7) {
            let expected: Vec<&str> = text.split(separator.as_str()).collect();
            let index = if number < 0 { number + expected.len() as i64 } else { number - 1 };
            let expected = usize::try_from(index).ok().and_then(|index| expected.get(index)).copied();
            let found = part(text.as_bytes(), separator.as_bytes(), number);
            prop_assert_eq!(found, expected.unwrap_or_default().as_bytes());
        }
    }

    #[test]
    fn odd_numbers_and_separators() {
        for (text, separator, number, expected) in [
            ("a-b", "-", 0, ""),
            ("aéc", "", 2, "é"),
            ("aéc", "", -1, "c"),
            ("aéc", "", 0, ""),
            ("a", "-", i64::MIN, ""),
        ] {
            assert_eq!(part(text.as_bytes(), separator.as_bytes(), number), expected.as_bytes(), "{text} {number}");
        }
    }
}
