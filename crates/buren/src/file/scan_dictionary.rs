//! The dictionary of one column in one scanner: all strings of its batches have codes in it.

use super::interner::Interner;
use super::reader::Reader;
use super::shared_dictionary::{decode_block, read_tokens};
use crate::block::{BlockBuffer, Cost};
use crate::location::Location;
use crate::strings::Tokens;
use brc_core::{Dictionary, Result};

/// The strings of a scanner's codes, and how much of the column's dictionary is among them.
#[derive(Default)]
pub(super) struct ScanDictionary {
    strings: Strings,
    /// All codes of later row groups in the column's dictionary are below this.
    expected: usize,
    /// The scanner's code of each value of the column's dictionary, if the strings are interned.
    of_file: CodeMap,
    /// The number of parts of the column's dictionary that were read.
    parts: usize,
    /// The tokens of the part read last.
    tokens: Option<Tokens>,
}

enum Strings {
    /// The column's dictionary, shared by all scanners.
    Shared(Dictionary),
    /// The strings of all numbers between two bounds, in order.
    Numbers(Dictionary),
    Interned(Interner),
}

impl Default for Strings {
    fn default() -> Self {
        Self::Interned(Interner::default())
    }
}

impl ScanDictionary {
    pub(super) fn dictionary(&self) -> &Dictionary {
        match &self.strings {
            Strings::Shared(dictionary) | Strings::Numbers(dictionary) => dictionary,
            Strings::Interned(interner) => interner.dictionary(),
        }
    }

    /// Converts the dictionary to a growable one.
    pub(super) fn interner(&mut self) -> &mut Interner {
        if let Strings::Shared(dictionary) | Strings::Numbers(dictionary) = &self.strings {
            let mut interner = Interner::default();
            let interned = dictionary.iter().map(|value| interner.intern(value).0).collect();
            if matches!(self.strings, Strings::Shared(_)) {
                self.of_file = interned;
            }
            self.strings = Strings::Interned(interner);
        }
        match &mut self.strings {
            Strings::Interned(interner) => interner,
            Strings::Shared(_) | Strings::Numbers(_) => unreachable!("all values were just interned"),
        }
    }

    /// Replaces the dictionary, which must be empty, with the strings of consecutive numbers.
    pub(super) fn start_with_numbers(&mut self, numbers: Dictionary) {
        self.strings = Strings::Numbers(numbers);
    }

    /// Announces that all codes of later row groups in the column's dictionary are below `codes`.
    pub(super) fn expect_codes(&mut self, codes: usize) {
        self.expected = codes;
    }

    /// Reads the column's dictionary until at least `values` values are known.
    pub(super) fn read_of_file(
        &mut self,
        reader: &Reader,
        column: usize,
        values: usize,
        buffer: &mut BlockBuffer,
        cost: &mut Cost,
    ) -> Result<()> {
        // If some values were shared, all expected ones were.
        let is_first = self.dictionary().is_empty() && self.parts == 0;
        if is_first && self.expected >= values {
            let shared = &reader.dictionaries[column];
            if let Some((dictionary, parts)) = shared.first(self.expected, reader, column, cost) {
                (self.strings, self.parts) = (Strings::Shared(dictionary.complete()), parts);
            }
        }
        match &self.strings {
            Strings::Shared(dictionary) if dictionary.len() >= values => Ok(()),
            Strings::Shared(_) | Strings::Numbers(_) | Strings::Interned(_) => {
                self.intern_file_dictionary(reader, column, values, buffer, cost)
            }
        }
    }

    /// Reads more of the column's dictionary, until `values` of its values are interned.
    fn intern_file_dictionary(
        &mut self,
        reader: &Reader,
        column: usize,
        values: usize,
        buffer: &mut BlockBuffer,
        cost: &mut Cost,
    ) -> Result<()> {
        let parts = &reader.footer.dictionaries[column].parts;
        let (mut scratch, mut decoded) = Default::default();
        self.interner();
        while self.of_file.len() < values
            && let Some(part) = parts.get(self.parts)
        {
            if part.tokens.length > 0 {
                self.tokens = Some(read_tokens(reader, column, (self.parts, part), buffer, cost)?);
            }
            for (count, stored) in &part.blocks {
                let location = Location::Dictionary { column: reader.footer.name(column), block: self.parts };
                buffer.load(reader.source(), stored, location, cost)?;
                decode_block(buffer.bytes(), *count, self.tokens.as_ref(), &mut scratch, &mut decoded)
                    .map_err(|reason| reader.corrupt(location, reason))?;
                for value in decoded.strings().iter() {
                    let (code, _) = self.interner().intern(value);
                    self.of_file.push(code);
                }
            }
            self.parts += 1;
        }
        Ok(())
    }

    /// The scanner's code of a value of the column's dictionary, which must have been read.
    pub(super) fn code_of(&self, value: usize) -> u32 {
        match &self.strings {
            Strings::Shared(_) => value as u32,
            Strings::Numbers(_) | Strings::Interned(_) => self.of_file.codes[value],
        }
    }

    /// The translation table for the first `values` codes of the column's dictionary; `None` if they do not change.
    pub(super) fn codes_of_file(&self, values: usize) -> Option<&[u32]> {
        match &self.strings {
            Strings::Shared(_) => None,
            Strings::Numbers(_) | Strings::Interned(_) => self.of_file.of_first(values),
        }
    }
}

/// The scanner's code of each value of another dictionary.
#[derive(Default)]
pub(super) struct CodeMap {
    codes: Vec<u32>,
    /// The length of the prefix of values that keep their code.
    same: usize,
}

impl CodeMap {
    pub(super) fn len(&self) -> usize {
        self.codes.len()
    }

    fn push(&mut self, code: u32) {
        self.same += usize::from(self.same == code as usize && self.same == self.codes.len());
        self.codes.push(code);
    }

    /// The translation table for codes of the first `values` values; `None` if they do not change.
    fn of_first(&self, values: usize) -> Option<&[u32]> {
        (self.same < values).then_some(&self.codes)
    }

    /// The translation table for all codes; `None` if they do not change.
    pub(super) fn of_all(&self) -> Option<&[u32]> {
        self.of_first(self.codes.len())
    }
}

impl FromIterator<u32> for CodeMap {
    fn from_iter<I: IntoIterator<Item = u32>>(codes: I) -> Self {
        let mut all = Self::default();
        codes.into_iter().for_each(|code| all.push(code));
        all
    }
}
