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

    /// Just these tuples, each once.
    pub(in crate::partitions) fn of(packing: &Arc<Packing>, tuples: &[u64]) -> Self {
        Self { packing: Arc::clone(packing), tuples: tuples.to_vec(), index: TupleIndex::default() }
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

    /// Whether all tuples lie in their order.
    pub(crate) fn are_in_order(&self) -> bool {
        match self.width() {
            1 => self.tuples.is_sorted(),
            width => self.tuples.chunks_exact(width).is_sorted(),
        }
    }

    /// The numbers of all tuples in their order.
    pub(crate) fn order(&self) -> Vec<u32> {
        order_of(&self.tuples, self.width())
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

    /// All tuples, one behind the other.
    pub(crate) fn tuples(&self) -> &[u64] {
        &self.tuples
    }

    /// Appends the values that some tuples, which lie one behind the other, have for a key.
    pub(crate) fn unpack(&self, key: usize, tuples: &[u64], cells: &mut Cells) {
        self.packing.unpack(key, tuples, cells);
    }
}

/// The numbers of tuples of so many words in their order. What is sorted is a word for each: as many as there is room for of the
/// bits in which the first of them differ, with its number. Whole tuples are compared only where these bits are the same.
fn order_of(tuples: &[u64], width: usize) -> Vec<u32> {
    let Some(first) = tuples.get(..width) else { return Vec::new() };
    let mut differing = vec![0; width];
    for tuple in tuples.chunks_exact(width) {
        differing.iter_mut().zip(tuple).zip(first).for_each(|((all, word), first)| *all |= word ^ first);
    }
    let Some(word) = differing.iter().position(|&bits| bits != 0) else { return vec![0] };
    let above = differing[word].leading_zeros();
    let for_numbers = bits_of((tuples.len() / width) as u64 - 1);
    let entry = |(tuple, number): (&[u64], u64)| {
        let below = if above > 0 && word + 1 < width { tuple[word + 1] >> (64 - above) } else { 0 };
        (tuple[word] << above | below) >> for_numbers << for_numbers | number
    };
    let mut sorted: Vec<u64> = tuples.chunks_exact(width).zip(0..).map(entry).collect();
    sorted.sort_unstable();
    let number = |entry: u64| (entry & ((1 << for_numbers) - 1)) as usize;
    let of_entry = |entry: &u64| &tuples[number(*entry) * width..][..width];
    for same in sorted.chunk_by_mut(|one, other| one >> for_numbers == other >> for_numbers) {
        if same.len() > 1 {
            same.sort_unstable_by(|one, other| of_entry(one).cmp(of_entry(other)));
        }
    }
    sorted.into_iter().map(|entry| number(entry) as u32).collect()
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
        fn tuples_are_sorted_however_many_bits_differ(
            tuples in prop::collection::hash_set((any::<u64>(), any::<u64>(), any::<u64>()), 0..40),
            above in 0u32..128, below in 0u32..128, width in 1usize..4
        ) {
            let bits = |word: u64| {
                let word = if above < 64 { word >> above } else { 7 };
                if below < 64 { word << below } else { word & 3 }
            };
            let tuples = tuples.into_iter().map(|(one, two, three)| [bits(one), bits(two), three][..width].to_vec());
            let tuples: Vec<Vec<u64>> = tuples.collect::<std::collections::HashSet<_>>().into_iter().collect();
            let sorted = order_of(&tuples.concat(), width);
            let sorted: Vec<_> = sorted.into_iter().map(|number| &tuples[number as usize]).collect();
            prop_assert_eq!(sorted.len(), tuples.len());
            prop_assert!(sorted.is_sorted_by(|one, other| one < other));
        }
    }
}
