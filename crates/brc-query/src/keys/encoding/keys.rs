//! The packed keys of groups.

use super::Packing;
use super::order::Sorting;
use crate::keys::index::TupleIndex;
use crate::values::cells::Cells;
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
    pub(crate) fn new(packing: Arc<Packing>, expected: usize) -> Self {
        let tuples = Vec::with_capacity(expected * packing.width);
        Self { packing, tuples, index: TupleIndex::of(&[]) }
    }

    /// Just these tuples, each once.
    pub(crate) fn of(packing: &Arc<Packing>, tuples: Vec<u64>) -> Self {
        Self { packing: Arc::clone(packing), tuples, index: TupleIndex::default() }
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
        let mut order = Vec::new();
        Sorting::default().order_of(&self.tuples, self.width(), &mut order);
        order
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
