//! Numbers distinct things from 0, in the order of their first appearance. The things themselves lie outside, one after
//! the other, so that nothing is kept twice.

use brc_core::Dictionary;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::cmp::Ordering;
use std::hash::{BuildHasher, Hasher};

/// Finds the number of a tuple of 64-bit words.
///
/// As long as no tuple is below one before it, as with the keys that a file is sorted by, the last one is all that needs to be
/// known: nothing is hashed before the first that is.
#[derive(Debug, Clone, Default)]
pub(crate) struct TupleIndex {
    table: HashTable<u32>,
    hasher: RandomState,
    /// All tuples so far ascend, and the table has none of them.
    ascends: bool,
    /// How many the table will have room for.
    expected: usize,
}

impl TupleIndex {
    /// Knows no tuple, and will have room for so many.
    pub(crate) fn with_capacity(tuples: usize) -> Self {
        Self { ascends: true, expected: tuples, ..Self::default() }
    }

    /// Knows the tuples of that width that are there, each once.
    pub(crate) fn of(tuples: &[u64], width: usize) -> Self {
        let mut index = Self { ascends: tuples.is_empty(), ..Self::default() };
        if !index.ascends {
            index.insert_all(tuples, width);
        }
        index
    }

    /// Knows tuples of that width from now on, each once, of which it knew none.
    fn insert_all(&mut self, tuples: &[u64], width: usize) {
        let Self { table, hasher, .. } = self;
        let hash = |number: u32| hash(hasher, &tuples[number as usize * width..(number as usize + 1) * width]);
        let count = (tuples.len() / width) as u32;
        table.reserve(self.expected.max(count as usize), |&number| hash(number));
        for number in 0..count {
            table.insert_unique(hash(number), number, |&number| hash(number));
        }
    }

    /// Replaces `numbers` by those of tuples of so many words that lie one after the other, among `tuples`, to which those that are
    /// new are appended.
    ///
    /// # Panics
    /// If there are 2³² tuples already.
    pub(crate) fn number_all(&mut self, wanted: &[u64], width: usize, tuples: &mut Vec<u64>, numbers: &mut Vec<u32>) {
        numbers.clear();
        // Nearly all keys together are of few words: loops over so many are no loops.
        match width {
            1 => self.number_arrays::<1>(wanted, tuples, numbers),
            2 => self.number_arrays::<2>(wanted, tuples, numbers),
            3 => self.number_arrays::<3>(wanted, tuples, numbers),
            _ => {
                if std::mem::take(&mut self.ascends) {
                    self.insert_all(tuples, width);
                }
                self.number_each(wanted.chunks_exact(width), |number| number as usize * width, tuples, numbers);
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
            self.insert_all(tuples, WIDTH);
        }
        self.number_each(
            wanted.iter().map(<[u64; WIDTH]>::as_slice),
            |number| number as usize * WIDTH,
            tuples,
            numbers,
        );
    }

    /// The same, where the tuple of a number begins at that `place`.
    #[inline(always)]
    fn number_each<'a>(
        &mut self,
        wanted: impl Iterator<Item = &'a [u64]>,
        place: impl Fn(u32) -> usize,
        tuples: &mut Vec<u64>,
        numbers: &mut Vec<u32>,
    ) {
        let Self { table, hasher, .. } = self;
        let mut last: Option<(&[u64], u32)> = None;
        for tuple in wanted {
            // Rows that belong together often lie together.
            if let Some((before, number)) = last
                && equal(before, tuple)
            {
                numbers.push(number);
                continue;
            }
            let known = |number: u32| &tuples[place(number)..place(number) + tuple.len()];
            let entry = table.entry(
                hash(hasher, tuple),
                |&number| equal(known(number), tuple),
                |&number| hash(hasher, known(number)),
            );
            let number = match entry {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    let number = u32::try_from(tuples.len() / tuple.len())
                        .unwrap_or_else(|_| unreachable!("fewer than 2^32 distinct tuples"));
                    entry.insert(number);
                    tuples.extend_from_slice(tuple);
                    number
                }
            };
            last = Some((tuple, number));
            numbers.push(number);
        }
    }
}

/// Appends the numbers of tuples among ascending ones, to which new ones are appended, up to the first that is below the last.
/// Returns how many those are.
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

/// Word by word: a slice's own hash goes through bytes, which is slower.
#[inline(always)]
fn hash(hasher: &RandomState, tuple: &[u64]) -> u64 {
    let mut state = hasher.build_hasher();
    tuple.iter().for_each(|&word| state.write_u64(word));
    state.finish()
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
