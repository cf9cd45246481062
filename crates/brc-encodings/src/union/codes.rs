//! Translates the dictionary codes of several tables to codes of one dictionary.
//!
//! Each table has its own dictionaries. Mostly only one table has rows, or all have the same dictionary: then codes
//! need no translation. Otherwise they are translated, except where a table has hardly fewer distinct strings than
//! rows: its rows are delivered as strings, because translating a code costs more than reading a string.

use brc_core::{Data, Dictionary, Run, StringBuffer};
use brc_kernels::interner::DictionaryBuilder;

/// The strings of a column seen so far, and the translation of the current table's codes.
#[derive(Default)]
pub(super) struct SharedCodes {
    /// Whether only one table has rows.
    is_alone: bool,
    /// The dictionary of the first tables, while all codes are its own.
    first: Option<Dictionary>,
    /// The strings of all tables, once two have different dictionaries or one has a growing dictionary.
    strings: DictionaryBuilder,
    /// For each code of the current table, the code of the same string in `strings`, or [`UNKNOWN`].
    shared: Vec<u32>,
    /// The number of rows of the current table, if it is known.
    rows: Option<u64>,
    /// Whether the current table has the first dictionary; known after its first batch.
    has_first: Option<bool>,
    form: CodeForm,
    /// The codes of a batch, translated.
    codes: Vec<u32>,
    /// The runs of a batch, translated.
    runs: Vec<Run>,
    /// The strings of a batch.
    looked_up: StringBuffer,
}

/// How the rows of the current table are delivered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum CodeForm {
    /// As the table's own codes: its dictionary is the first one.
    First,
    /// As translated codes.
    #[default]
    Shared,
    /// As strings.
    Strings,
}

/// The shared code of a string that no row has had yet.
const UNKNOWN: u32 = u32::MAX;

/// The maximum bytes of the strings of a batch; above it, codes are translated instead.
const MAX_BATCH_BYTES: usize = 4 << 20;

impl SharedCodes {
    pub(super) fn new(is_alone: bool) -> Self {
        Self { is_alone, ..Self::default() }
    }

    /// Switches to a different table, which has the given number of rows.
    pub(super) fn switch_table(&mut self, rows: Option<u64>) {
        self.shared.clear();
        self.rows = rows;
        self.has_first = None;
    }

    /// Prepares a column of the current table. `wanted` selects rows; rows outside of it, and nulls, get arbitrary
    /// values.
    pub(super) fn prepare(&mut self, data: Data<'_>, wanted: Option<&[u64]>) {
        // Whether codes become strings depends on the table alone, not on the tables that a worker scanned before:
        // encodings may write codes and strings differently, and the output must not depend on threads.
        if let Data::Codes { codes, dictionary } = data
            && !self.is_alone
            && self.is_distinct(dictionary)
            && self.look_up_strings(codes, dictionary, wanted)
        {
            self.form = CodeForm::Strings;
        } else {
            self.prepare_codes(data, wanted);
        }
    }

    /// Prepares a column whose codes stay codes.
    pub(super) fn prepare_codes(&mut self, data: Data<'_>, wanted: Option<&[u64]>) {
        let (Data::Codes { dictionary, .. } | Data::Runs { dictionary, .. }) = data else { return };
        if self.is_alone {
            return;
        }
        self.form = if self.is_first(dictionary) { CodeForm::First } else { CodeForm::Shared };
        if self.form == CodeForm::Shared {
            self.translate(data, dictionary, wanted);
        }
    }

    /// Whether the current table has the first dictionary, and it does not grow.
    fn is_first(&mut self, dictionary: &Dictionary) -> bool {
        if self.first.is_none() && dictionary.is_complete() && self.strings.dictionary().is_empty() {
            // Other tables may have further strings.
            self.first = Some(dictionary.clone().incomplete());
            self.has_first = Some(true);
        }
        let Some(first) = &self.first else { return false };
        let has_first = *self.has_first.get_or_insert_with(|| dictionary.is_complete() && first == dictionary);
        has_first && first.len() == dictionary.len()
    }

    /// Whether the current table has fewer than two rows per distinct string.
    fn is_distinct(&self, dictionary: &Dictionary) -> bool {
        dictionary.is_complete() && self.rows.is_some_and(|rows| rows < dictionary.len() as u64 * 2)
    }

