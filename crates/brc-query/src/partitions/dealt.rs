//! All that was dealt out, once the scan has ended, with the groups that workers had before: partition after partition, in the
//! order of keys.
//!
//! The first rows said where to cut. Where that was wrong, as with keys that ascend through a file, a partition has many times
//! the rows of others; it is cut again, by a sample of its own.

use super::chunks::{Chunks, Piles};
use super::layout::Layout;
use super::packing::{PackedKeys, Packing};
use super::ranges::Ranges;
use super::reader::Reader;
use super::records::{PARTITIONS, Records};
use super::sorted::{Picked, Sorted};
use super::{Dealing, SAMPLED};
use crate::accumulators::Accumulators;
use crate::parallel;
use crate::partial::{GroupKeys, Partial};
use crate::plan::Plan;
use crate::vector::Fault;
use brc_core::Dictionary;
use std::convert::Infallible;
use std::sync::Arc;

/// Memory is reserved for the keys of up to so many groups of a partition before they come.
const MOST_EXPECTED: usize = 1 << 16;

/// A partition of so many records is never cut.
const SMALL: usize = 1 << 15;

/// One of so many times the average is.
const LARGE: usize = 4;

/// So often a partition is cut again.
const MOST_CUTS: u32 = 8;

/// The partitions.
#[derive(Debug)]
pub(crate) struct Dealt {
    packing: Arc<Packing>,
    layout: Layout,
    partitions: Vec<Partition>,
    /// The groups that workers had themselves.
    early: Partial,
    /// Those of them whose keys cannot be packed, which are in no partition.
    others: Vec<u32>,
}

#[derive(Debug, Default)]
struct Partition {
    chunks: Vec<Chunks>,
    /// The first words of the smallest tuple behind it; `None` for the last.
    end: Option<Vec<u64>>,
    /// Which of the groups that there were before belong to it, and their tuples.
    members: Vec<u32>,
    tuples: Vec<u64>,
}

impl Dealt {
    /// Of the records of all workers and the groups that they had themselves.
    pub(crate) fn new(dealing: &Dealing, early: Partial, records: Vec<Records<'_>>, threads: usize) -> Self {
        let Dealing { packing, layout, ranges } = dealing;
        let words = layout.words();
        let mut partitions: Vec<Partition> = Vec::new();
        partitions.extend((0..ranges.len()).map(|range| Partition { end: ranges.end(range), ..Partition::default() }));
        for worker in records {
            for (chunks, partition) in worker.into_partitions().zip(&mut partitions) {
                partition.chunks.push(chunks);
            }
        }
        let total: usize = partitions.iter().map(|partition| partition.records(words)).sum();
        let cut = Cut { packing, layout, average: total / PARTITIONS, threads: threads.max(1) };
        let mut cuts = Vec::new();
        let parts_of = |partition| {
            let parts = cut.cut(partition, 0);
            cuts.push(parts.len());
            parts
        };
        let partitions = partitions.into_iter().flat_map(parts_of).collect();
        let (packing, layout, others) = (Arc::clone(packing), layout.clone(), Vec::new());
        let mut dealt = Self { packing, layout, partitions, early, others };
        dealt.place_early(ranges, &cuts);
        dealt
    }

    /// Finds the partitions of the groups that there were before; `cuts` tells how many partitions each range became.
    fn place_early(&mut self, ranges: &Ranges, cuts: &[usize]) {
        let Self { packing, partitions, early, others, .. } = self;
        let (tuples, fits) = packing.pack(early);
        let mut of_ranges: Vec<&mut [Partition]> = Vec::new();
        let mut rest = partitions.as_mut_slice();
        for &count in cuts {
            let (of_range, behind) = rest.split_at_mut(count);
            of_ranges.push(of_range);
            rest = behind;
        }
        for (group, (tuple, fits)) in tuples.chunks_exact(packing.width()).zip(fits).enumerate() {
            if !early.has_rows(group) {
                continue;
            }
            if !fits {
                others.push(group as u32);
                continue;
            }
            let of_range = &mut of_ranges[ranges.of_tuple(tuple)];
            let is_before = |partition: &Partition| partition.end.as_ref().is_some_and(|end| end.as_slice() <= tuple);
            let place = of_range.partition_point(is_before).min(of_range.len() - 1);
            of_range[place].members.push(group as u32);
            of_range[place].tuples.extend_from_slice(tuple);
        }
    }

    /// All values of a key whose groups have codes of them.
    pub(crate) fn dictionary(&self, key: usize) -> Option<&Dictionary> {
        self.packing.dictionary(key)
    }

    /// How many partitions there are.
    pub(crate) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// The most groups that a partition may have.
    pub(crate) fn most_groups(&self, number: usize) -> usize {
        let partition = &self.partitions[number];
        partition.records(self.layout.words()) + partition.members.len()
    }

    /// The groups that are in no partition.
    pub(crate) fn others(&self) -> Option<Partial> {
        let mut others = (!self.others.is_empty()).then(|| self.early.take(&self.others));
        others.iter_mut().for_each(|others| others.settle(1));
        others
    }

