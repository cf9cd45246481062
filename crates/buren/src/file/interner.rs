//! Numbers distinct strings in the order in which they first appear, by hashes that nobody outside can foresee.

use brc_core::Dictionary;
use brc_kernels::interner::DictionaryBuilder;
use foldhash::fast::RandomState;
use std::hash::BuildHasher;

#[derive(Default)]
pub(super) struct Interner {
    strings: DictionaryBuilder,
    hashes: Vec<u32>,
    /// How many of the first strings can be looked up.
    known: usize,
    hasher: RandomState,
}

impl Interner {
    /// An interner whose hashes are those of all others with this hasher.
    pub(super) fn new(hasher: &RandomState) -> Self {
        Self { hasher: hasher.clone(), ..Self::default() }
    }

    /// Makes room for so many more strings of so many bytes together.
    pub(super) fn reserve(&mut self, strings: usize, bytes: usize) {
        self.strings.reserve(strings, bytes);
        self.hashes.reserve(strings);
    }

    /// The number of a string, and whether it is a new one.
    pub(super) fn intern(&mut self, value: &[u8]) -> (u32, bool) {
        self.intern_hashed(value, self.hash(value))
    }

    /// The same for a string with that hash.
    pub(super) fn intern_hashed(&mut self, value: &[u8], hash: u32) -> (u32, bool) {
        self.know_all();
        match self.strings.get_hashed(value, hash) {
            Some(code) => (code, false),
            None => (self.insert(value, hash), true),
        }
    }

    /// Numbers a string with that hash that has no number yet: none that was interned is the same.
    pub(super) fn append(&mut self, value: &[u8], hash: u32) -> u32 {
        self.hashes.push(hash);
        self.strings.append(value)
    }

    /// Makes strings that were appended known to those that look some up.
    fn know_all(&mut self) {
        if self.known < self.hashes.len() {
            self.strings.index(self.known as u32, &self.hashes[self.known..]);
            self.known = self.hashes.len();
        }
    }

    pub(super) fn hash(&self, value: &[u8]) -> u32 {
        (self.hasher.hash_one(value) >> 32) as u32
    }

    /// Appends the numbers of strings with these hashes, new ones where they have none; but no more once there are `most`
    /// different ones.
    pub(super) fn intern_all<'v>(
        &mut self,
        values: impl Iterator<Item = &'v [u8]>,
        hashes: &[u32],
        most: usize,
        codes: &mut Vec<u32>,
    ) {
        self.know_all();
        let first = codes.len();
        self.strings.intern_all(values, hashes, most, codes);
        for (&code, &hash) in codes[first..].iter().zip(hashes) {
            if code as usize == self.hashes.len() {
                self.hashes.push(hash);
            }
        }
        self.known = self.hashes.len();
    }

    /// Numbers a string that has no number yet.
    pub(super) fn insert(&mut self, value: &[u8], hash: u32) -> u32 {
        self.know_all();
        self.hashes.push(hash);
        self.known += 1;
        self.strings.insert(value, hash)
    }

    pub(super) fn dictionary(&self) -> &Dictionary {
        self.strings.dictionary()
    }

    /// The strings and the hash of each, without what finds them.
    pub(super) fn into_parts(self) -> (Dictionary, Vec<u32>) {
        (self.strings.into_dictionary(), self.hashes)
    }
}
