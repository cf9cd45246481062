//! A hash index of short strings: their bytes are stored in the table itself, so that one access suffices.

use brc_core::Dictionary;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::{BuildHasher, Hasher};

/// The codes of strings of up to [`ShortNames::MAX_BYTES`] bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShortNames {
    table: HashTable<Name>,
    hasher: RandomState,
}

#[derive(Debug, Clone, Copy)]
struct Name {
    words: [u64; 2],
    len: u32,
    code: u32,
}

impl ShortNames {
    /// The longest strings, in bytes.
    pub(crate) const MAX_BYTES: usize = 16;

    /// The code of a name in `names`, to which it is added if it is new; `None` if it is too long.
    #[inline]
    pub(crate) fn code(&mut self, name: &[u8], names: &mut Dictionary) -> Option<u32> {
        self.find(name, || names.push(name))
    }

    /// Knows a name of that code from now on, unless it is too long.
    pub(crate) fn insert(&mut self, name: &[u8], code: u32) {
        self.find(name, || code);
    }

    #[inline(always)]
    fn find(&mut self, name: &[u8], new: impl FnOnce() -> u32) -> Option<u32> {
        let (words, len) = (words(name)?, name.len() as u32);
        let Self { table, hasher } = self;
        let hash = |words: [u64; 2], len: u32| {
            let mut state = hasher.build_hasher();
            state.write_u64(words[0]);
            state.write_u64(words[1] ^ u64::from(len) << 56);
            state.finish()
        };
        let equal = |name: &Name| name.words == words && name.len == len;
        let code = match table.entry(hash(words, len), equal, |name| hash(name.words, name.len)) {
            Entry::Occupied(entry) => entry.get().code,
            Entry::Vacant(entry) => entry.insert(Name { words, len, code: new() }).get().code,
        };
        Some(code)
    }
}

/// The bytes of a string of at most 16 of them, some of which are there twice; together with its length they determine
/// it.
#[inline(always)]
fn words(name: &[u8]) -> Option<[u64; 2]> {
    let ends = |first: u64, last: u64| Some([first, last]);
    match name {
        [] => ends(0, 0),
        &[one] => ends(one.into(), 0),
        &[one, two] => ends(one.into(), two.into()),
        &[one, two, three] => ends(one.into(), u64::from(two) << 8 | u64::from(three)),
        _ if name.len() < 8 => {
            let (first, last) = (name.first_chunk()?, name.last_chunk()?);
            ends(u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
        }
        _ if name.len() <= ShortNames::MAX_BYTES => {
            let (first, last) = (name.first_chunk()?, name.last_chunk()?);
            ends(u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_are_told_apart(list in prop::collection::vec(prop::collection::vec(0u8..2, 0..20), 0..200)) {
            let (mut short, mut names) = (ShortNames::default(), Dictionary::new());
            for name in &list {
                match short.code(name, &mut names) {
                    Some(code) => prop_assert_eq!(names.get(code), name.as_slice()),
                    None => prop_assert!(name.len() > ShortNames::MAX_BYTES),
                }
            }
            let mut distinct: Vec<_> = list.iter().filter(|name| name.len() <= ShortNames::MAX_BYTES).collect();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(names.len(), distinct.len());
        }
    }
}
