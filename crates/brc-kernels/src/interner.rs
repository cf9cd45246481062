//! Interns names as dense codes in about a nanosecond each: every row of a text table needs one.
//!
//! Each name has a key of sixteen bytes, which is looked up in a collision-free table. A name of up to [`SHORT`] bytes,
//! as nearly all are, is its own key. The key of a longer name is a digest, so a match is verified against the
//! dictionary. Names without a key, or without a slot in the table, go to a second table; there are hardly any.
//!
//! The first table is designed for few names that are looked up many times; beyond some ten thousand names, all others
//! go to the second table, too. If many strings are new, use a [`DictionaryBuilder`].

mod builder;
mod fronts;
mod hash;
mod others;
mod table;

use crate::cpu::Level;
use brc_core::Dictionary;
pub use builder::{DictionaryBuilder, hash};
pub(crate) use fronts::padded;
#[cfg(target_arch = "x86_64")]
pub(crate) use hash::aes;
use hash::{HashKind, hash_bytes};
pub(crate) use hash::{Key, NO_KEY, equal_long, hash_by_multiplying, multiplied};
use others::OtherNames;
pub(crate) use table::{KeyTable, Slot};

/// The longest name that is its own key, in bytes.
pub const SHORT: usize = 16;

/// The longest name that has a key, in bytes.
pub(crate) const LONGEST: usize = 128;

/// Pads a short name to [`SHORT`] bytes. No name of a text table contains it, so padding is unambiguous.
pub(crate) const PADDING: u8 = b'\n';

/// Assigns codes to distinct names: 0, 1, 2 …
#[derive(Debug, Clone)]
pub struct Interner {
    dictionary: Dictionary,
    pub(crate) table: KeyTable,
    others: OtherNames,
}

impl Interner {
    /// Up to this number of distinct strings, codes always pay,
    const ALWAYS_PAYING_STRINGS: usize = 1 << 12;
    /// and up to this one, if at least every third row repeats a string: the table can still hold them all.
    const MAX_STRINGS: usize = 1 << 15;
    /// The maximum total size of distinct strings, in bytes, for which codes pay.
    const MAX_STRING_BYTES: usize = 16 << 20;

    /// Creates an empty interner. Its hash is one that kernels of `level` can vectorise.
    #[must_use]
    pub fn new(level: Level) -> Self {
        let hash = HashKind::of(level.min(Level::best()));
        Self { dictionary: Dictionary::new(), table: KeyTable::new(hash), others: OtherNames::default() }
    }

    /// The names so far, by code.
    #[must_use]
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Whether codes pay for strings after this number of rows: the strings repeat and do not take too much memory.
    #[must_use]
    pub fn pays(&self, rows: u64) -> bool {
        let distinct = self.dictionary.len();
        let (few, some) =
            (distinct <= Self::ALWAYS_PAYING_STRINGS, distinct <= Self::MAX_STRINGS && distinct as u64 * 3 <= rows * 2);
        (few || some || distinct as u64 * 4 <= rows) && self.dictionary.value_bytes() <= Self::MAX_STRING_BYTES
    }

