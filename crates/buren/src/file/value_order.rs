//! The byte order of a dictionary's values, determined mostly without reading them.

use brc_core::Dictionary;
use brc_core::bounds::prefix;
use std::cmp::Ordering;

/// Compares values by the eight bytes after their common prefix, and in full only if these are equal.
pub(super) struct ValueOrder<'a> {
    dictionary: &'a Dictionary,
    keys: Vec<u64>,
}

impl<'a> ValueOrder<'a> {
    pub(super) fn new(dictionary: &'a Dictionary) -> Self {
        let mut values = dictionary.iter();
        let first = values.next().unwrap_or_default();
        let common = values.fold(first.len(), |common, value| {
            // Usually the whole prefix matches, which is fast to check.
            if value.starts_with(&first[..common]) {
                common
            } else {
                first.iter().zip(value).take_while(|(a, b)| a == b).count()
            }
        });
        let keys = dictionary.iter().map(|value| prefix(&value[common..])).collect();
        Self { dictionary, keys }
    }

    /// The codes sorted by their values, and the rank of each code.
    pub(super) fn ranks(&self) -> (Vec<u32>, Vec<u32>) {
        let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
        sorted.sort_unstable_by(|&a, &b| self.compare(a, b));
        let mut ranks = vec![0; sorted.len()];
        (0..).zip(&sorted).for_each(|(rank, &code)| ranks[code as usize] = rank);
        (sorted, ranks)
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Compares the values of two codes.
    pub(super) fn compare(&self, a: u32, b: u32) -> Ordering {
        let by_key = self.keys[a as usize].cmp(&self.keys[b as usize]);
        by_key.then_with(|| self.dictionary.get(a).cmp(self.dictionary.get(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn order_matches_that_of_bytes(
            prefix in "[a-c]{0,12}",
            values in prop::collection::btree_set(prop::collection::vec(prop_oneof![Just(0u8), Just(b'a'), Just(255)], 0..12), 1..20),
        ) {
            let values = values.iter().map(|value| [prefix.as_bytes(), value].concat());
            let dictionary: Dictionary = values.rev().collect();
            let order = ValueOrder::new(&dictionary);
            for (a, b) in (0..dictionary.len() as u32).flat_map(|a| (0..dictionary.len() as u32).map(move |b| (a, b))) {
                prop_assert_eq!(order.compare(a, b), dictionary.get(a).cmp(dictionary.get(b)));
            }
        }
    }
}