    /// Looks up the strings of codes. Returns `false` if they are too large.
    fn look_up_strings(&mut self, codes: &[u32], dictionary: &Dictionary, wanted: Option<&[u64]>) -> bool {
        self.looked_up.clear();
        codes.iter().enumerate().all(|(row, &code)| {
            let is_there = is_wanted(wanted, row) && (code as usize) < dictionary.len();
            let string = if is_there { dictionary.get(code) } else { b"" };
            self.looked_up.push(string).is_ok() && self.looked_up.len_bytes() <= MAX_BATCH_BYTES
        })
    }

    /// Translates codes of a dictionary.
    fn translate(&mut self, data: Data<'_>, dictionary: &Dictionary, wanted: Option<&[u64]>) {
        for string in self.first.take().iter().flat_map(Dictionary::iter) {
            self.strings.intern(string);
        }
        let Self { strings, shared, codes: shared_codes, runs: shared_runs, .. } = self;
        if shared.is_empty() && wanted.is_none() && dictionary.is_complete() {
            translate_all(dictionary, strings, shared);
        }
        shared.resize(dictionary.len(), UNKNOWN);
        let mut translated = |code: u32| match shared.get_mut(code as usize) {
            Some(shared) => {
                if *shared == UNKNOWN {
                    *shared = strings.intern(dictionary.get(code));
                }
                *shared
            }
            None => 0,
        };
        shared_codes.clear();
        shared_runs.clear();
        match data {
            Data::Codes { codes, .. } => shared_codes.extend(
                (codes.iter().enumerate())
                    .map(|(row, &code)| if is_wanted(wanted, row) { translated(code) } else { 0 }),
            ),
            Data::Runs { runs, .. } => {
                shared_runs.extend(runs.iter().map(|run| Run { code: translated(run.code), ..*run }));
            }
            Data::Bytes(_) | Data::Integers(_) | Data::Floats(_) => {}
        }
        if strings.dictionary().is_empty() {
            // All valid rows are null, but the values under nulls need a code, too.
            strings.intern(b"");
        }
    }

    /// The prepared column.
    pub(super) fn as_data<'a>(&'a self, data: Data<'a>) -> Data<'a> {
        if self.is_alone {
            return data;
        }
        match (data, self.form, &self.first) {
            (Data::Codes { codes, .. }, CodeForm::First, Some(dictionary)) => Data::Codes { codes, dictionary },
            (Data::Runs { runs, .. }, CodeForm::First, Some(dictionary)) => Data::Runs { runs, dictionary },
            (Data::Codes { .. }, CodeForm::Strings, _) => Data::Bytes(self.looked_up.as_strings()),
            (Data::Codes { .. }, ..) => Data::Codes { codes: &self.codes, dictionary: self.strings.dictionary() },
            (Data::Runs { .. }, ..) => Data::Runs { runs: &self.runs, dictionary: self.strings.dictionary() },
            (Data::Bytes(_) | Data::Integers(_) | Data::Floats(_), ..) => data,
        }
    }

    /// A dictionary for null rows.
    pub(super) fn dictionary(&self) -> &Dictionary {
        self.first.as_ref().unwrap_or(self.strings.dictionary())
    }
}

/// Whether a selection has a row.
pub(super) fn is_wanted(wanted: Option<&[u64]>, row: usize) -> bool {
    wanted.is_none_or(|wanted| wanted[row / 64] >> (row % 64) & 1 == 1)
}

