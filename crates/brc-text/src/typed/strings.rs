//! The strings of a column.

use super::values::Text;
use brc_core::{ByteStrings, Data};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;
use std::ops::Range;

/// Strings as codes as long as there are few distinct ones, else one by one.
pub(super) struct Strings {
    /// `None` once there were too many distinct strings.
    interner: Option<Box<Interner>>,
    codes: Vec<u32>,
    /// Where in the text the strings are that get their codes next.
    places: Vec<Range<usize>>,
    /// Where in the text the strings are that are taken next: memory that is used again.
    pub(super) found: Vec<Range<usize>>,
    /// How many rows were codes.
    rows: u64,
    offsets: Vec<i32>,
    bytes: Vec<u8>,
}

impl Default for Strings {
    fn default() -> Self {
        let interner = Some(Box::new(Interner::new(Level::best())));
        let (codes, places, found) = (Vec::new(), Vec::new(), Vec::new());
        Self { interner, codes, places, found, rows: 0, offsets: vec![0], bytes: Vec::new() }
    }
}

impl Strings {
    /// Takes strings that lie in a text.
    pub(super) fn taking<'s, 't>(&'s mut self, text: &'t [u8]) -> Taking<'s, 't> {
        Taking { strings: self, text }
    }

    /// Batches are delivered long before they have 2 GiB of strings.
    fn push_end(&mut self) {
        self.offsets.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
    }

    /// How many bytes the strings have, where they are not codes.
    pub(super) fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn lend(&self) -> Data<'_> {
        match &self.interner {
            Some(interner) => Data::Codes { codes: &self.codes, dictionary: interner.dictionary() },
            None => Data::Bytes(ByteStrings::new(&self.offsets, &self.bytes)),
        }
    }

    pub(super) fn keep(&mut self, rows: &[usize]) {
        if self.interner.is_some() {
            self.codes = rows.iter().map(|&row| self.codes[row]).collect();
            return;
        }
        let (offsets, bytes) = (std::mem::replace(&mut self.offsets, vec![0]), std::mem::take(&mut self.bytes));
        for string in rows.iter().map(|&row| &bytes[offsets[row] as usize..offsets[row + 1] as usize]) {
            self.bytes.extend_from_slice(string);
            self.push_end();
        }
    }

    pub(super) fn clear(&mut self) {
        self.rows += self.codes.len() as u64;
        self.codes.clear();
        self.offsets.truncate(1);
        self.bytes.clear();
        self.interner.take_if(|interner| !interner.pays(self.rows));
    }
}

/// Strings that are taken out of one text.
pub(super) struct Taking<'s, 't> {
    strings: &'s mut Strings,
    text: &'t [u8],
}

impl<'t> Taking<'_, 't> {
    /// Adds a string of the text.
    #[inline(always)]
    pub(super) fn push(&mut self, value: Text<'t>) {
        if self.strings.interner.is_some() {
            let start = self.text.len() - value.tail().len();
            self.strings.places.push(start..start + value.bytes().len());
        } else {
            append(value, &mut self.strings.bytes);
            self.strings.push_end();
        }
    }

    /// Adds strings of the text that lie there.
    pub(super) fn extend(&mut self, places: &[Range<usize>]) {
        if self.strings.interner.is_some() {
            self.strings.places.extend_from_slice(places);
            return;
        }
        for place in places {
            append(Text::new(&self.text[place.start..], place.len()), &mut self.strings.bytes);
            self.strings.push_end();
        }
    }

    /// Adds a string that is not in the text as it is.
    pub(super) fn push_other(&mut self, value: &[u8]) {
        self.intern_places();
        match &mut self.strings.interner {
            Some(interner) => self.strings.codes.push(interner.intern(value)),
            None => {
                self.strings.bytes.extend_from_slice(value);
                self.strings.push_end();
            }
        }
    }

    /// Adds a null, for which any code of the dictionary stands, or 0.
    pub(super) fn push_null(&mut self) {
        match (self.strings.interner.is_some(), self.strings.places.last()) {
            (false, _) => self.strings.push_end(),
            (true, Some(last)) => self.strings.places.push(last.clone()),
            (true, None) => self.strings.codes.push(0),
        }
    }

    /// To be called behind the last one.
    pub(super) fn end(mut self) {
        self.intern_places();
    }

    fn intern_places(&mut self) {
        let Strings { interner, codes, places, .. } = &mut *self.strings;
        if let Some(interner) = interner {
            interner.intern_all(self.text, places, codes);
            places.clear();
        }
    }
}

/// Appends a string, by steps of a fixed size as long as the text has as many bytes: most strings need one.
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
