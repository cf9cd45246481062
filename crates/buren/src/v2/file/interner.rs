//! Numbers distinct strings in the order in which they first appear.

use brc_core::Dictionary;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

#[derive(Default)]
pub(super) struct Interner {
    dictionary: Dictionary,
    known: HashTable<u32>,
    hasher: RandomState,
}

impl Interner {
    /// The number of a string, and whether it is a new one.
    pub(super) fn intern(&mut self, value: &[u8]) -> (u32, bool) {
        let Self { dictionary, known, hasher } = self;
        let hash = hasher.hash_one(value);
        if let Some(&code) = known.find(hash, |code| dictionary.get(*code) == value) {
            return (code, false);
        }
        let code = dictionary.push(value);
        known.insert_unique(hash, code, |code| hasher.hash_one(dictionary.get(*code)));
        (code, true)
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }
}
