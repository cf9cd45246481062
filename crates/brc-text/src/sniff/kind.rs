//! What a single field looks like.
//!
//! Split by the right delimiter, fields are numbers, dates, words; split by a wrong one, they are fragments of them or
//! several at once. These kinds are not the types of columns: nothing is parsed, and `31/12/99` is a date although it
//! is ambiguous.

use super::rows::Cell;
use crate::form::NumberForm;
use crate::infer::{NullTokenSet, Seen};
use brc_core::calendar::{MONTHS, WEEKDAYS};

/// The appearance of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Empty, a null token, or a float without digits, which may also be a name.
    Null,
    /// A number, including currency, percent and thousands separators, or an exponent.
    Number,
    /// A date, a time or both.
    Time,
    /// `true` or `false`.
    Bool,
    /// Another word for one of these: `yes`, `n`.
    Flag,
    /// A URL, an email address or an IP address.
    Address,
    /// Letters, digits and joining characters.
    Word,
    /// Words with blanks and punctuation.
    Prose,
    /// Anything else.
    Other,
}

impl Kind {
    /// The kind of a field.
    pub(super) fn of(cell: &Cell<'_>) -> Kind {
        let text = cell.bytes;
        if is_null(text) {
            Kind::Null
        } else if is_number(text) {
            Kind::Number
        } else if is_time(text) {
            Kind::Time
        } else if is_one_of(text, &["true", "false"]) {
            Kind::Bool
        } else if is_one_of(text, &["yes", "no", "t", "f", "y", "n"]) {
            Kind::Flag
        } else if is_address(text) {
            Kind::Address
        } else if text.iter().all(|byte| is_word(*byte)) {
            Kind::Word
        } else if cell.is_quoted || is_prose(text) {
            Kind::Prose
        } else {
            Kind::Other
        }
    }

    /// Whether fields of this kind are typed, so that a column of them is unlike its name.
    pub(super) fn is_typed(self) -> bool {
        matches!(self, Kind::Number | Kind::Time | Kind::Bool | Kind::Flag | Kind::Address)
    }

    /// How strongly a field of this kind supports the delimiters around it, from 0 to 1.
    pub(super) fn weight(self) -> f64 {
        match self {
            Kind::Number | Kind::Time | Kind::Bool | Kind::Flag | Kind::Address => 1.0,
            Kind::Null => 0.75,
            Kind::Word => 0.8,
            Kind::Prose => 0.6,
            Kind::Other => 0.3,
        }
    }
}

fn is_null(text: &[u8]) -> bool {
    const WORDS: &[&str] = &["na", "n/a", "null", "none", "nil", "nan", "inf", "infinity"];
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    NullTokenSet::of(text).is_some() || is_one_of(unsigned, WORDS) || is_error(text)
}

/// Whether a text is what spreadsheets of any language write where a formula has no value: `#DIV/0!`, `#NV`,
/// `#VALEUR!`.
fn is_error(text: &[u8]) -> bool {
    const WITHOUT_MARK: [&[u8]; 6] = [b"N/A", b"N/A N/A", b"NV", b"N/D", b"N/B", b"NA"];
    let Some(name) = text.strip_prefix(b"#") else { return false };
    let marked = name.strip_suffix(b"!").or_else(|| name.strip_suffix(b"?")).filter(|name| !name.is_empty());
    let is_capital = |byte: &u8| byte.is_ascii_uppercase() || !byte.is_ascii() || matches!(byte, b'/' | b'0' | b'_');
    WITHOUT_MARK.contains(&name) || marked.is_some_and(|name| name.iter().all(is_capital))
}

/// Whether a text is one of these words, in any case.
fn is_one_of(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a text stands for a number that is only bounded or marked: `<0.05`, `< LOD`, `12*`. `<DATE>` is a name, and
/// so is a year with a mark.
pub(super) fn is_limit(text: &[u8]) -> bool {
    let rest = text.strip_suffix(b"*").unwrap_or(text);
    let is_marked = rest.len() < text.len() && is_number(rest) && !is_year(rest);
    let bound = ["<", ">", "~", "≤", "≥", "±"].iter().find_map(|sign| text.strip_prefix(sign.as_bytes()));
    is_marked || bound.is_some_and(|rest| rest.iter().any(u8::is_ascii_alphanumeric) && !rest.ends_with(b">"))
}

/// Whether some of these texts are bands of numbers beside one another, as in `<18`, `18-64`, `>64`. They are names,
/// where a single limit is a value.
pub(super) fn are_bands<'a>(texts: impl Iterator<Item = &'a [u8]> + Clone) -> bool {
    let is_digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let is_range = |text: &[u8]| {
        let ends = text.iter().position(|byte| *byte == b'-').map(|at| (&text[..at], &text[at + 1..]));
        ends.is_some_and(|(low, high)| is_digits(low) && is_digits(high))
    };
    let some_begins =
        |signs: [&str; 2]| texts.clone().any(|text| signs.iter().any(|sign| text.starts_with(sign.as_bytes())));
    let (is_above, is_below) = (some_begins(["<", "≤"]), some_begins([">", "≥"]));
    is_above && is_below || (is_above || is_below) && texts.clone().any(is_range)
}

