//! Caches what an encoder knows of the batches' dictionary, across parts.
//!
//! Parts of a table mostly have the same values, so hashing and sorting them once is enough.

use super::interner::Interner;
use super::value_order::ValueOrder;
use crate::integer_buffer::UNKNOWN;
use brc_core::Dictionary;

/// The maximum number of values in a cached dictionary: each worker has its own copy.
const MAX_VALUES: usize = 1 << 14;

/// The maximum size of a cached dictionary in bytes.
const MAX_BYTES: usize = 256 << 10;

/// A part with fewer than one in this many of the cached values sorts its own.
const MAX_UNUSED_FACTOR: usize = 2;

/// Cached values, by their code in the batches' dictionary.
#[derive(Default)]
pub(super) struct DictionaryCache {
    /// The identity of that dictionary.
    identity: Option<u64>,
    /// A prefix of its values.
    values: Dictionary,
    hashes: Vec<u32>,
    /// The rank of each of these values.
    ranks: Vec<u32>,
    /// The batches' codes of the current part's values.
    of_part: Vec<u32>,
    /// Whether the part also has values without codes.
    is_mixed: bool,
}

impl DictionaryCache {
    /// Starts another part.
    pub(super) fn clear_part(&mut self) {
        self.of_part.clear();
        self.is_mixed = false;
    }

    /// Records that values of the current part arrive without codes.
    pub(super) fn mix(&mut self) {
        self.is_mixed = true;
    }

    /// Whether the current part has values without codes, so that a new code may belong to a known value.
    pub(super) fn are_mixed(&self) -> bool {
        self.is_mixed
    }

    /// The value of a code that is new in the current part, and its hash.
    pub(super) fn value<'d>(&mut self, code: u32, dictionary: &'d Dictionary, interner: &Interner) -> (&'d [u8], u32) {
        if self.identity != Some(dictionary.identity()) {
            (self.values, self.hashes, self.ranks) = Default::default();
            self.identity = Some(dictionary.identity());
        }
        self.of_part.push(code);
        let value = dictionary.get(code);
        if let Some(&hash) = self.hashes.get(code as usize) {
            return (value, hash);
        }
        if dictionary.len() > MAX_VALUES || dictionary.value_bytes() > MAX_BYTES {
            (self.values, self.hashes, self.ranks) = Default::default();
            return (value, interner.hash(value));
        }
        for code in self.hashes.len() as u32..dictionary.len() as u32 {
            self.values.push(dictionary.get(code));
            self.hashes.push(interner.hash(dictionary.get(code)));
        }
        (value, self.hashes[code as usize])
    }

    /// The rank of each of the part's codes.
    pub(super) fn ranks(&mut self, of_part: &Dictionary) -> Vec<u32> {
        let seen = self.values.len();
        let are_seen = !self.is_mixed && self.of_part.iter().all(|&code| (code as usize) < seen);
        if !are_seen || seen > of_part.len().saturating_mul(MAX_UNUSED_FACTOR) {
            return ValueOrder::new(of_part).ranks().1;
        }
        if self.ranks.len() < seen {
            self.ranks = ValueOrder::new(&self.values).ranks().1;
        }
        let mut codes = vec![UNKNOWN; seen];
        (0..).zip(&self.of_part).for_each(|(code, &of_batch)| codes[self.ranks[of_batch as usize] as usize] = code);
        codes.retain(|&code| code != UNKNOWN);
        let mut ranks = vec![0; codes.len()];
        (0..).zip(&codes).for_each(|(rank, &code)| ranks[code as usize] = rank);
        ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cached_ranks_match_computed_ones(
            parts in prop::collection::vec((prop::collection::vec(0u32..40, 0..40), any::<bool>()), 1..6),
        ) {
            let interner = Interner::default();
            let mut seen = DictionaryCache::default();
            let dictionaries = [0, 1].map(|other| (0..41).map(|code| format!("{}", (code * 7 + other) % 41)).collect());
            for (mut codes, is_other) in parts {
                let dictionary: &Dictionary = &dictionaries[usize::from(is_other)];
                codes.sort_unstable_by_key(|code| code * 11 % 40);
                codes.dedup();
                seen.clear_part();
                let mut values = Dictionary::new();
                for code in codes {
                    let (value, hash) = seen.value(code, dictionary, &interner);
                    prop_assert_eq!((value, hash), (dictionary.get(code), interner.hash(value)));
                    values.push(value);
                }
                prop_assert_eq!(seen.ranks(&values), ValueOrder::new(&values).ranks().1);
            }
        }
    }
}