    /// The largest keys of each partition; `None` if it is empty.
    pub(crate) fn last_keys(&self, threads: usize) -> Vec<Option<PackedKeys>> {
        let (width, words) = (self.layout.width, self.layout.words());
        let last = |number: usize| {
            let Partition { chunks, tuples, .. } = &self.partitions[number];
            let records = chunks.iter().flat_map(Chunks::iter).flat_map(|chunk| chunk.chunks_exact(words));
            let largest = records.map(|record| &record[..width]).chain(tuples.chunks_exact(width)).max();
            let keys = |largest: &[u64]| {
                let mut keys = Vec::with_capacity(width);
                self.layout.push_keys(largest, &mut keys);
                PackedKeys::of(&self.packing, keys)
            };
            Ok::<_, Infallible>(largest.map(keys))
        };
        let Ok(last) = parallel::map(self.len(), threads, last);
        last
    }

    /// Groups a partition.
    pub(crate) fn group(&self, plan: &Plan, number: usize) -> Result<Partial, Fault> {
        let Partition { chunks, members, tuples, .. } = &self.partitions[number];
        let mut reader = Reader::new(&self.layout);
        let mut keys = PackedKeys::new(Arc::clone(&self.packing), self.most_groups(number).min(MOST_EXPECTED));
        let mut accumulators = Accumulators::new(plan);
        let mut numbers = Vec::new();
        for chunk in chunks.iter().flat_map(Chunks::iter) {
            reader.take(chunk);
            keys.number(&reader.tuples, &mut numbers);
            reader.add_to(&mut accumulators, &numbers, keys.len())?;
        }
        keys.number(tuples, &mut numbers);
        keys.settle();
        Ok(self.finish(accumulators, keys, members, &numbers))
    }

    /// Groups the records of a partition one after the other in the order of their keys: what belongs together lies together
    /// then, and nothing has to be looked for nor moved again. That pays if most groups have a single record.
    pub(crate) fn group_sorted(&self, plan: &Plan, number: usize, sorted: &mut Sorted) -> Result<Partial, Fault> {
        let Partition { chunks, members, tuples: early, .. } = &self.partitions[number];
        let mut reader = Reader::new(&self.layout);
        let mut accumulators = Accumulators::of_few_rows(plan);
        let add = |groups: &[u32], records: Picked<'_>| {
            match records {
                Picked::All(records) => reader.take_values(records),
                Picked::Some(records, numbers) => reader.pick(records, numbers),
            }
            reader.add_to(&mut accumulators, groups, groups.last().map_or(0, |&last| last as usize + 1))
        };
        let records = chunks.iter().flat_map(Chunks::iter);
        let (keys, of_early) = sorted.group(&self.layout, records, early, add)?;
        Ok(self.finish(accumulators, PackedKeys::of(&self.packing, keys), members, &of_early))
    }

    /// The groups of a partition, with those that there were before: these have the numbers `of_early` among all of them.
    fn finish(&self, accumulators: Accumulators, keys: PackedKeys, members: &[u32], of_early: &[u32]) -> Partial {
        let mut partial = accumulators.finish(Some(GroupKeys::Packed(keys)), 1);
        partial.absorb(&self.early, members, of_early);
        partial.settle(1);
        partial
    }
}

impl Partition {
    /// How many records of so many words it has.
    fn records(&self, words: usize) -> usize {
        self.chunks.iter().map(|chunks| chunks.words() / words).sum()
    }
}

/// Cuts partitions that are too large.
struct Cut<'a> {
    packing: &'a Packing,
    layout: &'a Layout,
    /// How many records a partition should have.
    average: usize,
    threads: usize,
}

impl Cut<'_> {
    /// The partitions that one becomes: itself if it is not too large, or all of it is of one key.
    fn cut(&self, partition: Partition, depth: u32) -> Vec<Partition> {
        let words = self.layout.words();
        let records = partition.records(words);
        if records <= SMALL.max(LARGE * self.average) || depth >= MOST_CUTS {
            return vec![partition];
        }
        let (mut sample, width) = (Vec::new(), self.layout.width);
        let all = partition.chunks.iter().flat_map(Chunks::iter).flat_map(|chunk| chunk.chunks_exact(words));
        all.step_by(records.div_ceil(SAMPLED)).for_each(|record| self.layout.push_keys(record, &mut sample));
        let parts = (records / self.average.max(SMALL / LARGE)).clamp(2, PARTITIONS);
        let ranges = Ranges::of(sample.chunks_exact(width).collect(), parts, self.packing.free_bits());
        if ranges.len() == 1 {
            return vec![partition];
        }
        let end = |range| ranges.end(range).or_else(|| partition.end.clone());
        let mut parts: Vec<Partition> = Vec::new();
        parts.extend((0..ranges.len()).map(|range| Partition { end: end(range), ..Partition::default() }));
        let deal = |thread: usize| {
            let mut piles = Piles::new(ranges.len());
            for chunk in partition.chunks.iter().flat_map(Chunks::iter).skip(thread).step_by(self.threads) {
                for record in chunk.chunks_exact(words) {
                    let range = ranges.of_tuple(&record[..width]);
                    piles.room(range, words).copy_from_slice(record);
                }
            }
            Ok::<_, Infallible>(piles)
        };
        let Ok(dealt) = parallel::map(self.threads, self.threads, deal);
        for chunks in dealt {
            for (chunks, part) in chunks.into_partitions().zip(&mut parts) {
                part.chunks.push(chunks);
            }
        }
        drop(partition);
        parts.into_iter().flat_map(|part| self.cut(part, depth + 1)).collect()
    }
}
