//! A column of strings under construction.

use super::coded::CodedStrings;
use super::values::Text;
use brc_core::Data;
use std::ops::Range;

/// The strings of a text. Those that are to be interned are collected first.
#[derive(Default)]
pub(super) struct Strings {
    pub(super) values: CodedStrings,
    /// The byte ranges in the text of strings that are to be interned.
    ranges: Vec<Range<usize>>,
    /// A reused buffer for the byte ranges of strings that the kernel parsed.
    pub(super) range_buffer: Vec<Range<usize>>,
    /// The number of strings of the dictionary that are known to be UTF-8, or are not.
    checked: u32,
    /// The first string that is not UTF-8.
    not_utf8: Option<Vec<u8>>,
}

impl Strings {
    /// Starts to append strings that are substrings of a text.
    pub(super) fn appender<'s, 't>(&'s mut self, text: &'t [u8]) -> StringAppender<'s, 't> {
        StringAppender { strings: self, text }
    }

    /// The first string that is not UTF-8, of all that were appended.
    pub(super) fn not_utf8(&mut self) -> Option<&[u8]> {
        if self.not_utf8.is_none() {
            let is_bad = |string: &&[u8]| std::str::from_utf8(string).is_err();
            let bad = match self.values.as_data() {
                Data::Bytes(strings) => {
                    // The strings together take less time than each by itself. That the end of one and the start of the
                    // next are a character together is too rare to matter for a note.
                    let are_bad = std::str::from_utf8(strings.span()).is_err();
                    (0..strings.len()).filter(|_| are_bad).map(|row| strings.get(row)).find(is_bad)
                }
                Data::Codes { dictionary, .. } => {
                    let new = self.checked..dictionary.len() as u32;
                    self.checked = new.end;
                    new.map(|code| dictionary.get(code)).find(is_bad)
                }
                Data::Runs { .. } | Data::Integers(_) | Data::Floats(_) => None,
            };
            self.not_utf8 = bad.map(<[u8]>::to_vec);
        }
        self.not_utf8.as_deref()
    }
}

/// Appends strings that are substrings of one text.
pub(super) struct StringAppender<'s, 't> {
    strings: &'s mut Strings,
    text: &'t [u8],
}

impl<'t> StringAppender<'_, 't> {
    /// Appends a substring of the text.
    #[inline(always)]
    pub(super) fn push(&mut self, value: Text<'t>) {
        if self.strings.values.are_coded() {
            let start = self.text.len() - value.tail().len();
            self.strings.ranges.push(start..start + value.bytes().len());
        } else {
            self.strings.values.push_plain(|bytes| append(value, bytes));
        }
    }

    /// Appends substrings of the text, given by their byte ranges.
    pub(super) fn extend(&mut self, ranges: &[Range<usize>]) {
        if self.strings.values.are_coded() {
            self.strings.ranges.extend_from_slice(ranges);
            return;
        }
        for range in ranges {
            let value = Text::new(&self.text[range.start..], range.len());
            self.strings.values.push_plain(|bytes| append(value, bytes));
        }
    }

    /// Appends a string that does not occur literally in the text.
    pub(super) fn push_other(&mut self, value: &[u8]) {
        self.intern_ranges();
        match self.strings.values.coded() {
            Some((interner, codes)) => codes.push(interner.intern(value)),
            None => self.strings.values.push_plain(|bytes| bytes.extend_from_slice(value)),
        }
    }

    /// Appends a null, which is represented by any code of the dictionary, or 0.
    pub(super) fn push_null(&mut self) {
        let Strings { values, ranges, .. } = &mut *self.strings;
        match (values.coded(), ranges.last()) {
            (None, _) => values.push_plain(|_| {}),
            (Some(_), Some(last)) => ranges.push(last.clone()),
            (Some((_, codes)), None) => codes.push(0),
        }
    }

    /// Must be called after the last string.
    pub(super) fn end(mut self) {
        self.intern_ranges();
    }

    fn intern_ranges(&mut self) {
        let Strings { values, ranges, .. } = &mut *self.strings;
        if let Some((interner, codes)) = values.coded() {
            interner.intern_all(self.text, ranges, codes);
            ranges.clear();
        }
    }
}

/// Appends a string in copies of a fixed size while the text has enough bytes: most strings need one copy.
#[inline(always)]
fn append(value: Text<'_>, out: &mut Vec<u8>) {
    const STEP: usize = 32;
    let (length, end) = (value.bytes().len(), out.len() + value.bytes().len());
    for at in (0..length).step_by(STEP) {
        match value.tail()[at..].first_chunk::<STEP>() {
            Some(step) => out.extend_from_slice(step),
            None => out.extend_from_slice(&value.bytes()[at..]),
        }
    }
    out.truncate(end);
}
