//! Numbers distinct strings in the order in which they first appear.

use brc_core::Dictionary;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Strings that are looked up together.
const TOGETHER: usize = 64;

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
        self.intern_hashed(value, self.hash(value))
    }

    pub(super) fn hash(&self, value: &[u8]) -> u32 {
        (self.hasher.hash_one(value) >> 32) as u32
    }

    /// The same for a string with that hash.
    pub(super) fn intern_hashed(&mut self, value: &[u8], hash: u32) -> (u32, bool) {
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

    /// The numbers of strings with these hashes, as far as they have one. Each waits for memory several times, but all of
    /// some wait for it together.
    pub(super) fn find_all<'v>(
        &self,
        values: impl Iterator<Item = &'v [u8]> + Clone,
        hashes: &[u32],
        found: &mut Vec<Option<u32>>,
    ) {
        found.clear();
        let mut values = values;
        for hashes in hashes.chunks(TOGETHER) {
            let start = found.len();
            let same = |hash: u32| self.known.find(spread(hash), |known| known.0 == hash).map(|known| known.1);
            found.extend(hashes.iter().map(|&hash| same(hash)));
            let found = &mut found[start..];
            let first_byte = |code: u32| self.dictionary.get(code).first().map_or(0, |&byte| u32::from(byte));
            std::hint::black_box(found.iter().flatten().map(|&code| first_byte(code)).fold(0, u32::wrapping_add));
            for ((code, value), &hash) in found.iter_mut().zip(&mut values).zip(hashes) {
                if code.is_some_and(|code| self.dictionary.get(code) != value) {
                    *code = self.find(value, hash);
                }
            }
        }
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
