//! All partitions after the scan, in the order of keys, with the groups that workers had before they partitioned rows.
//!
//! The first rows determine where ranges are cut. If a partition has many times the rows of others, as with keys that
//! ascend through a file, it is cut again, by a sample of its own.

use super::layout::RecordLayout;
use super::ranges::Ranges;
use super::reader::Reader;
use super::records::{PARTITIONS, Records};
use super::sorted::{Picked, Sorted};
use super::tables::PartitionTable;
use super::{SAMPLED, ScatterPlan};
use crate::accumulate::accumulators::Accumulators;
use crate::accumulate::partial::Partial;
use crate::keys::encoding::{EncodedKeys, KeyEncoding};
use crate::keys::group_keys::GroupKeys;
use crate::plan::Plan;
use crate::runtime::parallel;
use crate::values::error::EvalError;
use brc_core::Dictionary;
use brc_kernels::partition_buffers::{Chunks, PartitionBuffers};
use std::convert::Infallible;
use std::sync::Arc;

/// Memory is reserved for the keys of up to this many groups of a partition before they come.
const MAX_EXPECTED_GROUPS: usize = 1 << 16;

/// A partition of this many records is never cut.
const MIN_RECORDS_TO_CUT: usize = 1 << 15;

/// A partition of this many times the average is cut.
const MIN_TIMES_AVERAGE_TO_CUT: usize = 4;

/// So often a partition is cut again.
const MAX_CUTS: u32 = 8;

/// The partitions.
#[derive(Debug)]
pub(crate) struct Partitioned {
    encoding: Arc<KeyEncoding>,
    layout: RecordLayout,
    partitions: Vec<Partition>,
    /// The groups that workers had themselves.
    early: Arc<Partial>,
    /// Those of them whose keys cannot be encoded, which are in no partition.
    others: Vec<u32>,
}

#[derive(Debug, Default)]
struct Partition {
    chunks: Vec<Chunks>,
    /// The first words of the smallest tuple after it; `None` for the last.
    end: Option<Vec<u64>>,
    /// The groups that were made of records before.
    table: Option<PartitionTable>,
    /// Groups that were made elsewhere.
    before: Vec<Before>,
}

/// Some groups, which belong to a partition, and their tuples.
#[derive(Debug)]
struct Before {
    groups: Arc<Partial>,
    members: Vec<u32>,
    tuples: Vec<u64>,
}

impl Partitioned {
    /// Of the records of all workers, the groups that were made of others, and those that they had themselves.
    pub(super) fn new(
        scatter_plan: &ScatterPlan,
        early: Partial,
        records: Vec<Records<'_>>,
        tables: impl Iterator<Item = Option<PartitionTable>>,
        threads: usize,
    ) -> Self {
        let ScatterPlan { encoding, layout, ranges } = scatter_plan;
        let words = layout.words();
        let mut partitions: Vec<Partition> = Vec::new();
        partitions.extend((0..ranges.len()).map(|range| Partition { end: ranges.end(range), ..Partition::default() }));
        for worker in records {
            for (chunks, partition) in worker.into_partitions().zip(&mut partitions) {
                partition.chunks.push(chunks);
            }
        }
        partitions.iter_mut().zip(tables).for_each(|(partition, table)| partition.table = table);
        let total: usize = partitions.iter().map(|partition| partition.records(words)).sum();
        let cut = Cut { encoding, layout, average: total / PARTITIONS, threads: threads.max(1) };
        let mut cuts = Vec::new();
        let parts_of = |partition| {
            let parts = cut.cut(partition, 0);
            cuts.push(parts.len());
            parts
        };
        let partitions = partitions.into_iter().flat_map(parts_of).collect();
        let (encoding, layout, others) = (Arc::clone(encoding), layout.clone(), Vec::new());
        let mut partitioned = Self { encoding, layout, partitions, early: Arc::new(early), others };
        partitioned.place_early(ranges, &cuts);
        partitioned
    }