/// Whether a text is a year from 1700 to 2199.
pub(super) fn is_year(text: &[u8]) -> bool {
    matches!(text, [b'1', b'7'..=b'9', _, _] | [b'2', b'0' | b'1', _, _]) && text.iter().all(u8::is_ascii_digit)
}

/// Whether a text takes the place of a value that is not known.
pub(super) fn is_placeholder(text: &[u8]) -> bool {
    is_one_of(text, &["unknown", "localhost", "tbd", "tba", "missing", "(none)", "n/d", "n.d.", "*"])
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || matches!(byte, b'_' | b'-' | b'.')
}

/// Text with letters or digits and no delimiters or quotes, except commas and apostrophes as in prose.
fn is_prose(text: &[u8]) -> bool {
    let is_foreign = |byte: u8| matches!(byte, b'|' | b';' | b'"' | b'^' | b'~') || byte.is_ascii_control();
    let is_apart = |pair: &[u8]| pair[0] == b',' && pair[1] != b' ' || pair == b"  ";
    text.iter().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
        && !text.iter().any(|byte| is_foreign(*byte))
        && !text.windows(2).any(is_apart)
        && ![b"'", b","].iter().any(|byte| text.starts_with(*byte) || text.ends_with(*byte))
}

/// `-1,234.5e-6`, `€ 12`, `3 %`, `1.234,5`.
fn is_number(text: &[u8]) -> bool {
    let text = without_units(text);
    let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if NumberForm::has_spaced_thousands(text) {
        return true;
    }
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let is_exponent = |text: &[u8]| {
        let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        (1..=4).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
    };
    is_mantissa(mantissa) && exponent.is_none_or(is_exponent)
}

fn without_units(mut text: &[u8]) -> &[u8] {
    for unit in [&b"$"[..], "€".as_bytes(), "£".as_bytes(), b"\xa3", b"%"] {
        let without = text.strip_prefix(unit).or_else(|| text.strip_suffix(unit));
        text = without.map_or(text, <[u8]>::trim_ascii);
    }
    text
}

/// Digits, at most one decimal separator, and thousands separators at the right positions.
fn is_mantissa(text: &[u8]) -> bool {
    if !text.iter().any(u8::is_ascii_digit) || !text.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')) {
        return false;
    }
    let groups: Vec<&[u8]> = text.split(|byte| !byte.is_ascii_digit()).collect();
    let separators: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_digit()).collect();
    match separators.as_slice() {
        [] => true,
        [separator] => *separator == b'.' || groups.iter().all(|group| !group.is_empty()),
        [thousands, middle @ .., last] => {
            let has_fraction = last != thousands;
            let whole = &groups[1..groups.len() - usize::from(has_fraction)];
            middle.iter().all(|separator| separator == thousands)
                && (1..=3).contains(&groups[0].len())
                && whole.iter().all(|group| group.len() == 3)
        }
    }
}

/// `2024-01-31`, `31/12/99`, `31 Dec 1999`, `12:30`, `2024-01-31T12:30:00.5+01:00`.
fn is_time(text: &[u8]) -> bool {
    if text.len() > 40 || !text.iter().any(u8::is_ascii_digit) {
        return false;
    }
    if is_date(text) || is_clock(text) {
        return true;
    }
    let split = |at: usize| is_date(&text[..at]) && is_clock(text[at + 1..].trim_ascii_start());
    text.iter().enumerate().any(|(at, byte)| matches!(byte, b'T' | b' ' | b':') && split(at)) || is_named(text)
}

/// A time that begins with the name of a month or weekday: `Dec 31, 2024`.
fn is_named(text: &[u8]) -> bool {
    let begins = |names: &[&str]| names.iter().any(|name| text.starts_with(&name.as_bytes()[..3]));
    (begins(&MONTHS) || begins(&WEEKDAYS)) && Seen::of_value(text).is_formed_time()
}

