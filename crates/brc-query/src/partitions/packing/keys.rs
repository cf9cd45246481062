//! The packed keys of groups.

use super::Packing;
use super::bits::bits_of;
use crate::cells::Cells;
use crate::keys::index::TupleIndex;
use brc_core::Value;
use std::sync::Arc;

/// Tuples of packed keys, each once.
#[derive(Debug, Clone)]
pub(crate) struct PackedKeys {
    packing: Arc<Packing>,
    tuples: Vec<u64>,
    index: TupleIndex,
}

impl PackedKeys {
    /// None yet, of perhaps so many.
    pub(in crate::partitions) fn new(packing: Arc<Packing>, expected: usize) -> Self {
        let tuples = Vec::with_capacity(expected * packing.width);
        Self { packing, tuples, index: TupleIndex::with_capacity(expected) }
    }

    pub(crate) fn len(&self) -> usize {
        self.tuples.len() / self.width()
    }

    /// How many keys a tuple has.
    pub(crate) fn keys(&self) -> usize {
        self.packing.keys()
    }

    /// Words of a tuple.
    pub(crate) fn width(&self) -> usize {
        self.packing.width
    }

    /// Replaces `numbers` by those of some tuples, of which some may be new.
    pub(crate) fn number(&mut self, tuples: &[u64], numbers: &mut Vec<u32>) {
        self.index.number_all(tuples, self.packing.width, &mut self.tuples, numbers);
    }

    /// No more tuples will come.
    pub(crate) fn settle(&mut self) {
        self.index = TupleIndex::default();
    }

    /// The words of a tuple: they order as the keys do, nulls last.
    #[inline]
    pub(crate) fn tuple(&self, number: usize) -> &[u64] {
        &self.tuples[number * self.packing.width..(number + 1) * self.packing.width]
    }

    /// The numbers of all tuples in their order.
    pub(crate) fn order(&self) -> Vec<u32> {
        if self.width() == 1 {
            return order_of(&self.tuples);
        }
        let mut sorted: Vec<(u64, u64, u32)> = (0..)
            .zip(self.tuples.chunks_exact(self.width()))
            .map(|(number, tuple)| (tuple[0], tuple[1], number))
            .collect();
        if self.width() == 2 {
            sorted.sort_unstable();
        } else {
            let rest = |number: u32| &self.tuple(number as usize)[2..];
            sorted.sort_unstable_by(|one, other| {
                (one.0, one.1).cmp(&(other.0, other.1)).then_with(|| rest(one.2).cmp(rest(other.2)))
            });
        }
        sorted.into_iter().map(|(_, _, number)| number).collect()
    }

    /// These tuples only, in their order.
    pub(crate) fn pick(&self, numbers: &[u32]) -> Self {
        let mut tuples = Vec::with_capacity(numbers.len() * self.width());
        numbers.iter().for_each(|&number| push_tuple(self.tuple(number as usize), &mut tuples));
        Self { packing: Arc::clone(&self.packing), tuples, index: TupleIndex::default() }
    }

    /// The value that a tuple has for a key; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn value<'a>(&'a self, key: usize, number: usize, text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        self.packing.value(key, self.tuple(number), text)
    }

    /// Whether a tuple has a null for a key.
    pub(crate) fn is_null(&self, key: usize, number: usize) -> bool {
        self.packing.is_null(key, self.tuple(number))
    }

    /// Appends the values that all tuples have for a key.
    pub(crate) fn unpack_all(&self, key: usize, cells: &mut Cells) {
        self.packing.unpack(key, &self.tuples, cells);
    }

    /// Appends the values that some tuples, which lie one behind the other, have for a key.
    pub(crate) fn unpack(&self, key: usize, tuples: &[u64], cells: &mut Cells) {
        self.packing.unpack(key, tuples, cells);
    }
}

/// The numbers of all words in the order of the words. Where the bits in which these differ leave room for their numbers, what
/// is sorted is no more than a word for each.
pub(crate) fn order_of(words: &[u64]) -> Vec<u32> {
    let Some(&first) = words.first() else { return Vec::new() };
    let differing = words.iter().fold(0, |all, word| all | (word ^ first));
    let (above, below) = (differing.leading_zeros() % 64, differing.trailing_zeros() % 64);
    let for_numbers = bits_of(words.len() as u64 - 1);
    if 64 - above - below + for_numbers <= 64 {
        let entry = |(&word, number): (&u64, u64)| word << above >> (above + below) << for_numbers | number;
        let mut sorted: Vec<u64> = words.iter().zip(0..).map(entry).collect();
        sorted.sort_unstable();
        return sorted.into_iter().map(|entry| (entry & ((1 << for_numbers) - 1)) as u32).collect();
    }
    let mut sorted: Vec<(u64, u32)> = words.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(_, number)| number).collect()
}

/// Appends the words of a tuple.
#[inline]
pub(crate) fn push_tuple(tuple: &[u64], tuples: &mut Vec<u64>) {
    match *tuple {
        // Few words are worth no call.
        [one] => tuples.push(one),
        [one, two] => tuples.extend([one, two]),
        _ => tuples.extend_from_slice(tuple),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_are_sorted_however_many_bits_differ(
            words in prop::collection::hash_set(any::<u64>(), 0..40), above in 0u32..64, below in 0u32..64
        ) {
            let words = words.into_iter().map(|word| word >> above << below);
            let words: Vec<u64> = words.collect::<std::collections::HashSet<_>>().into_iter().collect();
            let sorted: Vec<u64> = order_of(&words).into_iter().map(|number| words[number as usize]).collect();
            prop_assert_eq!(sorted.len(), words.len());
            prop_assert!(sorted.is_sorted());
        }
    }
}
