//! The strings of one part: their codes, by first appearance, whatever form the batches have.

use crate::integer_buffer::{IntegerBuffer, IntegerSlice, UNKNOWN};
use brc_core::{ByteStrings, Column, Data, Dictionary};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

#[derive(Default)]
pub(super) struct GatheredStrings {
    pub(super) dictionary: Dictionary,
    pub(super) codes: IntegerBuffer,
    /// This part's code of each code of the worker's dictionary.
    local: Vec<u32>,
    /// This part's codes by their values. Batches of codes alone do not need it, as their values are distinct.
    known: Option<HashTable<u32>>,
    hasher: RandomState,
    /// The codes of a batch, written out.
    given: Vec<u32>,
    numbers: Vec<i32>,
}

impl GatheredStrings {
    /// Appends the rows of a column; returns whether it has strings.
    pub(super) fn append(&mut self, column: &Column<'_>) -> bool {
        match (column.data, column.dictionary()) {
            (Data::Codes { codes, .. }, Some(dictionary)) => self.append_codes(codes, dictionary),
            (Data::Bytes(strings), _) => self.append_bytes(strings),
            (_, Some(dictionary)) => {
                let mut given = std::mem::take(&mut self.given);
                given.clear();
                brc_core::batch::codes_of(column, &mut given);
                self.append_codes(&given, dictionary);
                self.given = given;
            }
            (_, None) => return false,
        }
        true
    }

    fn append_codes(&mut self, codes: &[u32], dictionary: &Dictionary) {
        self.local.resize(dictionary.len(), UNKNOWN);
        while !self.codes.extend_translated(codes, &self.local, self.dictionary.len() as u32) {
            for &code in codes {
                if self.local[code as usize] == UNKNOWN {
                    self.local[code as usize] = self.code_of(dictionary.get(code));
                }
            }
        }
    }

    fn append_bytes(&mut self, strings: ByteStrings<'_>) {
        let Self { dictionary, hasher, .. } = self;
        self.known.get_or_insert_with(|| {
            let hash = |code: &u32| hasher.hash_one(dictionary.get(*code));
            let mut known = HashTable::new();
            (0..dictionary.len() as u32).for_each(|code| {
                known.insert_unique(hash(&code), code, hash);
            });
            known
        });
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend((0..strings.len()).map(|row| self.code_of(strings.get(row)) as i32));
        self.codes.extend_slice(IntegerSlice::I32(&numbers));
        self.numbers = numbers;
    }

    /// The code of a value, which is a new one if only codes were given so far.
    fn code_of(&mut self, value: &[u8]) -> u32 {
        let Self { dictionary, hasher, known, .. } = self;
        let Some(known) = known else { return dictionary.push(value) };
        let hash = hasher.hash_one(value);
        if let Some(&code) = known.find(hash, |code| dictionary.get(*code) == value) {
            return code;
        }
        let code = dictionary.push(value);
        known.insert_unique(hash, code, |code| hasher.hash_one(dictionary.get(*code)));
        code
    }

    /// Begins another part; gives the values of this one by code.
    pub(super) fn take_dictionary(&mut self) -> Dictionary {
        self.local.clear();
        self.codes.clear();
        self.known = None;
        std::mem::take(&mut self.dictionary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_code_in_whatever_form_it_comes() {
        let worker: Dictionary = ["b", "a", "c"].into_iter().collect();
        let bytes = ByteStrings::new(&[0, 1, 2, 3, 4], b"adba");
        let columns = [
            Column::codes(&[1, 0, 1], &worker),
            Column::from(Data::Bytes(bytes)),
            Column::codes(&[2, 1], &worker),
            Column::from(Data::Bytes(ByteStrings::new(&[0, 1, 2], b"cd"))),
        ];
        let mut gathered = GatheredStrings::default();
        for _ in 0..2 {
            assert!(columns.iter().all(|column| gathered.append(column)));
            let codes: Vec<i64> = (0..gathered.codes.len()).map(|row| gathered.codes.slice().get(row)).collect();
            assert_eq!(codes, [0, 1, 0, 0, 2, 1, 0, 3, 0, 3, 2]);
            let dictionary = gathered.take_dictionary();
            assert_eq!(dictionary.iter().collect::<Vec<_>>(), [b"a", b"b", b"d", b"c"]);
        }
        assert!(!gathered.append(&Column::from(Data::Floats(&[1.0]))));
    }
}
