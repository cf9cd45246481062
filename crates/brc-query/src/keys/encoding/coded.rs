//! A dictionary in sorted order, so that strings are encoded as ranks.

use crate::keys::index::NameIndex;
use brc_core::Dictionary;
use std::sync::OnceLock;

/// A dictionary and its values in order.
#[derive(Debug)]
pub(super) struct Coded {
    /// As it came.
    dictionary: Dictionary,
    /// Its values in order, each once.
    names: Dictionary,
    /// The rank of each code among them; `None` if it was in order as it came.
    ranks: Option<Vec<u32>>,
    index: OnceLock<NameIndex>,
}

impl Coded {
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        let is_sorted = dictionary.iter().is_sorted_by(|one, other| one < other);
        let (names, ranks) = match is_sorted {
            true => (dictionary.clone(), None),
            false => {
                let (names, ranks) = sorted(dictionary);
                (names, Some(ranks))
            }
        };
        Self { dictionary: dictionary.clone(), names, ranks, index: OnceLock::new() }
    }

    /// The values in order.
    pub(crate) fn names(&self) -> &Dictionary {
        &self.names
    }

    /// The ranks of the codes of that dictionary, if it is this one.
    pub(crate) fn ranks(&self, dictionary: &Dictionary) -> Option<&[u32]> {
        self.ranks.as_deref().filter(|_| self.dictionary.shares(dictionary))
    }

    /// The rank of a string.
    pub(crate) fn find(&self, string: &[u8]) -> Option<u64> {
        self.index.get_or_init(|| NameIndex::of(&self.names)).find(string, &self.names).map(u64::from)
    }

    /// The rank of a string, which `hint` probably is.
    pub(crate) fn find_near(&self, string: &[u8], hint: u32) -> Option<u64> {
        let is_it = (hint as usize) < self.names.len() && self.names.get(hint) == string;
        if is_it { Some(hint.into()) } else { self.find(string) }
    }
}

/// The values of a dictionary in order, each once, and the rank of each of its codes among them.
fn sorted(dictionary: &Dictionary) -> (Dictionary, Vec<u32>) {
    let mut codes: Vec<(u128, u32)> = (0..dictionary.len() as u32).map(|code| (0, code)).collect();
    sort(dictionary, &mut codes, 0, MAX_PIECES);
    let (mut names, mut ranks) = (Dictionary::new(), vec![0; codes.len()]);
    names.reserve(dictionary.len(), dictionary.value_bytes());
    for (_, code) in codes {
        let name = dictionary.get(code);
        let last = (names.len() as u32).checked_sub(1).filter(|&last| names.get(last) == name);
        ranks[code as usize] = last.unwrap_or_else(|| names.push(name));
    }
    (names, ranks)
}

/// Values are sorted by at most this many pieces of 16 bytes; where these are equal, whole values are compared.
const MAX_PIECES: u32 = 4;

/// Fewer values are compared as a whole.
const MIN_VALUES_FOR_RADIX_SORT: usize = 32;

/// Sorts codes of values that have the same first bytes, this many: by a piece of each, which lies beside its code,
/// then those of the same piece by the next one.
fn sort(dictionary: &Dictionary, codes: &mut [(u128, u32)], start: usize, pieces: u32) {
    let by_value = |one: &(u128, u32), other: &(u128, u32)| dictionary.get(one.1).cmp(dictionary.get(other.1));
    if codes.len() < MIN_VALUES_FOR_RADIX_SORT || pieces == 0 {
        return codes.sort_by(by_value);
    }
    let start = start + shared(codes.iter().map(|&(_, code)| &dictionary.get(code)[start..]));
    for (piece, code) in codes.iter_mut() {
        let rest = &dictionary.get(*code)[start..];
        *piece = match rest.first_chunk() {
            Some(bytes) => u128::from_be_bytes(*bytes),
            None => u128::from_be_bytes(std::array::from_fn(|index| rest.get(index).copied().unwrap_or(0))),
        };
    }
    // Dictionaries of files are sorted piece by piece, which this sort makes use of.
    codes.sort_by_key(|&(piece, _)| piece);
    for same in codes.chunk_by_mut(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
        let is_whole = |&(_, code): &(u128, u32)| dictionary.get(code).len() < start + size_of::<u128>();
        match same.iter().any(is_whole) {
            true => same.sort_by(by_value),
            false => sort(dictionary, same, start + size_of::<u128>(), pieces - 1),
        }
    }
}

/// The length of the common prefix of the strings.
fn shared<'a>(mut strings: impl Iterator<Item = &'a [u8]>) -> usize {
    let Some(first) = strings.next() else { return 0 };
    let alike =
        |most: usize, string: &[u8]| string.iter().zip(&first[..most]).take_while(|(one, other)| one == other).count();
    strings.fold(first.len(), alike)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_in_the_order_of_values(
            values in prop::collection::vec("(https://(www\\.example\\.com/){0,4})?[ab\0]{0,20}", 0..200),
        ) {
            let dictionary: Dictionary = values.iter().collect();
            let coded = Coded::of(&dictionary);
            prop_assert!(coded.names().iter().is_sorted_by(|one, other| one < other));
            let rank = |code: usize| coded.ranks(&dictionary.clone()).map_or(code as u32, |ranks| ranks[code]);
            for (code, value) in values.iter().enumerate() {
                prop_assert_eq!(coded.names().get(rank(code)), value.as_bytes());
                prop_assert_eq!(coded.find(value.as_bytes()), Some(rank(code).into()));
                prop_assert_eq!(coded.find_near(value.as_bytes(), code as u32), Some(rank(code).into()));
            }
            prop_assert_eq!(coded.find(b"c"), None);
            let apart: Dictionary = values.iter().collect();
            prop_assert!(values.is_empty() || coded.ranks(&apart).is_none());
        }
    }
}
