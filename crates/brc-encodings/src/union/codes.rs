//! Codes of one dictionary for the strings of several tables.
//!
//! Each table numbers the strings of a column by itself. Mostly only one table has rows, or all have the same dictionary:
//! then the codes of a table are those of all. Else codes are translated, and strings looked up only as rows have them.

use brc_core::{Data, Dictionary, Run};
use brc_kernels::cpu::Level;
use brc_kernels::interner::Interner;

/// The strings that a column of several tables has so far, and what their codes are in the table at hand.
pub(super) struct SharedCodes {
    /// Whether just one table has rows.
    is_alone: bool,
    /// The dictionary of the first tables, as long as no table had a different one.
    first: Option<Dictionary>,
    /// Whether that is known to be the dictionary of the table at hand.
    has_first: bool,
    /// The strings of rows of all tables, once two had different dictionaries or one had a dictionary that grows.
    strings: Box<Interner>,
    /// For codes of the table at hand, that of the same string in `strings`, or [`UNKNOWN`].
    shared: Vec<u32>,
    /// The codes of a batch in terms of `strings`.
    codes: Vec<u32>,
    /// Its runs.
    runs: Vec<Run>,
}

/// The shared code of a string that no row had so far.
const UNKNOWN: u32 = u32::MAX;

impl SharedCodes {
    pub(super) fn new(is_alone: bool) -> Self {
        Self {
            is_alone,
            first: None,
            has_first: false,
            strings: Box::new(Interner::new(Level::best())),
            shared: Vec::new(),
            codes: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// The next codes are those of a different table.
    pub(super) fn turn(&mut self) {
        self.shared.clear();
        self.has_first = false;
    }

    /// Prepares a column of the table at hand, of which these rows are wanted, or all. Any other row, or one that is null,
    /// gets any code.
    pub(super) fn prepare(&mut self, data: Data<'_>, wanted: Option<&[u64]>) {
        let (Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) = data else { return };
        if self.is_alone {
            return;
        }
        self.has_first = self.is_first(dictionary);
        if self.has_first {
            return;
        }
        for string in self.first.take().iter().flat_map(Dictionary::iter) {
            self.strings.intern(string);
        }
        self.shared.resize(dictionary.len(), UNKNOWN);
        let Self { strings, shared, codes: shared_codes, runs: shared_runs, .. } = self;
        let mut translate = |code: u32| match shared.get_mut(code as usize) {
            Some(shared) => {
                if *shared == UNKNOWN {
                    *shared = strings.intern(dictionary.get(code));
                }
                *shared
            }
            None => 0,
        };
        match (data, wanted) {
            (Data::Codes { codes, .. }, None) => {
                shared_codes.clear();
                shared_codes.extend(codes.iter().map(|&code| translate(code)));
            }
            (Data::Codes { codes, .. }, Some(wanted)) => {
                shared_codes.clear();
                shared_codes.resize(codes.len(), 0);
                let is_wanted = |row: usize| wanted[row / 64] >> (row % 64) & 1 == 1;
                let wanted = shared_codes.iter_mut().zip(codes).enumerate().filter(|(row, _)| is_wanted(*row));
                wanted.for_each(|(_, (shared, &code))| *shared = translate(code));
            }
            (Data::Runs { runs, .. }, _) => {
                shared_runs.clear();
                shared_runs.extend(runs.iter().map(|run| Run { code: translate(run.code), ..*run }));
            }
            (Data::Bytes(_) | Data::Integers(_) | Data::Floats(_), _) => {}
        }
        if strings.dictionary().is_empty() {
            // All rows that count are null, but the others need a code, too.
            strings.intern(b"");
        }
    }

    /// Whether the dictionary of the table at hand does not grow, and all tables so far had that one.
    fn is_first(&mut self, dictionary: &Dictionary) -> bool {
        match &self.first {
            Some(first) if self.has_first => first.len() == dictionary.len(),
            Some(first) => dictionary.is_complete() && first == dictionary,
            None if dictionary.is_complete() && self.strings.dictionary().is_empty() => {
                // Other tables may have other strings.
                self.first = Some(dictionary.clone().incomplete());
                true
            }
            None => false,
        }
    }

    /// The prepared column.
    pub(super) fn lend<'a>(&'a self, data: Data<'a>) -> Data<'a> {
        if self.is_alone {
            return data;
        }
        match (data, &self.first) {
            (Data::Codes { codes, .. }, Some(dictionary)) => Data::Codes { codes, dictionary },
            (Data::Runs { runs, .. }, Some(dictionary)) => Data::Runs { runs, dictionary },
            (Data::Codes { .. }, None) => Data::Codes { codes: &self.codes, dictionary: self.strings.dictionary() },
            (Data::Runs { .. }, None) => Data::Runs { runs: &self.runs, dictionary: self.strings.dictionary() },
            (Data::Bytes(_) | Data::Integers(_) | Data::Floats(_), _) => data,
        }
    }

    /// A dictionary for rows that are null.
    pub(super) fn dictionary(&self) -> &Dictionary {
        self.first.as_ref().unwrap_or(self.strings.dictionary())
    }
}
