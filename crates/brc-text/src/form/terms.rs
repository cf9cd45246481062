//! The strftime specifiers that can be parsed back.

use super::FormError;

/// How a two-digit number is padded if it has only one digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pad {
    Zero,
    Space,
    Nothing,
}

/// An element of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Literal(u8),
    /// A four-digit year, or a two-digit one, where 69 to 99 mean 1969 to 1999.
    Year,
    ShortYear,
    Month(Pad),
    Day(Pad),
    ShortMonth,
    UpperMonth,
    LongMonth,
    ShortWeekday,
    LongWeekday,
    Hour(Pad),
    Hour12(Pad),
    Minute,
    Second,
    /// The digits of a fraction of a second, without the point.
    Fraction,
    UpperHalf,
    LowerHalf,
    /// The UTC offset: `+0100`, or `+01:00`.
    Offset,
    ColonOffset,
    /// `UTC`, or `GMT`, which is written as `UTC`.
    Utc,
    /// Seconds since 1970.
    Epoch,
}

impl Item {
    /// Whether the item is written in digits.
    pub(super) fn is_digits(&self) -> bool {
        match self {
            Item::Year
            | Item::ShortYear
            | Item::Month(_)
            | Item::Day(_)
            | Item::Hour(_)
            | Item::Hour12(_)
            | Item::Minute
            | Item::Second
            | Item::Fraction
            | Item::Epoch => true,
            Item::Literal(byte) => byte.is_ascii_digit(),
            Item::ShortMonth
            | Item::UpperMonth
            | Item::LongMonth
            | Item::ShortWeekday
            | Item::LongWeekday
            | Item::UpperHalf
            | Item::LowerHalf
            | Item::Offset
            | Item::ColonOffset
            | Item::Utc => false,
        }
    }
}

/// The specifiers, without the percent sign. The first one of an item is used for writing.
const TERMS: &[(&str, Item)] = &[
    ("Y", Item::Year),
    ("y", Item::ShortYear),
    ("m", Item::Month(Pad::Zero)),
    ("-m", Item::Month(Pad::Nothing)),
    ("_m", Item::Month(Pad::Space)),
    ("d", Item::Day(Pad::Zero)),
    ("-d", Item::Day(Pad::Nothing)),
    ("e", Item::Day(Pad::Space)),
    ("_d", Item::Day(Pad::Space)),
    ("-e", Item::Day(Pad::Nothing)),
    ("b", Item::ShortMonth),
    ("^b", Item::UpperMonth),
    ("h", Item::ShortMonth),
    ("B", Item::LongMonth),
    ("a", Item::ShortWeekday),
    ("A", Item::LongWeekday),
    ("H", Item::Hour(Pad::Zero)),
    ("-H", Item::Hour(Pad::Nothing)),
    ("k", Item::Hour(Pad::Space)),
    ("-k", Item::Hour(Pad::Nothing)),
    ("I", Item::Hour12(Pad::Zero)),
    ("-I", Item::Hour12(Pad::Nothing)),
    ("l", Item::Hour12(Pad::Space)),
    ("-l", Item::Hour12(Pad::Nothing)),
    ("M", Item::Minute),
    ("S", Item::Second),
    ("f", Item::Fraction),
    ("p", Item::UpperHalf),
    ("P", Item::LowerHalf),
    ("z", Item::Offset),
    (":z", Item::ColonOffset),
    ("Z", Item::Utc),
    ("s", Item::Epoch),
    ("%", Item::Literal(b'%')),
    ("t", Item::Literal(b'\t')),
];

/// Specifiers that expand to several.
const SHORTHANDS: [(&str, &str); 7] = [
    ("F", "%Y-%m-%d"),
    ("D", "%m/%d/%y"),
    ("x", "%m/%d/%y"),
    ("T", "%H:%M:%S"),
    ("X", "%H:%M:%S"),
    ("R", "%H:%M"),
    ("r", "%I:%M:%S %p"),
];

/// Passes the items of a strftime form to `take`.
///
/// # Errors
/// If a specifier is unknown or cannot be parsed back.
pub(super) fn items(mut text: &str, take: &mut impl FnMut(Item) -> Result<(), FormError>) -> Result<(), FormError> {
    while let Some(byte) = text.bytes().next() {
        if byte != b'%' {
            take(Item::Literal(byte))?;
            text = match text.strip_prefix(|_: char| true) {
                Some(rest) => {
                    text.bytes()
                        .take(text.len() - rest.len())
                        .skip(1)
                        .try_for_each(|byte| take(Item::Literal(byte)))?;
                    rest
                }
                None => "",
            };
            continue;
        }
        let term = &text[1..];
        if let Some((name, item)) = TERMS.iter().find(|(name, _)| term.starts_with(name)) {
            take(*item)?;
            text = &term[name.len()..];
        } else if let Some((name, long)) = SHORTHANDS.iter().find(|(name, _)| term.starts_with(name)) {
            items(long, take)?;
            text = &term[name.len()..];
        } else {
            let length =
                term.chars().take(if term.starts_with(['-', '_', ':', '^']) { 2 } else { 1 }).map(char::len_utf8);
            return Err(FormError::Term(format!("%{}", &term[..length.sum()])));
        }
    }
    Ok(())
}

/// The specifier of an item.
pub(super) fn term(item: Item) -> Option<&'static str> {
    TERMS.iter().find(|(_, own)| *own == item).map(|(name, _)| *name)
}
