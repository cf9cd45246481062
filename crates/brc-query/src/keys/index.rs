//! A hash index that numbers distinct values from 0, in the order of their first appearance. The values are stored
//! outside, contiguously, and only once.

use brc_core::Dictionary;
use brc_kernels::memory::prefetch;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::cmp::Ordering;
use std::hash::BuildHasher;

/// Finds the number of a tuple of 64-bit words.
///
/// As long as no tuple is below one before it, as with the keys that a file is sorted by, the last one is all that
/// needs to be known: nothing is hashed before the first that is.
#[derive(Debug, Clone, Default)]
pub(crate) struct TupleIndex {
    /// Built at the first look-up.
    slots: Slots,
    /// All tuples so far ascend.
    ascends: bool,
}

/// The numbers of tuples by open addressing with linear probing: a look-up usually loads one slot and one tuple.
#[derive(Debug, Clone)]
struct Slots {
    /// Numbers plus one, 0 for a free slot. The length is 0 or a power of two.
    numbers: Vec<u32>,
    /// Shifts a hash so that its upper bits are the slot.
    shift: u32,
    seed: u64,
    /// Rebuilt at this many tuples.
    most: usize,
}

/// The fewest slots.
const MIN_SLOTS: usize = 64;

/// Up to this many tuples have at least four slots each, so that few look-ups probe a second slot, which is
/// unpredictable; more tuples have at least two slots each, so that more of them stay in the cache.
const MAX_SPARSE_TUPLES: usize = 1 << 14;

/// This many tuples are hashed before the first of them is looked up.
const BLOCK: usize = 128;

/// Tuples of this many words are in the nearest cache anyway.
const NEAR: usize = 1 << 14;

/// 2^64 over the golden ratio, as in Fibonacci hashing, and another odd number without a pattern.
const MULTIPLIERS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

impl Default for Slots {
    fn default() -> Self {
        Self { numbers: Vec::new(), shift: 0, seed: RandomState::default().hash_one(0), most: 0 }
    }
}

impl TupleIndex {
    /// For tuples that are distinct.
    pub(crate) fn of(tuples: &[u64]) -> Self {
        Self { ascends: tuples.is_empty(), ..Self::default() }
    }

    /// Replaces `numbers` by the numbers of the contiguous tuples of `width` words in `wanted`. New ones are appended
    /// to `tuples`.
    ///
    /// # Panics
    /// If there might be 2³² - 1 tuples then.
    pub(crate) fn number_all(&mut self, wanted: &[u64], width: usize, tuples: &mut Vec<u64>, numbers: &mut Vec<u32>) {
        assert!((tuples.len() + wanted.len()) / width < u32::MAX as usize, "fewer than 2^32 - 1 distinct tuples");
        numbers.clear();
        // Loops of a small constant length are unrolled.
        match width {
            1 => self.number_arrays::<1>(wanted, tuples, numbers),
            2 => self.number_arrays::<2>(wanted, tuples, numbers),
            3 => self.number_arrays::<3>(wanted, tuples, numbers),
            4 => self.number_arrays::<4>(wanted, tuples, numbers),
            5 => self.number_arrays::<5>(wanted, tuples, numbers),
            6 => self.number_arrays::<6>(wanted, tuples, numbers),
            7 => self.number_arrays::<7>(wanted, tuples, numbers),
            8 => self.number_arrays::<8>(wanted, tuples, numbers),
            9 => self.number_arrays::<9>(wanted, tuples, numbers),
            _ => {
                self.ascends = false;
                self.slots.number_each(wanted.chunks_exact(width), width, tuples, numbers);
            }
        }
    }

    fn number_arrays<const WIDTH: usize>(&mut self, wanted: &[u64], tuples: &mut Vec<u64>, numbers: &mut Vec<u32>) {
        let mut wanted = wanted.as_chunks::<WIDTH>().0;
        if self.ascends {
            wanted = &wanted[number_ascending(wanted, tuples, numbers)..];
            self.ascends = wanted.is_empty();
            if self.ascends {
                return;
            }
        }
        self.slots.number_each(wanted.iter(), WIDTH, tuples, numbers);
    }
}

impl Slots {
    /// Knows these tuples, and has room for more.
    fn rebuild(&mut self, tuples: &[u64], width: usize) {
        let most_of = |slots: usize| if slots / 4 <= MAX_SPARSE_TUPLES { slots / 4 } else { slots / 2 };
        let mut slots = MIN_SLOTS;
        while most_of(slots) <= tuples.len() / width {
            slots *= 2;
        }
        self.most = most_of(slots);
        self.shift = 64 - slots.ilog2();
        self.numbers = Vec::new();
        self.numbers = vec![0; slots];
        for (tuple, number) in tuples.chunks_exact(width).zip(1..) {
            let mut slot = self.slot_of(self.hash(tuple));
            while self.numbers[slot] != 0 {
                slot = self.next_slot(slot);
            }
            self.numbers[slot] = number;
        }
    }

