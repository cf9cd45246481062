//! Numbers arbitrary strings, of which many may be new.

use super::hash::hash_bytes;
use super::others::{OtherNames, TOGETHER, UNKNOWN};
use brc_core::Dictionary;
use std::ops::Range;

/// Assigns codes to strings in order of appearance: 0, 1, 2 …
#[derive(Debug, Clone, Default)]
pub struct DictionaryBuilder {
    dictionary: Dictionary,
    codes: OtherNames,
}

/// A well-mixed 32-bit hash of strings.
pub fn hash(value: &[u8]) -> u32 {
    hash_bytes(value)
}

impl DictionaryBuilder {
    /// The strings so far, by code.
    #[must_use]
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The strings; they can no longer be looked up.
    #[must_use]
    pub fn into_dictionary(self) -> Dictionary {
        self.dictionary
    }

    /// Reserves room for additional strings with a total size of `bytes`.
    pub fn reserve(&mut self, strings: usize, bytes: usize) {
        self.dictionary.reserve(strings, bytes);
        self.codes.reserve(strings);
    }

    /// The code of a known string.
    #[must_use]
    pub fn get(&self, value: &[u8]) -> Option<u32> {
        self.get_hashed(value, hash(value))
    }

    /// The code of a string; a new one if the string is unknown.
    pub fn intern(&mut self, value: &[u8]) -> u32 {
        let hash = hash(value);
        self.get_hashed(value, hash).unwrap_or_else(|| self.insert(value, hash))
    }

    /// The code of a known string with this hash. If the caller supplies hashes, it must do so for all strings.
    #[must_use]
    pub fn get_hashed(&self, value: &[u8], hash: u32) -> Option<u32> {
        self.codes.get(|| hash, value, &self.dictionary)
    }

    /// Assigns a new code to an unknown string with this hash.
    pub fn insert(&mut self, value: &[u8], hash: u32) -> u32 {
        let code = self.dictionary.push(value);
        self.codes.insert(hash, code);
        code
    }

    /// Appends the codes of strings with these hashes, or `None` for unknown ones.
    pub fn get_all<'v>(
        &self,
        mut values: impl Iterator<Item = &'v [u8]>,
        hashes: &[u32],
        found: &mut Vec<Option<u32>>,
    ) {
        found.reserve(hashes.len());
        for hashes in hashes.chunks(TOGETHER) {
            let likely = self.codes.likely(hashes, &self.dictionary);
            found.extend(hashes.iter().zip(likely).zip(&mut values).map(|((&hash, likely), value)| match likely {
                UNKNOWN => None,
                code if self.dictionary.get(code) == value => Some(code),
                _ => self.get_hashed(value, hash),
            }));
        }
    }

    /// Appends the codes of strings with these hashes, new ones for unknown strings. Stops once there are `most`
    /// strings.
    pub fn intern_all<'v>(
        &mut self,
        mut values: impl Iterator<Item = &'v [u8]>,
        hashes: &[u32],
        most: usize,
        codes: &mut Vec<u32>,
    ) {
        codes.reserve(hashes.len());
        for hashes in hashes.chunks(TOGETHER) {
            let likely = self.codes.likely(hashes, &self.dictionary);
            for ((&hash, likely), value) in hashes.iter().zip(likely).zip(&mut values) {
                if self.dictionary.len() >= most {
                    return;
                }
                let is_known = likely != UNKNOWN && self.dictionary.get(likely) == value;
                // An unknown string may have been added in this loop.
                let code = if is_known { Some(likely) } else { self.get_hashed(value, hash) };
                codes.push(code.unwrap_or_else(|| self.insert(value, hash)));
            }
        }
    }

    /// Assigns a new code to a string without looking it up, for strings that hardly ever repeat.
    pub fn append(&mut self, value: &[u8]) -> u32 {
        self.dictionary.push(value)
    }

    /// Makes [appended](DictionaryBuilder::append) strings known: those from code `first` on, with these hashes. They
    /// must be distinct and unknown.
    ///
    /// # Panics
    /// If there are fewer strings.
    pub fn index(&mut self, first: u32, hashes: &[u32]) {
        assert!(first as usize + hashes.len() <= self.dictionary.len(), "hashes of strings");
        self.codes.reserve(hashes.len());
        (first..).zip(hashes).for_each(|(code, &hash)| self.codes.insert(hash, code));
    }

    /// Assigns new codes to strings that are contiguous in `bytes`, as [`DictionaryBuilder::append`] does for each.
    /// `ends` must satisfy the requirements of [`Dictionary::extend`].
    pub fn append_all(&mut self, ends: impl ExactSizeIterator<Item = usize>, bytes: &[u8]) -> Range<u32> {
        let first = self.dictionary.len() as u32;
        self.dictionary.extend(ends, bytes);
        first..self.dictionary.len() as u32
    }

    /// Removes all strings, but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.dictionary.clear();
        self.codes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_interning_agrees_with_single_interning() {
        // Some strings are frequent, some unique; many have the same hash.
        let names: Vec<String> = (0..3000u32).map(|i| format!("name {}", i * i % 1709 % (i / 3 + 1))).collect();
        for hash in [hash, |value: &[u8]| u32::from(value[value.len() - 1] % 7), |_: &[u8]| 0] {
            let values = || names.iter().map(String::as_bytes);
            let hashes: Vec<u32> = values().map(hash).collect();
            let (mut all, mut single) = (DictionaryBuilder::default(), DictionaryBuilder::default());
            all.reserve(0, 0);
            all.reserve(1, 1);
            let expected: Vec<u32> = values()
                .zip(&hashes)
                .map(|(value, &hash)| single.get_hashed(value, hash).unwrap_or_else(|| single.insert(value, hash)))
                .collect();
            let mut codes = Vec::new();
            all.intern_all(values(), &hashes, 100, &mut codes);
            assert_eq!((all.dictionary().len(), codes.last()), (100, Some(&99)));
            let known = codes.len();
            let mut found = vec![None];
            all.get_all(values(), &hashes, &mut found);
            assert!(
                found[1..].iter().zip(&expected).all(|(found, &code)| *found == Some(code).filter(|&code| code < 100))
            );
            all.intern_all(values().skip(known), &hashes[known..], usize::MAX, &mut codes);
            assert_eq!(codes, expected);
            assert_eq!(all.dictionary(), single.dictionary());
        }
    }

    #[test]
    fn strings_are_numbered() {
        let mut builder = DictionaryBuilder::default();
        let names = |range: Range<u32>| range.map(|i| "name ".repeat(i as usize % 30) + &i.to_string());
        for round in 0..2 {
            for _ in 0..2 {
                for (code, name) in (0..).zip(names(0..1000)) {
                    assert_eq!(builder.intern(name.as_bytes()), code, "{round}");
                    assert_eq!(builder.get(name.as_bytes()), Some(code));
                }
            }
            assert_eq!(builder.append(b"1"), 1000);
            assert_eq!(builder.append(b"1"), 1001);
            assert_eq!(builder.intern(b""), 1002);
            assert_eq!(builder.append_all([1, 3].into_iter(), b"abc"), 1003..1005);
            assert_eq!((builder.dictionary().len(), builder.dictionary().get(1004)), (1005, &b"bc"[..]));
            assert_eq!(builder.dictionary().get(1001), b"1");
            builder.index(1003, &[hash(b"a"), hash(b"bc")]);
            assert_eq!((builder.get(b"bc"), builder.intern(b"a"), builder.get(b"1")), (Some(1004), 1003, None));
            builder.clear();
            assert!(builder.dictionary().is_empty());
            assert_eq!(builder.get(b"1"), None);
        }
    }
}