    /// Finds the partitions of the groups that there were before; `cuts` has the number of partitions that each range
    /// became.
    fn place_early(&mut self, ranges: &Ranges, cuts: &[usize]) {
        let Self { encoding, partitions, early, others, .. } = self;
        let (tuples, fits) = early.encode_keys(encoding);
        let mut of_ranges: Vec<&mut [Partition]> = Vec::new();
        let mut rest = partitions.as_mut_slice();
        for &count in cuts {
            let (of_range, behind) = rest.split_at_mut(count);
            of_ranges.push(of_range);
            rest = behind;
        }
        for (group, (tuple, fits)) in tuples.chunks_exact(encoding.width()).zip(fits).enumerate() {
            if !early.has_rows(group) {
                continue;
            }
            if !fits {
                others.push(group as u32);
                continue;
            }
            let of_range = &mut of_ranges[usize::from(ranges.of_tuple(tuple))];
            let is_before = |partition: &Partition| partition.end.as_ref().is_some_and(|end| end.as_slice() <= tuple);
            let place = of_range.partition_point(is_before).min(of_range.len() - 1);
            of_range[place].add_before(early, group, tuple);
        }
    }

    /// All values of a key whose groups have codes of them.
    pub(crate) fn dictionary(&self, key: usize) -> Option<&Dictionary> {
        self.encoding.dictionary(key)
    }

    /// How many partitions there are.
    pub(crate) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// The most groups that a partition may have.
    pub(crate) fn most_groups(&self, number: usize) -> usize {
        let Partition { table, before, .. } = &self.partitions[number];
        let of_table = table.as_ref().map_or(0, PartitionTable::groups);
        let before: usize = before.iter().map(|before| before.members.len()).sum();
        self.partitions[number].records(self.layout.words()) + of_table + before
    }

    /// The groups that are in no partition.
    pub(crate) fn others(&self) -> Option<Partial> {
        let mut others = (!self.others.is_empty()).then(|| self.early.take(&self.others));
        others.iter_mut().for_each(|others| others.prepare(1));
        others
    }

    /// The largest keys of each partition; `None` if it is empty.
    pub(crate) fn last_keys(&self, threads: usize) -> Vec<Option<EncodedKeys>> {
        let (width, words) = (self.layout.width, self.layout.words());
        let last = |number: usize| {
            let Partition { chunks, table, before, .. } = &self.partitions[number];
            let records = chunks.iter().flat_map(Chunks::iter).flat_map(|chunk| chunk.chunks_exact(words));
            let before = before.iter().map(|before| before.tuples.as_slice());
            let tuples = table.iter().map(PartitionTable::tuples).chain(before);
            let tuples = tuples.flat_map(|tuples| tuples.chunks_exact(width));
            let largest = records.map(|record| &record[..width]).chain(tuples).max();
            let keys = |largest: &[u64]| {
                let mut keys = Vec::with_capacity(width);
                self.layout.push_keys(largest, &mut keys);
                EncodedKeys::of(&self.encoding, keys)
            };
            Ok::<_, Infallible>(largest.map(keys))
        };
        let Ok(last) = parallel::map(self.len(), threads, last);
        last
    }

    /// Groups a partition.
    pub(crate) fn group(&self, plan: &Plan, number: usize) -> Result<Partial, EvalError> {
        let Partition { chunks, table, before, .. } = &self.partitions[number];
        let mut reader = Reader::new(&self.layout);
        let expected = || self.most_groups(number).min(MAX_EXPECTED_GROUPS);
        let mut table = table.clone().unwrap_or_else(|| PartitionTable::new(plan, &self.encoding, expected()));
        for chunk in chunks.iter().flat_map(Chunks::iter) {
            table.add(chunk, &mut reader)?;
        }
        let tuples = before.iter().map(|before| before.tuples.as_slice());
        let (mut groups, numbers) = table.finish_with(tuples);
        before.iter().zip(&numbers).for_each(|(before, numbers)| before.add_to(&mut groups, numbers));
        groups.prepare(1);
        Ok(groups)
    }

    /// Groups a partition, in the order of its keys. Its records are sorted, unless others were grouped before: what
    /// belongs together lies together then, and nothing has to be looked for nor moved again. That pays if most groups
    /// have a single record.
    pub(crate) fn group_sorted(&self, plan: &Plan, number: usize, sorted: &mut Sorted) -> Result<Partial, EvalError> {
        let Partition { chunks, table, before, .. } = &self.partitions[number];
        if table.is_some() {
            return self.group(plan, number).map(Partial::in_key_order);
        }
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
        let tuples: Vec<u64> = before.iter().flat_map(|before| &before.tuples).copied().collect();
        let (keys, numbers) = sorted.group(&self.layout, records, &tuples, add)?;
        let mut groups = accumulators.finish(Some(GroupKeys::Encoded(EncodedKeys::of(&self.encoding, keys))), 1);
        let mut numbers = numbers.as_slice();
        for before in before {
            let (of_these, rest) = numbers.split_at(before.members.len());
            before.add_to(&mut groups, of_these);
            numbers = rest;
        }
        groups.prepare(1);
        Ok(groups)
    }
}