    #[inline(always)]
    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.numbers.len() - 1)
    }

    /// A tuple's hash, whose upper bits are its slot.
    #[inline(always)]
    fn hash(&self, tuple: &[u64]) -> u64 {
        // The folded multiply of foldhash, <https://github.com/orlp/foldhash>, of which only the seed is random. Its
        // upper bits alone would crowd words that differ in a few middle bits.
        let fold = |hash: u64, word: u64| {
            let product = u128::from(hash ^ word) * u128::from(MULTIPLIERS[0]);
            product as u64 ^ (product >> 64) as u64
        };
        tuple.iter().fold(self.seed, |hash, &word| fold(hash, word)).wrapping_mul(MULTIPLIERS[1])
    }

    #[inline(always)]
    fn slot_of(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// Appends the numbers of tuples of that width.
    #[inline(always)]
    fn number_each<T: AsRef<[u64]> + Copy>(
        &mut self,
        mut wanted: impl ExactSizeIterator<Item = T> + Clone,
        width: usize,
        tuples: &mut Vec<u64>,
        numbers: &mut Vec<u32>,
    ) {
        if self.numbers.is_empty() {
            self.rebuild(tuples, width);
        }
        let mut last = None;
        while wanted.len() > 0 {
            let block = wanted.clone().take(BLOCK);
            if tuples.len() <= NEAR {
                let number = |tuple: T| self.number(tuple, self.hash(tuple.as_ref()), &mut last, tuples);
                numbers.extend(block.map(number));
            } else {
                let mut hashes = [0; BLOCK];
                hashes.iter_mut().zip(block.clone()).for_each(|(hash, tuple)| *hash = self.hash(tuple.as_ref()));
                self.bring(&hashes[..block.len()], width, tuples);
                numbers.extend(block.zip(hashes).map(|(tuple, hash)| self.number(tuple, hash, &mut last, tuples)));
            }
            wanted.nth(BLOCK - 1);
        }
    }

    /// The number of a tuple of that hash; `last` is the one before it and its number.
    #[inline(always)]
    fn number<T: AsRef<[u64]> + Copy>(
        &mut self,
        tuple: T,
        hash: u64,
        last: &mut Option<(T, u32)>,
        tuples: &mut Vec<u64>,
    ) -> u32 {
        let words = tuple.as_ref();
        // Rows that belong together often lie together.
        if let Some((before, number)) = *last
            && equal(before.as_ref(), words)
        {
            return number;
        }
        let mut slot = self.slot_of(hash);
        let number = loop {
            match self.numbers[slot].checked_sub(1) {
                Some(number) if equal(&tuples[number as usize * words.len()..][..words.len()], words) => break number,
                Some(_) => slot = self.next_slot(slot),
                None => break self.add(slot, words, tuples),
            }
        };
        *last = Some((tuple, number));
        number
    }

    /// Prefetches the slots that look-ups of these hashes probably need, all at once.
    #[inline(always)]
    fn bring(&self, hashes: &[u64], width: usize, tuples: &[u64]) {
        hashes.iter().for_each(|&hash| prefetch(&self.numbers, self.slot_of(hash)));
        for &hash in hashes {
            let start = self.numbers[self.slot_of(hash)].saturating_sub(1) as usize * width;
            prefetch(tuples, start);
            prefetch(tuples, start + width - 1);
        }
    }

    /// Adds a tuple, and its number to a free slot.
    #[inline(always)]
    fn add(&mut self, slot: usize, tuple: &[u64], tuples: &mut Vec<u64>) -> u32 {
        let number = tuples.len() / tuple.len();
        tuples.extend_from_slice(tuple);
        self.numbers[slot] = number as u32 + 1;
        if number + 1 == self.most {
            self.rebuild(tuples, tuple.len());
        }
        number as u32
    }
}

/// Appends the numbers of tuples among ascending ones, to which new ones are appended, up to the first that is below
/// the last. Returns how many those are.
fn number_ascending<const WIDTH: usize>(
    wanted: &[[u64; WIDTH]],
    tuples: &mut Vec<u64>,
    numbers: &mut Vec<u32>,
) -> usize {
    let mut last = tuples.last_chunk().copied();
    let mut count = (tuples.len() / WIDTH) as u32;
    for (place, tuple) in wanted.iter().enumerate() {
        match last.map_or(Ordering::Less, |last: [u64; WIDTH]| last.cmp(tuple)) {
            Ordering::Less => {
                tuples.extend_from_slice(tuple);
                (last, count) = (Some(*tuple), count + 1);
            }
            Ordering::Equal => {}
            Ordering::Greater => return place,
        }
        numbers.push(count - 1);
    }
    wanted.len()
}

