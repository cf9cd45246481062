//! Codes of one dictionary for the strings of several tables.
//!
//! Each table numbers the strings of a column by itself. Mostly there is one table that has rows, or all of them have
//! the same strings: then a table's codes are those of all tables, and no row is translated.

use brc_core::Dictionary;
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

/// The strings that a column of several tables has so far, and what their codes are in the table at hand.
pub(super) struct SharedCodes {
    /// The dictionary of the first tables, as long as no table had a different one.
    only: Option<Dictionary>,
    /// The strings of all tables, once two had different dictionaries, or one that grows.
    strings: Box<Interner>,
    /// For each code of the table at hand, that of the same string in `strings`.
    shared: Vec<u32>,
    /// Whether all of these are the codes of the table at hand.
    is_same: bool,
    /// Whether `only` is known to be the dictionary of the table at hand.
    is_only: bool,
}

impl Default for SharedCodes {
    fn default() -> Self {
        let strings = Box::new(Interner::new(Level::best()));
        Self { only: None, strings, shared: Vec::new(), is_same: true, is_only: false }
    }
}

impl SharedCodes {
    /// The next codes are those of a different table.
    pub(super) fn turn(&mut self) {
        self.shared.clear();
        (self.is_same, self.is_only) = (true, false);
    }

    /// Learns the strings that the dictionary of the table at hand has got since.
    pub(super) fn learn(&mut self, dictionary: &Dictionary) {
        self.is_only = self.is_that_of_all(dictionary);
        if self.is_only {
            return;
        }
        for string in self.only.take().iter().flat_map(Dictionary::iter) {
            self.strings.intern(string);
        }
        for code in self.shared.len()..dictionary.len() {
            let shared = self.strings.intern(dictionary.get(code as u32));
            self.is_same &= shared as usize == code;
            self.shared.push(shared);
        }
    }

    /// Whether the dictionary of the table at hand does not grow, and all tables so far had that one.
    fn is_that_of_all(&mut self, dictionary: &Dictionary) -> bool {
        match &self.only {
            Some(only) if self.is_only => only.len() == dictionary.len(),
            Some(only) => dictionary.is_complete() && only == dictionary,
            None if dictionary.is_complete() && self.strings.dictionary().is_empty() => {
                // Other tables may have other strings.
                self.only = Some(dictionary.clone().incomplete());
                true
            }
            None => false,
        }
    }

    /// Whether codes of the table at hand are those of all tables.
    pub(super) fn are_the_tables(&self) -> bool {
        self.is_only || self.is_same
    }

    /// What the codes stand for.
    pub(super) fn dictionary(&self) -> &Dictionary {
        self.only.as_ref().unwrap_or(self.strings.dictionary())
    }

    /// Makes of values that have codes of the table at hand those with the codes of all tables, if these differ. The code of a
    /// null, which may mean nothing, becomes any.
    pub(super) fn translate<T>(
        &self,
        values: &[T],
        code: impl Fn(&T) -> u32,
        with_code: impl Fn(&T, u32) -> T,
        translated: &mut Vec<T>,
    ) {
        translated.clear();
        if !self.are_the_tables() {
            let shared = |code: u32| self.shared.get(code as usize).copied().unwrap_or(0);
            translated.extend(values.iter().map(|value| with_code(value, shared(code(value)))));
        }
    }
}
