//! Sorts the records of a partition by their keys, so that those of a group are adjacent.

use super::layout::RecordLayout;
use crate::keys::encoding::order::Sorting;
use crate::keys::encoding::push_tuple;
use crate::values::error::BatchError;

/// This many records are added up at a time.
const AT_A_TIME: usize = 1 << 11;

/// Memory for the records of a partition while they are sorted, used again for the next.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    records: Vec<u64>,
    tuples: Vec<u64>,
    sorting: Sorting,
    order: Vec<u32>,
    /// The group of each record.
    groups: Vec<u32>,
}

/// Some records.
pub(super) enum Picked<'a> {
    All(&'a [u64]),
    /// Those of these numbers.
    Some(&'a [u64], &'a [u32]),
}

impl Sorted {
    /// Calls `add` with the groups of some records after the other. Groups are numbered in the order of their keys,
    /// which are returned with the groups of `early` tuples, which have no records.
    pub(super) fn group<'r>(
        &mut self,
        layout: &RecordLayout,
        records: impl Iterator<Item = &'r [u64]>,
        early: &[u64],
        add: impl FnMut(&[u32], Picked<'_>) -> Result<(), BatchError>,
    ) -> Result<(Vec<u64>, Vec<u32>), BatchError> {
        self.records.clear();
        records.for_each(|records| self.records.extend_from_slice(records));
        match layout.words() {
            1 => self.group_words(layout, early, add),
            _ => self.group_numbers(layout, early, add),
        }
    }

    /// For records that are words: these are sorted themselves.
    fn group_words(
        &mut self,
        layout: &RecordLayout,
        early: &[u64],
        mut add: impl FnMut(&[u32], Picked<'_>) -> Result<(), BatchError>,
    ) -> Result<(Vec<u64>, Vec<u32>), BatchError> {
        let Self { records, sorting, order, groups, .. } = self;
        sorting.sort(records);
        sorting.order_of(early, 1, order);
        let (mut keys, mut of_early) =
            (AscendingKeys::with_capacity(records.len() + early.len()), vec![0; early.len()]);
        let mut waiting = order.as_slice();
        groups.clear();
        for &record in &*records {
            let key = layout.keys_of(record);
            while let Some((&first, rest)) = waiting.split_first()
                && early[first as usize] < key
            {
                of_early[first as usize] = keys.number(early[first as usize]);
                waiting = rest;
            }
            groups.push(keys.number(key));
        }
        waiting.iter().for_each(|&number| of_early[number as usize] = keys.number(early[number as usize]));
        for (records, groups) in records.chunks(AT_A_TIME).zip(groups.chunks(AT_A_TIME)) {
            add(groups, Picked::All(records))?;
        }
        Ok((keys.into_keys(), of_early))
    }

    /// For records of several words: their numbers are sorted.
    fn group_numbers(
        &mut self,
        layout: &RecordLayout,
        early: &[u64],
        mut add: impl FnMut(&[u32], Picked<'_>) -> Result<(), BatchError>,
    ) -> Result<(Vec<u64>, Vec<u32>), BatchError> {
        let Self { records, tuples, sorting, order, groups } = self;
        tuples.clear();
        layout.keys_of_all(records, tuples);
        // The groups that there were before come after, as if they were records.
        tuples.extend_from_slice(early);
        sorting.order_of(tuples, layout.width, order);
        let keys = number_sorted(tuples, layout.width, order, groups);
        let count = (records.len() / layout.words()) as u32;
        let mut of_early = vec![0; early.len() / layout.width];
        let (mut picked, mut of_picked) = (Vec::new(), Vec::new());
        for (order, groups) in order.chunks(AT_A_TIME).zip(groups.chunks(AT_A_TIME)) {
            picked.clear();
            of_picked.clear();
            for (&number, &group) in order.iter().zip(groups) {
                match number.checked_sub(count) {
                    Some(early) => of_early[early as usize] = group,
                    None => {
                        picked.push(number);
                        of_picked.push(group);
                    }
                }
            }
            add(&of_picked, Picked::Some(records, &picked))?;
        }
        Ok((keys, of_early))
    }
}

/// Keys that are words and come in their order, each once.
struct AscendingKeys {
    keys: Vec<u64>,
    count: usize,
}

impl AscendingKeys {
    /// None yet, of at most this many.
    fn with_capacity(most: usize) -> Self {
        Self { keys: vec![0; most], count: 0 }
    }

    /// The number of a key, which is the last one or larger.
    #[inline(always)]
    fn number(&mut self, key: u64) -> u32 {
        // A branch on the comparison would be mispredicted: the write is unconditional.
        let last = self.count.wrapping_sub(1);
        let is_new = self.keys.get(last).is_none_or(|&last| last != key);
        self.count += usize::from(is_new);
        self.keys[self.count - 1] = key;
        self.count as u32 - 1
    }

    fn into_keys(mut self) -> Vec<u64> {
        self.keys.truncate(self.count);
        self.keys
    }
}

/// The distinct keys of tuples of `width` words in the given order; `groups` becomes the number of each tuple's key.
fn number_sorted(tuples: &[u64], width: usize, order: &[u32], groups: &mut Vec<u32>) -> Vec<u64> {
    let mut keys: Vec<u64> = Vec::with_capacity(tuples.len());
    let mut count = 0u32;
    groups.clear();
    groups.extend(order.iter().map(|&number| {
        let tuple = &tuples[number as usize * width..][..width];
        let before = keys.len().saturating_sub(width);
        // Tuples are too short for comparing memory to be worth a call.
        let is_same = !keys.is_empty() && keys[before..].iter().zip(tuple).all(|(one, other)| one == other);
        if !is_same {
            push_tuple(tuple, &mut keys);
            count += 1;
        }
        count - 1
    }));
    keys
}