fn is_date(text: &[u8]) -> bool {
    let Some(&separator) = text.iter().find(|byte| matches!(byte, b'-' | b'/' | b'.' | b' ')) else { return false };
    let parts: Vec<&[u8]> = text.split(|byte| *byte == separator).collect();
    let [first, middle, last] = parts.as_slice() else { return false };
    let digits = |part: &[u8], lengths: &[usize]| lengths.contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    let is_middle = digits(middle, &[1, 2]) || is_month(middle);
    is_middle && (digits(first, &[4]) && digits(last, &[1, 2]) || digits(first, &[1, 2]) && digits(last, &[2, 4]))
}

fn is_month(text: &[u8]) -> bool {
    text.len() >= 3
        && text.iter().all(u8::is_ascii_alphabetic)
        && MONTHS.iter().any(|month| text[..3].eq_ignore_ascii_case(&month.as_bytes()[..3]))
}

/// `12:30`, `12:30:45.678`, with `am`, `PM`, `Z` or an offset.
fn is_clock(text: &[u8]) -> bool {
    let hours = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &text[hours..];
    (1..=2).contains(&hours)
        && rest.len() >= 3
        && rest[0] == b':'
        && rest[1..3].iter().all(u8::is_ascii_digit)
        && rest[3..].iter().all(|byte| byte.is_ascii_digit() || b":.+- ZzAaPpMmUTC".contains(byte))
        && !rest.windows(2).any(|pair| pair[0] == b' ' && pair[1].is_ascii_digit())
}

fn is_address(text: &[u8]) -> bool {
    let has = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    if text.contains(&b' ') {
        return false;
    }
    let starts =
        |prefix: &str| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()));
    if starts("http://") || starts("https://") || starts("ftp://") || starts("www.") {
        return !text.iter().any(|byte| matches!(byte, b'|' | b'"' | b'\t'));
    }
    let is_plain = text.iter().all(|byte| is_word(*byte) || matches!(byte, b'@' | b'+'));
    is_plain && (has(b"@") && has(b".") && text.split(|byte| *byte == b'@').count() == 2 || is_ipv4(text))
}

fn is_ipv4(text: &[u8]) -> bool {
    let is_octet = |part: &[u8]| (1..=3).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
    text.split(|byte| *byte == b'.').count() == 4 && text.split(|byte| *byte == b'.').all(is_octet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_classified() {
        let kinds: &[(Kind, &[&str])] = &[
            (Kind::Null, &["", "NA", "null", "\\N", "-", "inf", "-Infinity", "NaN"]),
            (Kind::Number, &["0", "-1.5", "+3", ".5", "1e9", "1,234,567.89", "1.234,5", "3,14", "€ 12", "7%"]),
            (Kind::Number, &["-475 104,43", "1'234", "12\u{a0}345\u{a0}678.5"]),
            (Kind::Time, &["Dec 31, 2024", "Wed Aug 27 13:08:45 +0000 2008", "Tuesday, December 31, 2024"]),
            (Kind::Time, &["2024-01-31", "31/12/99", "1.2.2003", "5-Jan-2020", "12:30", "1:02:03 PM"]),
            (
                Kind::Time,
                &[
                    "2024-01-31T12:30:00.5+01:00",
                    "2024-01-31 12:30:00",
                    "18/05/2011 17:21",
                    "20/Nov/2025:10:00:00 +0100",
                ],
            ),
            (Kind::Bool, &["true", "FALSE"]),
            (Kind::Flag, &["No", "Y"]),
            (Kind::Address, &["https://example.org/a?b=c,d", "a.b@example.org", "10.0.0.1"]),
            (Kind::Word, &["abc", "Zürich", "a_b-c", "1-2-3-4", "A12"]),
            (
                Kind::Prose,
                &["1 23 456", "11.10.2026 10:00:00 2", "May 5", "two words", "Lynn, MA", "a/b", "it's (so)!"],
            ),
            (Kind::Other, &["a,b", "a;b", "x|y", "say \"x\"", "1;2", "a,"]),
        ];
        for (kind, texts) in kinds {
            for text in *texts {
                let cell = Cell::plain(text.as_bytes());
                assert_eq!(Kind::of(&cell), *kind, "{text}");
            }
        }
    }

    #[test]
    fn quoted_fields_may_contain_delimiters() {
        let cell = Cell { bytes: b"a,b;c", is_quoted: true, is_padded: false, is_beside_tab: false };
        assert_eq!(Kind::of(&cell), Kind::Prose);
    }
}
