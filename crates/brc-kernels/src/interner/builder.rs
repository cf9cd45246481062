//! Numbers strings of any content, of which many may be new.

use super::hash::hash_bytes;
use super::others::OtherNames;
use brc_core::Dictionary;

/// Gives strings codes in the order in which they come: 0, 1, 2 …
#[derive(Debug, Clone, Default)]
pub struct DictionaryBuilder {
    dictionary: Dictionary,
    codes: OtherNames,
}

impl DictionaryBuilder {
    /// The strings so far, by code.
    #[must_use]
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The code of a string, if it was interned.
    #[must_use]
    pub fn get(&self, value: &[u8]) -> Option<u32> {
        self.codes.get(|| hash_bytes(value), value, &self.dictionary)
    }

    /// The code of a string: a new one if it was never interned.
    pub fn intern(&mut self, value: &[u8]) -> u32 {
        let hash = hash_bytes(value);
        match self.codes.get(|| hash, value, &self.dictionary) {
            Some(code) => code,
            None => {
                let code = self.dictionary.push(value);
                self.codes.insert(hash, code);
                code
            }
        }
    }

    /// A new code for a string, whether it has one or not: where hardly any comes twice, looking for it does not pay.
    pub fn append(&mut self, value: &[u8]) -> u32 {
        self.dictionary.push(value)
    }

    /// Forgets all strings, but not the room they took.
    pub fn clear(&mut self) {
        self.dictionary.clear();
        self.codes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_numbered() {
        let mut builder = DictionaryBuilder::default();
        let names = |range: std::ops::Range<u32>| range.map(|i| "name ".repeat(i as usize % 30) + &i.to_string());
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
            assert_eq!(builder.dictionary().len(), 1003);
            assert_eq!(builder.dictionary().get(1001), b"1");
            builder.clear();
            assert!(builder.dictionary().is_empty());
            assert_eq!(builder.get(b"1"), None);
        }
    }
}