/// Word by word: tuples are too short for comparing memory to be worth a call. Both have as many words.
#[inline(always)]
fn equal(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).fold(0, |differing, (one, other)| differing | (one ^ other)) == 0
}

/// Finds the code of a name in a dictionary.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameIndex {
    table: HashTable<u32>,
    hasher: RandomState,
}

impl NameIndex {
    /// Knows the names that are there, each once.
    pub(crate) fn of(names: &Dictionary) -> Self {
        let mut index = Self::default();
        let hash = |code: u32| index.hasher.hash_one(names.get(code));
        index.table.reserve(names.len(), |&code| hash(code));
        for code in 0..names.len() as u32 {
            index.table.insert_unique(hash(code), code, |&code| hash(code));
        }
        index
    }

    /// The code of `name` in `names`, if it is there.
    pub(crate) fn find(&self, name: &[u8], names: &Dictionary) -> Option<u32> {
        self.table.find(self.hasher.hash_one(name), |&code| names.get(code) == name).copied()
    }

    /// The code of `name` in `names`, to which it is added if it is new.
    pub(crate) fn code(&mut self, name: &[u8], names: &mut Dictionary) -> u32 {
        let entry = self.table.entry(
            self.hasher.hash_one(name),
            |&code| names.get(code) == name,
            |&code| self.hasher.hash_one(names.get(code)),
        );
        match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let code = names.push(name);
                entry.insert(code);
                code
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Numbers batch after batch, and compares with a map.
    fn check(batches: &[Vec<Vec<u64>>], width: usize) {
        let (mut index, mut tuples, mut numbers) = (TupleIndex::of(&[]), Vec::new(), Vec::new());
        let mut known: HashMap<&[u64], u32> = HashMap::new();
        for (place, batch) in batches.iter().enumerate() {
            if place == 2 {
                index = TupleIndex::of(&tuples);
            }
            index.number_all(&batch.concat(), width, &mut tuples, &mut numbers);
            let expected = batch.iter().map(|tuple| {
                let next = known.len() as u32;
                *known.entry(tuple).or_insert(next)
            });
            assert!(expected.eq(numbers.iter().copied()));
        }
        assert_eq!(tuples.len(), known.len() * width);
        for (tuple, number) in known {
            assert_eq!(&tuples[number as usize * width..][..width], tuple);
        }
    }

    proptest! {
        #[test]
        fn tuples_are_numbered_as_they_come(
            batches in prop::collection::vec(prop::collection::vec((0u64..9, 0u64..9), 0..200), 0..5),
            width in 1usize..6, shift in 0u32..64, is_sorted: bool
        ) {
            let tuple = |&(one, other): &(u64, u64)| {
                let words = [one << shift, other, 7, one ^ other, 7];
                words[..width].to_vec()
            };
            let mut batches: Vec<Vec<Vec<u64>>> = batches.iter().map(|batch| batch.iter().map(tuple).collect()).collect();
            if is_sorted {
                batches.iter_mut().for_each(|batch| batch.sort());
            }
            check(&batches, width);
        }
    }

    #[test]
    fn slots_are_not_crowded() {
        /// How many slots after its first one a tuple is found, on average.
        fn looks(tuples: &[u64]) -> f64 {
            let mut slots = Slots::default();
            slots.rebuild(tuples, 1);
            let taken = slots.numbers.iter().enumerate().filter(|(_, number)| **number != 0);
            let distance = |(slot, &number): (usize, &u32)| {
                slot.wrapping_sub(slots.slot_of(slots.hash(&tuples[number as usize - 1..][..1])))
                    & (slots.numbers.len() - 1)
            };
            taken.map(distance).sum::<usize>() as f64 / tuples.len() as f64
        }
        for count in [1000u64, 30_000, 100_000] {
            for shift in 0..48 {
                let one: Vec<u64> = (0..count).map(|number| number << shift).collect();
                let two: Vec<u64> = (0..count).map(|number| ((number / 100) << shift) | (number % 100)).collect();
                assert!(looks(&one) < 3.0, "{count} {shift}");
                assert!(shift < 7 || looks(&two) < 3.0, "{count} {shift}");
            }
        }
    }

    #[test]
    fn many_tuples_are_numbered() {
        // Each comes twice, and neither their upper nor their lower bits distinguish them.
        for shift in [0, 20, 40] {
            let tuple = |number: u64| vec![(number * 7 % 50_000) << shift];
            let batches: Vec<_> =
                (0..25).map(|batch| (batch * 4000..(batch + 1) * 4000).map(tuple).collect()).collect();
            check(&batches, 1);
        }
    }
}
