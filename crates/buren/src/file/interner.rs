//! Assigns codes to distinct strings in order of first occurrence, with a randomly seeded hash.

use brc_core::Dictionary;
use brc_kernels::interner::DictionaryBuilder;
use foldhash::fast::RandomState;
use std::hash::BuildHasher;

#[derive(Default)]
pub(super) struct Interner {
    strings: DictionaryBuilder,
    hashes: Vec<u32>,
    /// The number of leading strings that are in the hash table.
    indexed: usize,
    hasher: RandomState,
}

impl Interner {
    /// An empty interner. Interners with the same hasher compute the same hashes.
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { hasher: hasher.clone(), ..Self::default() }
    }

    /// Reserves memory for `strings` more strings of `bytes` bytes in total.
    pub(super) fn reserve(&mut self, strings: usize, bytes: usize) {
        self.strings.reserve(strings, bytes);
        self.hashes.reserve(strings);
    }

    /// The code of a string, and whether it is new.
    pub(super) fn intern(&mut self, value: &[u8]) -> (u32, bool) {
        self.intern_hashed(value, self.hash(value))
    }

    /// Like `intern`, for a string with a known hash.
    pub(super) fn intern_hashed(&mut self, value: &[u8], hash: u32) -> (u32, bool) {
        self.index_all();
        match self.strings.get_hashed(value, hash) {
            Some(code) => (code, false),
            None => (self.insert(value, hash), true),
        }
    }

    /// Assigns a code to a string with a known hash, which must be new.
    pub(super) fn append(&mut self, value: &[u8], hash: u32) -> u32 {
        self.hashes.push(hash);
        self.strings.append(value)
    }

    /// Adds the appended strings to the hash table.
    fn index_all(&mut self) {
        if self.indexed < self.hashes.len() {
            self.strings.index(self.indexed as u32, &self.hashes[self.indexed..]);
            self.indexed = self.hashes.len();
        }
    }

    pub(super) fn hash(&self, value: &[u8]) -> u32 {
        (self.hasher.hash_one(value) >> 32) as u32
    }

    /// Appends the codes of strings with known hashes, assigning codes to new strings. Stops when there are `most`
    /// distinct strings.
    pub(super) fn intern_all<'v>(
        &mut self,
        values: impl Iterator<Item = &'v [u8]>,
        hashes: &[u32],
        most: usize,
        codes: &mut Vec<u32>,
    ) {
        self.index_all();
        let first = codes.len();
        self.strings.intern_all(values, hashes, most, codes);
        for (&code, &hash) in codes[first..].iter().zip(hashes) {
            if code as usize == self.hashes.len() {
                self.hashes.push(hash);
            }
        }
        self.indexed = self.hashes.len();
    }

    /// Assigns a code to a new string.
    pub(super) fn insert(&mut self, value: &[u8], hash: u32) -> u32 {
        self.index_all();
        self.hashes.push(hash);
        self.indexed += 1;
        self.strings.insert(value, hash)
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        self.strings.dictionary()
    }

    /// The strings and their hashes, without the hash table.
    pub(super) fn into_parts(self) -> (Dictionary, Vec<u32>) {
        (self.strings.into_dictionary(), self.hashes)
    }
}