    /// The code of a known name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<u32> {
        let code = self.table.hash.key(name).and_then(|key| self.table.get(&key));
        match code {
            Some(code) if name.len() <= SHORT || self.dictionary.get(code) == name => Some(code),
            _ => self.others.get(|| hash_bytes(name), name, &self.dictionary),
        }
    }

    /// The code of a name; a new one if the name is unknown.
    pub fn intern(&mut self, name: &[u8]) -> u32 {
        if let Some(code) = self.get(name) {
            return code;
        }
        let code = self.dictionary.push(name);
        // Two long names may have the same key; the table can hold only one of them.
        let key = self.table.hash.key(name).filter(|key| self.table.get(key).is_none());
        let mut left = Vec::new();
        if !key.is_some_and(|key| self.table.insert(Slot::new(key, code), &mut left)) {
            left.push(code);
        }
        left.into_iter().for_each(|code| self.others.insert(hash_bytes(self.dictionary.get(code)), code));
        code
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn check(level: Level, names: &[Vec<u8>]) {
        let mut interner = Interner::new(level);
        let mut oracle: HashMap<Vec<u8>, u32> = HashMap::new();
        for name in names.iter().chain(names) {
            let next = oracle.len() as u32;
            let expected = *oracle.entry(name.clone()).or_insert(next);
            assert_eq!(interner.intern(name), expected, "{:?}", name.escape_ascii().to_string());
        }
        assert_eq!(interner.dictionary().len(), oracle.len());
        for (name, &code) in &oracle {
            assert_eq!(interner.dictionary().get(code), name.as_slice());
            assert_eq!(interner.get(name), Some(code));
            for tail in [b"".as_slice(), b"\n", b"any other bytes", &[PADDING; 20]] {
                let text = [name, tail].concat();
                assert_eq!(interner.get_prefix(&text, name.len()), Some(code));
            }
        }
        assert_eq!(interner.get(b"never seen"), None);
        assert_eq!(interner.get_prefix(b"never seen, and more of it", 10), None);
        check_all(level, names);
    }

    /// Names with which the first table grows. For any displacement, the first has the slot of another in the second.
    pub(crate) fn names_of_which_the_first_loses_its_slot(level: Level) -> Vec<Vec<u8>> {
        let kind = HashKind::of(level);
        let hash = |name: &Vec<u8>| kind.hash(&kind.key(name).unwrap());
        let numbered = |prefix: &'static str| (0..).map(move |number| format!("{prefix}{number}").into_bytes());
        let is_first = |name: &Vec<u8>| hash(name) >> 16 == 0 && hash(name) & 15 != 0;
        let first = numbered("a name of more than sixteen bytes ").find(is_first).unwrap();
        let is_other = |name: &Vec<u8>| (hash(name) ^ hash(&first)) & 1023 == 0;
        let candidates = numbered("n").filter(is_other).map(|other| {
            let more = (0..7).map(|number| format!("{number}").into_bytes());
            [first.clone(), other].into_iter().chain(more).collect::<Vec<_>>()
        });
        let is_lost = |names: &Vec<Vec<u8>>| {
            let mut interner = Interner::new(level);
            for name in names {
                interner.intern(name);
            }
            interner.table.moves > 0 && interner.table.find(&kind.key(&first).unwrap()).is_none()
        };
        candidates.take(1000).find(is_lost).expect("one of many names takes the slot")
    }

    #[test]
    fn no_digest_is_that_of_a_free_slot() {
        assert_ne!(hash::marked(NO_KEY), NO_KEY);
        assert_eq!(hash::marked(NO_KEY)[0] as u8, PADDING, "no short name has it");
    }

    /// Names that are close together, with few bytes after the last one.
    fn check_all(level: Level, names: &[Vec<u8>]) {
        let mut interner = Interner::new(level);
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for name in names.iter().chain(names) {
            bytes.push(PADDING);
            places.push(bytes.len()..bytes.len() + name.len());
            bytes.extend_from_slice(name);
        }
        let mut codes = vec![7];
        interner.intern_all(&bytes, &places, &mut codes);
        assert_eq!(codes.len(), places.len() + 1);
        let mut other = Interner::new(level);
        for (place, &code) in places.into_iter().zip(&codes[1..]) {
            assert_eq!(other.intern(&bytes[place]), code);
        }
        assert_eq!(interner.dictionary(), other.dictionary());
    }

    #[test]
    fn many_names_of_all_lengths() {
        let names: Vec<Vec<u8>> =
            (0..50_000u32).map(|i| format!("{i:0width$}", width = 1 + i as usize % 40).into_bytes()).collect();
        for level in Level::available() {
            check(level, &names);
        }
    }

    /// Numbered names share nearly all of their bytes. For any hash of them, none may take much time; this test would
    /// run for minutes.
    #[test]
    fn numbered_names() {
        let forms: [fn(u32) -> String; 9] = [
            // Among these is one that no displacement moves, and a different one in its slot in a larger table.
            |i| format!("131/{i}"),
            |i| format!("379/{i}"),
            |i| format!("page 12 number {i}"),
            |i| format!("n{i}"),
            |i| format!("{i:06}"),
            |i| format!("station-{i:05}"),
            |i| format!("id{i:08}"),
            |i| format!("192.168.{}.{}", i / 250, i % 250),
            |i| format!("https://www.example.com/u/{i:08}/{}", "x".repeat(90)),
        ];
        for form in forms {
            let names: Vec<Vec<u8>> = (0..30_000).map(|i| form(i).into_bytes()).collect();
            for level in Level::available() {
                check(level, &names);
                let mut interner = Interner::new(level);
                for name in &names {
                    interner.intern(name);
                }
                let keyed = names[0].len() <= LONGEST;
                let elsewhere = names
                    .iter()
                    .filter(|name| keyed && interner.table.find(&interner.table.hash.key(name).unwrap()).is_none());
                let elsewhere = elsewhere.count();
                assert!(elsewhere < 100, "{elsewhere} of the names like {} by {}", form(7), level.name());
            }
        }
    }

    #[test]
    fn names_that_differ_little() {
        let mut names: Vec<Vec<u8>> = (0..=20).map(|length| vec![b'a'; length]).collect();
        names.extend([b"a\0".to_vec(), b"\0".to_vec(), b"\n".to_vec(), b"a\n".to_vec(), b"aaaaaaaaaaaaaaa\0".to_vec()]);
        names.extend((0..=255u8).map(|byte| vec![byte]));
        names.extend((0..=255u8).map(|byte| [b"0123456789abcde".as_slice(), &[byte]].concat()));
        for level in Level::available() {
            check(level, &names);
        }
    }

    /// The digest of a long name.
    pub(crate) fn digest(level: Level, name: &[u8]) -> Vec<u8> {
        HashKind::of(level).key(name).unwrap().map(u64::to_le_bytes).concat()
    }

    /// Two names with the same digest: a difference in the fifth part cancels one in the first part.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn names_with_equal_digests() -> [Vec<u8>; 2] {
        if Level::best() < Level::Avx2 {
            return [b"no AES".to_vec(), b"no digests".to_vec()];
        }
        let is_text = |name: &[u8]| !name.iter().any(|byte| b"\0\n;".contains(byte));
        let name = |number: u32| format!("{number:016}{}", "x".repeat(100)).into_bytes();
        let first = name(0);
        let second = (1..).map(|number| {
            let mut second = name(number);
            for at in 0..16 {
                second[64 + at] ^= aes::first_part_mixed(&first)[at] ^ aes::first_part_mixed(&second)[at];
            }
            second
        });
        [first.clone(), second.into_iter().find(|second| is_text(second)).unwrap()]
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn names_with_equal_digests_are_distinguished() {
        let names = names_with_equal_digests();
        assert_ne!(names[0], names[1]);
        for level in Level::available() {
            if level >= Level::Avx2 {
                let hash = HashKind::of(level);
                assert_eq!(hash.key(&names[0]), hash.key(&names[1]));
            }
            check(level, &names);
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn digests_are_the_same_with_avx512() {
        if Level::best() < Level::Avx512 {
            return;
        }
        for length in SHORT + 1..=LONGEST {
            let name: Vec<u8> = (0..length).map(|at| b'a' + (at * 7 % 26) as u8).collect();
            // SAFETY: the level implies that the processor has AVX-512.
            let digest: Key = unsafe { std::mem::transmute(aes::digest_avx512(name.as_ptr(), length)) };
            assert_eq!(HashKind::Aes.key(&name), Some(digest), "{length}");
            for at in 0..length {
                let mut other = name.clone();
                other[at] = b'A';
                // SAFETY: as above; both names have this length.
                let equal = |other: &[u8]| unsafe { aes::equal_avx512(name.as_ptr(), other.as_ptr(), length) };
                assert!(equal(&name.clone()) && !equal(&other), "{length} {at}");
            }
        }
    }

    /// A name that equals the key of a different one.
    #[test]
    fn digests_are_not_names() {
        for level in Level::available() {
            let mut interner = Interner::new(level);
            let long = b"longer than sixteen bytes";
            assert_eq!(interner.intern(long), 0);
            let digest = HashKind::of(level).key(long).unwrap().map(u64::to_le_bytes).concat();
            assert_eq!(interner.get(&digest), None);
            assert_eq!(interner.get_prefix(&[&digest, b" and so on".as_slice()].concat(), SHORT), None);
            assert_eq!(interner.intern(&digest), 1);
        }
    }

    proptest! {
        #[test]
        fn any_names(names in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..200)) {
            for level in Level::available() {
                check(level, &names);
            }
        }
    }
}
