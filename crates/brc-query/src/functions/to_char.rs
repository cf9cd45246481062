//! `to_char(t, template)`: a date or a timestamp as text, by the words of PostgreSQL's templates.
//!
//! Source: <https://www.postgresql.org/docs/current/functions-formatting.html>. DataFusion's function of that name
//! takes formats of `strftime`; they are recognised by their `%`.

use super::directive::Format;
use super::strftime::{bind_with, format_of};
use super::{Bound, Function, Mismatch};
use crate::functions::typed::Typed;

pub(super) static TO_CHAR: Function = Function {
    name: "to_char",
    aliases: &[],
    usage: "to_char(t, template)",
    about: "the same by the words of PostgreSQL: YYYY, MM, Mon, FMMonth, DD, Dy, HH24, MI, SS, MS, Q and others",
    example: ("to_char(date '2024-02-29', 'DD Mon YYYY')", "29 Feb 2024"),
    bind,
};

/// Template words that may be written in any case, with the equivalent directives of `strftime`. Longer words come
/// before their prefixes.
const NUMBERS: [(&str, &str); 26] = [
    ("FMHH24", "%-H"),
    ("FMHH12", "%-I"),
    ("FMDDD", "%-j"),
    ("FMHH", "%-I"),
    ("FMMM", "%-m"),
    ("FMDD", "%-d"),
    ("FMMI", "%-M"),
    ("FMSS", "%-S"),
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("DDD", "%j"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("ID", "%u"),
    ("IW", "%V"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%g"),
    ("US", "%f"),
    ("FF", "%f"),
    ("TZ", "%Z"),
    ("Q", "%q"),
];

/// Words whose case is that of what they are written as.
const NAMES: [(&str, &str); 6] =
    [("FMMonth", "%B"), ("FMDay", "%A"), ("Mon", "%b"), ("Dy", "%a"), ("AM", "%p"), ("PM", "%p")];

fn bind(arguments: &[Typed]) -> Result<Bound, Mismatch> {
    bind_with(arguments, TO_CHAR.usage, |text| {
        if text.contains(&b'%') {
            return format_of(text);
        }
        translate(text).and_then(|format| Format::parse(format.as_bytes())).ok_or_else(|| {
            let known: Vec<_> = NAMES.iter().chain(&NUMBERS).map(|(word, _)| *word).collect();
            format!("needs a template of these words, and other text in double quotes: {}", known.join(" "))
        })
    })
}

/// A template as a format of `strftime`; `None` if it has an unknown word.
fn translate(template: &[u8]) -> Option<String> {
    let mut rest = std::str::from_utf8(template).ok()?;
    let mut format = String::new();
    while let Some(first) = rest.chars().next() {
        let is_number = |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let name = NAMES.iter().find(|(word, _)| rest.starts_with(word));
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, after) = quoted.split_once('"')?;
            format.push_str(text);
            rest = after;
        } else if let Some((word, directive)) = name.or_else(|| NUMBERS.iter().find(|(word, _)| is_number(word))) {
            format.push_str(directive);
            rest = &rest[word.len()..];
        } else if first.is_alphabetic() {
            return None;
        } else {
            format.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(format)
}
