//! The encoded keys of groups.

use super::KeyEncoding;
use super::order::Sorting;
use crate::keys::index::TupleIndex;
use crate::values::cells::Cells;
use brc_core::Value;
use std::sync::Arc;

/// Tuples of encoded keys, each once.
#[derive(Debug, Clone)]
pub(crate) struct EncodedKeys {
    encoding: Arc<KeyEncoding>,
    tuples: Vec<u64>,
    index: TupleIndex,
}

impl EncodedKeys {
    /// None yet, of perhaps this many.
    pub(crate) fn new(encoding: Arc<KeyEncoding>, expected: usize) -> Self {
        let tuples = Vec::with_capacity(expected * encoding.width);
        Self { encoding, tuples, index: TupleIndex::of(&[]) }
    }

    /// Just these tuples, each once.
    pub(crate) fn of(encoding: &Arc<KeyEncoding>, tuples: Vec<u64>) -> Self {
        Self { encoding: Arc::clone(encoding), tuples, index: TupleIndex::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.tuples.len() / self.width()
    }

    /// How many keys a tuple has.
    pub(crate) fn keys(&self) -> usize {
        self.encoding.keys()
    }

    /// Words of a tuple.
    pub(crate) fn width(&self) -> usize {
        self.encoding.width
    }

    /// Replaces `numbers` by those of some tuples, of which some may be new.
    pub(crate) fn number(&mut self, tuples: &[u64], numbers: &mut Vec<u32>) {
        self.index.number_all(tuples, self.encoding.width, &mut self.tuples, numbers);
    }

    /// Frees the index: no more tuples will come.
    pub(crate) fn prepare(&mut self) {
        self.index = TupleIndex::default();
    }

    /// The words of a tuple: they order as the keys do, nulls last.
    #[inline]
    pub(crate) fn tuple(&self, number: usize) -> &[u64] {
        &self.tuples[number * self.encoding.width..(number + 1) * self.encoding.width]
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
        let mut order = Vec::new();
        Sorting::default().order_of(&self.tuples, self.width(), &mut order);
        order
    }

    /// These tuples only, in their order.
    pub(crate) fn pick(&self, numbers: &[u32]) -> Self {
        let mut tuples = Vec::with_capacity(numbers.len() * self.width());
        numbers.iter().for_each(|&number| push_tuple(self.tuple(number as usize), &mut tuples));
        Self { encoding: Arc::clone(&self.encoding), tuples, index: TupleIndex::default() }
    }

    /// The value that a tuple has for a key; `None` if it is null. Strings may be written to `text`.
    pub(crate) fn value<'a>(&'a self, key: usize, number: usize, text: &'a mut Vec<u8>) -> Option<Value<'a>> {
        self.encoding.value(key, self.tuple(number), text)
    }

    /// Whether a tuple has a null for a key.
    pub(crate) fn is_null(&self, key: usize, number: usize) -> bool {
        self.encoding.is_null(key, self.tuple(number))
    }

    /// All tuples, in sequence.
    pub(crate) fn tuples(&self) -> &[u64] {
        &self.tuples
    }

    /// Appends the values that some tuples, which lie in sequence, have for a key.
    pub(crate) fn decode(&self, key: usize, tuples: &[u64], cells: &mut Cells) {
        self.encoding.decode(key, tuples, cells);
    }
}

/// Appends the words of a tuple.
#[inline]
pub(crate) fn push_tuple(tuple: &[u64], tuples: &mut Vec<u64>) {
    match *tuple {
        // For few words a call costs more than the copy.
        [one] => tuples.push(one),
        [one, two] => tuples.extend([one, two]),
        _ => tuples.extend_from_slice(tuple),
    }
}
