//! A column of strings under construction.

use super::values::Text;
use brc_core::{Data, StringBuffer};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

/// Dictionary codes while there are few distinct strings, else plain strings.
pub(super) struct Strings {
    /// `None` once there were too many distinct strings.
    interner: Option<Box<Interner>>,
    codes: Vec<u32>,
    /// The byte ranges in the text of strings that are to be interned.
    ranges: Vec<Range<usize>>,
    /// A reused buffer for the byte ranges of strings that the kernel parsed.
    pub(super) range_buffer: Vec<Range<usize>>,
    /// The number of rows that were encoded as codes.
    rows: u64,
    plain: StringBuffer,
    /// The number of strings of the dictionary that are known to be UTF-8, or are not.
    checked: u32,
    /// The first string that is not UTF-8.
    not_utf8: Option<Vec<u8>>,
}

impl Default for Strings {
    fn default() -> Self {
        let interner = Some(Box::new(Interner::new(Level::best())));
        let (codes, ranges, range_buffer) = (Vec::new(), Vec::new(), Vec::new());
        let plain = StringBuffer::default();
        Self { interner, codes, ranges, range_buffer, rows: 0, plain, checked: 0, not_utf8: None }
    }
}

impl Strings {
    /// Starts to append strings that are substrings of a text.
    pub(super) fn appender<'s, 't>(&'s mut self, text: &'t [u8]) -> StringAppender<'s, 't> {
        StringAppender { strings: self, text }
    }

    /// Appends the plain string that `write` appends.
    #[inline(always)]
    fn push_plain(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let pushed = self.plain.push_with(write);
        debug_assert!(pushed.is_ok(), "batches are delivered long before they hold 2 GiB of strings");
    }

    /// The total length of the strings in bytes; 0 if they are codes.
    pub(super) fn len_bytes(&self) -> usize {
        self.plain.len_bytes()
    }

    pub(super) fn as_column(&self) -> Data<'_> {
        match &self.interner {
            Some(interner) => Data::Codes { codes: &self.codes, dictionary: interner.dictionary() },
            None => Data::Bytes(self.plain.as_strings()),
        }
    }

    pub(super) fn keep(&mut self, rows: &[usize]) {
        if self.interner.is_some() {
            self.codes = rows.iter().map(|&row| self.codes[row]).collect();
            return;
        }
        let all = std::mem::take(&mut self.plain);
        for &row in rows {
            self.push_plain(|bytes| bytes.extend_from_slice(all.as_strings().get(row)));
        }
    }

    /// The first string that is not UTF-8, of all that were appended.
    pub(super) fn not_utf8(&mut self) -> Option<&[u8]> {
        if self.not_utf8.is_none() {
            let is_bad = |string: &&[u8]| std::str::from_utf8(string).is_err();
            let bad = match &self.interner {
                Some(interner) => {
                    let dictionary = interner.dictionary();
                    let new = self.checked..dictionary.len() as u32;
                    self.checked = new.end;
                    new.map(|code| dictionary.get(code)).find(is_bad)
                }
                None => {
                    let strings = self.plain.as_strings();
                    // The strings together take less time than each by itself. That the end of one and the start of the
                    // next are a character together is too rare to matter for a note.
                    let are_bad = std::str::from_utf8(strings.span()).is_err();
                    (0..strings.len()).filter(|_| are_bad).map(|row| strings.get(row)).find(is_bad)
                }
            };
            self.not_utf8 = bad.map(<[u8]>::to_vec);
        }
        self.not_utf8.as_deref()
    }

    pub(super) fn clear(&mut self) {
        self.rows += self.codes.len() as u64;
        self.codes.clear();
        self.plain.clear();
        self.interner.take_if(|interner| !interner.pays(self.rows));
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
        if self.strings.interner.is_some() {
            let start = self.text.len() - value.tail().len();
            self.strings.ranges.push(start..start + value.bytes().len());
        } else {
            self.strings.push_plain(|bytes| append(value, bytes));
        }
    }

    /// Appends substrings of the text, given by their byte ranges.
    pub(super) fn extend(&mut self, ranges: &[Range<usize>]) {
        if self.strings.interner.is_some() {
            self.strings.ranges.extend_from_slice(ranges);
            return;
        }
        for range in ranges {
            let value = Text::new(&self.text[range.start..], range.len());
            self.strings.push_plain(|bytes| append(value, bytes));
        }
    }

    /// Appends a string that does not occur literally in the text.
    pub(super) fn push_other(&mut self, value: &[u8]) {
        self.intern_ranges();
        match &mut self.strings.interner {
            Some(interner) => self.strings.codes.push(interner.intern(value)),
            None => self.strings.push_plain(|bytes| bytes.extend_from_slice(value)),
        }
    }

    /// Appends a null, which is represented by any code of the dictionary, or 0.
    pub(super) fn push_null(&mut self) {
        match (self.strings.interner.is_some(), self.strings.ranges.last()) {
            (false, _) => self.strings.push_plain(|_| {}),
            (true, Some(last)) => self.strings.ranges.push(last.clone()),
            (true, None) => self.strings.codes.push(0),
        }
    }

    /// Must be called after the last string.
    pub(super) fn end(mut self) {
        self.intern_ranges();
    }

    fn intern_ranges(&mut self) {
        let Strings { interner, codes, ranges, .. } = &mut *self.strings;
        if let Some(interner) = interner {
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
