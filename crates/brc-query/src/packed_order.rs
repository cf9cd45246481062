//! Groups in the order of their keys, where those are packed, a block after the other.
//!
//! Each partition's groups are sorted by themselves. Then a block is what all partitions have in a range of keys, which stays in
//! the cache while it is sorted, and while what it has is looked up: nothing is ever sorted as a whole. The few groups whose
//! keys could not be packed are put where they belong.

use crate::grouped::{BLOCK, Block, Place};
use crate::parallel;
use crate::partial::Partial;
use crate::partitions::packing::{PackedKeys, order_of};
use std::borrow::Cow;
use std::cmp::Ordering;

/// So many tuples of a block are looked at to find where ranges begin.
const SAMPLED: usize = 64;

/// The groups of some partials, and where their ranges begin.
#[derive(Debug)]
pub(crate) struct PackedOrder {
    parts: Vec<Part>,
    /// The groups of other partials, in order, and where among them those of each range begin.
    others: Vec<Place>,
    starts: Vec<usize>,
}

/// The groups of a partial whose keys are packed.
#[derive(Debug)]
struct Part {
    partial: u32,
    /// In the order of their tuples.
    groups: Vec<u32>,
    /// Where among them those of each range begin, and where those of the last end.
    starts: Vec<usize>,
}

/// The first words of a group's tuple, and the place of the group in its block.
type Entry = (u64, u64, u32);

/// A group with its tuple; `None` behind all of them.
type First<'a> = Option<(&'a [u64], Place)>;

impl PackedOrder {
    /// Sorts these groups of each partial.
    pub(crate) fn new(partials: &[Partial], wanted: Vec<Vec<u32>>, threads: usize) -> Self {
        let blocks = wanted.iter().map(Vec::len).sum::<usize>().div_ceil(BLOCK);
        let (mut parts, mut others) = (Vec::new(), Vec::new());
        for ((partial, number), groups) in partials.iter().zip(0..).zip(wanted) {
            match partial.packed_keys() {
                Some(_) => parts.push(Part { partial: number, groups, starts: Vec::new() }),
                None => others.extend(groups.into_iter().map(|group| Place { partial: number, group })),
            }
        }
        others.sort_unstable_by(|&one, &other| compare(partials, one, other));
        let keys = |part: &Part| keys_of(partials, part.partial);
        parallel::for_each(&mut parts, threads, |part| keys(part).into_iter().for_each(|keys| part.sort(keys)));
        let first = firsts(partials, &parts, blocks);
        parallel::for_each(&mut parts, threads, |part| {
            keys(part).into_iter().for_each(|keys| part.find_ranges(keys, &first));
        });
        let is_before = |other: &Place, first: &First<'_>| {
            first.is_none_or(|(_, first)| compare(partials, *other, first) == Ordering::Less)
        };
        let start = |first: &First<'_>| others.partition_point(|other| is_before(other, first));
        let starts = std::iter::once(0).chain(first.iter().map(start)).chain([others.len()]).collect();
        Self { parts, starts, others }
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many groups a block has.
    pub(crate) fn rows(&self, number: usize) -> usize {
        let of = |starts: &[usize]| starts[number + 1] - starts[number];
        self.parts.iter().map(|part| of(&part.starts)).sum::<usize>() + of(&self.starts)
    }

    /// The groups of a block of these partials, in the order in which they lie in memory.
    pub(crate) fn block(&self, partials: &[Partial], number: usize) -> Block<'_> {
        let width = partials.iter().find_map(Partial::packed_keys).map_or(0, PackedKeys::width);
        let (mut places, mut words, mut entries) = (Vec::with_capacity(BLOCK * 2), Vec::new(), Vec::new());
        for &Part { partial, ref groups, ref starts } in &self.parts {
            let Some(keys) = keys_of(partials, partial) else { continue };
            for &group in &groups[starts[number]..starts[number + 1]] {
                match *keys.tuple(group as usize) {
                    [one] => words.push(one),
                    [one, two, ..] => entries.push((one, two, places.len() as u32)),
                    [] => {}
                }
                places.push(Place { partial, group });
            }
        }
        let order = match width {
            0 | 1 => order_of(&words),
            _ => order(partials, entries, width, &places),
        };
        let others = &self.others[self.starts[number]..self.starts[number + 1]];
        let order = with_others(partials, &order, &places, others);
        places.extend_from_slice(others);
        Block { places: Cow::Owned(places), order: Some(order) }
    }
}