impl Before {
    /// Adds them to the groups that have these numbers.
    fn add_to(&self, groups: &mut Partial, numbers: &[u32]) {
        groups.merge_members(&self.groups, &self.members, numbers);
    }
}

impl Partition {
    /// How many records of this many words it has.
    fn records(&self, words: usize) -> usize {
        self.chunks.iter().map(|chunks| chunks.words() / words).sum()
    }

    /// Adds a group that was made elsewhere.
    fn add_before(&mut self, groups: &Arc<Partial>, member: usize, tuple: &[u64]) {
        if self.before.last().is_none_or(|before| !Arc::ptr_eq(&before.groups, groups)) {
            self.before.push(Before { groups: Arc::clone(groups), members: Vec::new(), tuples: Vec::new() });
        }
        self.before.last_mut().into_iter().for_each(|before| {
            before.members.push(member as u32);
            before.tuples.extend_from_slice(tuple);
        });
    }
}

/// Cuts partitions that are too large.
struct Cut<'a> {
    encoding: &'a KeyEncoding,
    layout: &'a RecordLayout,
    /// How many records a partition should have.
    average: usize,
    threads: usize,
}

impl Cut<'_> {
    /// The partitions that one becomes: itself if it is not too large, or all of it is of one key.
    fn cut(&self, partition: Partition, depth: u32) -> Vec<Partition> {
        let words = self.layout.words();
        let records = partition.records(words);
        if records <= MIN_RECORDS_TO_CUT.max(MIN_TIMES_AVERAGE_TO_CUT * self.average) || depth >= MAX_CUTS {
            return vec![partition];
        }
        let (mut sample, width) = (Vec::new(), self.layout.width);
        let all = partition.chunks.iter().flat_map(Chunks::iter).flat_map(|chunk| chunk.chunks_exact(words));
        all.step_by(records.div_ceil(SAMPLED)).for_each(|record| self.layout.push_keys(record, &mut sample));
        let parts = (records / self.average.max(MIN_RECORDS_TO_CUT / MIN_TIMES_AVERAGE_TO_CUT)).clamp(2, PARTITIONS);
        let ranges = Ranges::of(sample.chunks_exact(width).collect(), parts, self.encoding.free_bits());
        if ranges.len() == 1 {
            return vec![partition];
        }
        let end = |range| ranges.end(range).or_else(|| partition.end.clone());
        let mut parts: Vec<Partition> = Vec::new();
        parts.extend((0..ranges.len()).map(|range| Partition { end: end(range), ..Partition::default() }));
        let scatter = |thread: usize| {
            let mut buffers = PartitionBuffers::default();
            for chunk in partition.chunks.iter().flat_map(Chunks::iter).skip(thread).step_by(self.threads) {
                for record in chunk.chunks_exact(words) {
                    buffers.push_long(ranges.of_tuple(&record[..width]), record);
                }
            }
            Ok::<_, Infallible>(buffers)
        };
        let Ok(partitioned) = parallel::map(self.threads, self.threads, scatter);
        for chunks in partitioned {
            for (chunks, part) in chunks.into_each().zip(&mut parts) {
                part.chunks.push(chunks);
            }
        }
        let width = self.layout.width;
        let table = partition.table.map(|table| Arc::new(table.finish()));
        let keys = table.iter().filter_map(|groups| groups.encoded_keys());
        for (groups, keys) in table.iter().zip(keys) {
            for (group, tuple) in keys.tuples().chunks_exact(width).enumerate() {
                parts[usize::from(ranges.of_tuple(tuple))].add_before(groups, group, tuple);
            }
        }
        for Before { groups, members, tuples } in &partition.before {
            for (&member, tuple) in members.iter().zip(tuples.chunks_exact(width)) {
                parts[usize::from(ranges.of_tuple(tuple))].add_before(groups, member as usize, tuple);
            }
        }
        drop(partition.chunks);
        parts.into_iter().flat_map(|part| self.cut(part, depth + 1)).collect()
    }
}
