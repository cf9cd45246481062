//! Patterns of `like` with `_` or letters of any case: each segment between two `%` is a regular expression of its own,
//! and each is searched from where the one before ends.
//!
//! All strings that match a segment have the same number of characters. So its first match leaves the most room for
//! later segments, and nothing is searched twice. One expression of the whole pattern would track all matches at once.

use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;

/// What a segment is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Element {
    /// `_`
    One,
    Text(String),
}

/// How segments are matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matching {
    /// Letters match those of the other case.
    pub(super) insensitive: bool,
    /// `_` is also a byte that is no character.
    pub(super) bytes: bool,
}

/// A pattern.
#[derive(Debug)]
pub(super) struct Segments {
    /// What strings begin with; if there is no `%`, it is all of them.
    start: Regex,
    /// What they have after that, in this order.
    inner: Vec<Regex>,
    /// What they end with.
    end: Option<Regex>,
}

impl Segments {
    /// A pattern of these segments, between which any characters may stand. The first and the last may be empty.
    ///
    /// # Errors
    /// If a segment is too long for a regular expression.
    pub(super) fn new(segments: &[&[Element]], matching: Matching) -> Result<Self, regex::Error> {
        let mut known = HashMap::new();
        let mut inner = |segment: &&[Element]| match known.get(*segment) {
            Some(regex) => Ok(Regex::clone(regex)),
            None => {
                let regex = regex("", segment, "", matching)?;
                known.insert(segment.to_vec(), regex.clone());
                Ok(regex)
            }
        };
        Ok(match segments {
            [] => Self { start: regex("^", &[], "$", matching)?, inner: Vec::new(), end: None },
            [all] => Self { start: regex("^", all, "$", matching)?, inner: Vec::new(), end: None },
            [start, between @ .., end] => Self {
                start: regex("^", start, "", matching)?,
                inner: between.iter().map(&mut inner).collect::<Result<_, _>>()?,
                end: Some(regex("", end, "$", matching)?),
            },
        })
    }

    pub(super) fn are_in(&self, text: &[u8]) -> bool {
        let mut rest = text;
        let mut skip = |segment: &Regex| {
            let found = segment.find(rest);
            found.inspect(|found| rest = &rest[found.end()..]).is_some()
        };
        skip(&self.start) && self.inner.iter().all(skip) && self.end.as_ref().is_none_or(|end| end.is_match(rest))
    }
}

/// The regular expression of a segment between two others.
fn regex(before: &str, segment: &[Element], after: &str, matching: Matching) -> Result<Regex, regex::Error> {
    let one = if matching.bytes { "(?:.|(?-u:.))" } else { "." };
    let mut text = before.to_owned();
    for element in segment {
        match element {
            Element::One => text.push_str(one),
            Element::Text(part) => text.push_str(&regex::escape(part)),
        }
    }
    text.push_str(after);
    RegexBuilder::new(&text).dot_matches_new_line(true).case_insensitive(matching.insensitive).build()
}
