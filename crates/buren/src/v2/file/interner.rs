//! Numbers distinct strings in the order in which they first appear.

use brc_core::Dictionary;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

#[derive(Default)]
pub(super) struct Interner {
    dictionary: Dictionary,
    hashes: Vec<u32>,
    /// Hashes and codes: values are looked at only where all bits of a hash are the same.
    known: HashTable<(u32, u32)>,
    hasher: RandomState,
}

impl Interner {
    /// An interner whose hashes are those of all others with this hasher.
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { hasher: hasher.clone(), ..Self::default() }
    }

    /// The number of a string, and whether it is a new one.
    pub(super) fn intern(&mut self, value: &[u8]) -> (u32, bool) {
        let hash = (self.hasher.hash_one(value) >> 32) as u32;
        match self.find(value, hash) {
            Some(code) => (code, false),
            None => (self.insert(value, hash), true),
        }
    }

    /// The number of a string with that hash, if it has one.
    pub(super) fn find(&self, value: &[u8], hash: u32) -> Option<u32> {
        let same = |known: &(u32, u32)| known.0 == hash && self.dictionary.get(known.1) == value;
        self.known.find(spread(hash), same).map(|known| known.1)
    }

    /// Numbers a string that has no number yet.
    pub(super) fn insert(&mut self, value: &[u8], hash: u32) -> u32 {
        let code = self.dictionary.push(value);
        self.hashes.push(hash);
        self.known.insert_unique(spread(hash), (hash, code), |known| spread(known.0));
        code
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The hash of each value.
    pub(super) fn hashes(&self) -> &[u32] {
        &self.hashes
    }
}

/// A table takes the place of an entry from the lowest bits of a hash, and a tag from the highest ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