/// Finds the shared code of each string of a dictionary. Similar files have nearly the same strings in nearly the
/// same order, so the string after the last match is compared before a lookup.
fn translate_all(dictionary: &Dictionary, strings: &mut DictionaryBuilder, shared: &mut Vec<u32>) {
    shared.reserve(dictionary.len());
    let mut next = 0;
    for string in dictionary.iter() {
        let known = strings.dictionary().len() as u32;
        let is_next = next < known && strings.dictionary().get(next) == string;
        let code = if is_next { next } else { strings.intern(string) };
        if code < known {
            next = code + 1;
        }
        shared.push(code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Column;

    fn dictionary(strings: impl IntoIterator<Item = String>) -> Dictionary {
        strings.into_iter().collect::<Dictionary>().complete()
    }

    /// The strings of selected rows, after translation.
    fn strings(shared: &mut SharedCodes, data: Data<'_>, wanted: Option<&[u64]>) -> (CodeForm, Vec<String>) {
        shared.prepare(data, wanted);
        let column = Column::from(shared.as_data(data));
        (shared.form, strings_of(&column, wanted))
    }

    fn strings_of(column: &Column<'_>, wanted: Option<&[u64]>) -> Vec<String> {
        let rows = match column.data {
            Data::Codes { codes, .. } => codes.len(),
            Data::Runs { runs, .. } => runs.iter().map(|run| run.rows as usize).sum(),
            Data::Bytes(strings) => strings.len(),
            Data::Integers(_) | Data::Floats(_) => 0,
        };
        let text = |row| format!("{:?}", brc_core::Value::of_row(column, row));
        (0..rows).filter(|row| is_wanted(wanted, *row)).map(text).collect()
    }

    #[test]
    fn translation_preserves_strings() {
        let even = dictionary((0..400).step_by(2).map(|n| format!("{n:04}")));
        let most = dictionary((0..400).filter(|n| n % 7 > 0).map(|n| format!("{n:04}")));
        let growing = ["0003", "new", "0004"].into_iter().collect::<Dictionary>();
        let (some, none) = ([0x5555_5555_5555_5555; 7], [0; 7]);
        for wanted in [None, Some(&some[..]), Some(&none[..])] {
            let mut shared = SharedCodes::new(false);
            let mut forms = Vec::new();
            for (dictionary, rows) in
                [(&even, Some(1000)), (&most, Some(399)), (&even, None), (&most, Some(9999)), (&growing, None)]
            {
                shared.switch_table(rows);
                let codes: Vec<u32> = (0..400).map(|row| row * 31 % dictionary.len() as u32).collect();
                let runs: Vec<Run> = codes.iter().map(|&code| Run { code, rows: 1 + code % 2 }).take(250).collect();
                for data in [Data::Codes { codes: &codes, dictionary }, Data::Runs { runs: &runs, dictionary }] {
                    let (form, strings) = strings(&mut shared, data, wanted);
                    assert_eq!(strings, strings_of(&data.into(), wanted));
                    forms.push(form);
                }
                let data = Data::Codes { codes: &codes, dictionary };
                shared.prepare_codes(data, None);
                assert!(matches!(shared.as_data(data), Data::Codes { .. }));
                assert_eq!(strings_of(&shared.as_data(data).into(), None), strings_of(&data.into(), None));
            }
            let expected = [CodeForm::First, CodeForm::First, CodeForm::Strings];
            assert_eq!((&forms[..3], &forms[3..]), (&expected[..], &[CodeForm::Shared; 7][..]));
            assert_eq!(shared.strings.dictionary().len(), 400 - 29 + 1);
        }
    }

    #[test]
    fn strings_too_large_for_a_batch_stay_codes() {
        let large = dictionary(["a", "b"].map(|letter| letter.repeat(MAX_BATCH_BYTES / 4)));
        let mut shared = SharedCodes::new(false);
        for (dictionary, codes, form) in [
            (&large, vec![0, 1], CodeForm::Strings),
            (&large, vec![0; 5], CodeForm::First),
            (&dictionary(["a".to_owned()]), vec![0], CodeForm::Strings),
            (&dictionary(["a".repeat(MAX_BATCH_BYTES + 1)]), vec![0], CodeForm::Shared),
        ] {
            shared.switch_table(Some(1));
            let data = Data::Codes { codes: &codes, dictionary };
            let (own, strings) = strings(&mut shared, data, None);
            assert!(strings == strings_of(&data.into(), None));
            assert_eq!(own, form);
        }
    }

    #[test]
    fn all_null_tables_have_codes() {
        let mut shared = SharedCodes::new(false);
        let dictionary = Dictionary::new();
        shared.switch_table(Some(1));
        let data = Data::Codes { codes: &[0], dictionary: &dictionary };
        shared.prepare(data, None);
        let Data::Codes { codes, dictionary } = shared.as_data(data) else { panic!("codes") };
        assert!((codes[0] as usize) < dictionary.len());
    }
}