/// The order of entries with tuples of so many words.
fn order(partials: &[Partial], mut entries: Vec<Entry>, width: usize, places: &[Place]) -> Vec<u32> {
    match width {
        // No two tuples are the same.
        0..=2 => entries.sort_unstable(),
        _ => entries.sort_unstable_by(|one, other| {
            let compare = || compare(partials, places[one.2 as usize], places[other.2 as usize]);
            (one.0, one.1).cmp(&(other.0, other.1)).then_with(compare)
        }),
    }
    entries.into_iter().map(|entry| entry.2).collect()
}

/// The order of a block's groups, of which this is the order, with others, which lie behind them.
fn with_others(partials: &[Partial], order: &[u32], places: &[Place], others: &[Place]) -> Vec<u32> {
    let mut all = Vec::with_capacity(order.len() + others.len());
    let mut rest = order;
    for (&other, number) in others.iter().zip(places.len() as u32..) {
        let is_before = |&row: &u32| compare(partials, places[row as usize], other) == Ordering::Less;
        let (before, behind) = rest.split_at(rest.partition_point(is_before));
        all.extend_from_slice(before);
        all.push(number);
        rest = behind;
    }
    all.extend_from_slice(rest);
    all
}

/// The keys of a partial, if they are packed.
fn keys_of(partials: &[Partial], partial: u32) -> Option<&PackedKeys> {
    partials.get(partial as usize)?.packed_keys()
}

/// How two groups are ordered by their keys.
fn compare(partials: &[Partial], one: Place, other: Place) -> Ordering {
    let partial = |place: Place| &partials[place.partial as usize];
    partial(one).compare_keys(one.group as usize, partial(other), other.group as usize)
}

/// The first group of each block but the first, by which all are about equally large; `None` where there are none.
fn firsts<'a>(partials: &'a [Partial], parts: &[Part], blocks: usize) -> Vec<First<'a>> {
    let step = BLOCK / SAMPLED;
    let mut sample: Vec<(&[u64], Place)> = Vec::new();
    for &Part { partial, ref groups, .. } in parts {
        let Some(keys) = keys_of(partials, partial) else { continue };
        let groups = groups.iter().copied().skip(step / 2).step_by(step);
        sample.extend(groups.map(|group| (keys.tuple(group as usize), Place { partial, group })));
    }
    sample.sort_unstable_by_key(|(tuple, _)| *tuple);
    (1..blocks).map(|block| sample.get(block * sample.len() / blocks).copied()).collect()
}

impl Part {
    fn sort(&mut self, keys: &PackedKeys) {
        let tuple = |group: &u32| keys.tuple(*group as usize);
        if !self.groups.is_sorted_by(|one, other| tuple(one) <= tuple(other)) {
            self.groups.sort_unstable_by(|one, other| tuple(one).cmp(tuple(other)));
        }
    }

    /// Finds where ranges begin of which these are the first groups.
    fn find_ranges(&mut self, keys: &PackedKeys, first: &[First<'_>]) {
        self.starts = vec![0];
        let mut start = 0;
        for first in first {
            let rest = &self.groups[start..];
            start += match first {
                Some((tuple, _)) => {
                    let is_before = |&group: &u32| keys.tuple(group as usize) < *tuple;
                    // Most ranges are short.
                    let mut reach = 64;
                    while rest.get(reach).is_some_and(is_before) {
                        reach *= 2;
                    }
                    rest[..reach.min(rest.len())].partition_point(is_before)
                }
                None => rest.len(),
            };
            self.starts.push(start);
        }
        self.starts.push(self.groups.len());
    }
}
