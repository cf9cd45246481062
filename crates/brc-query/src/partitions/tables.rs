//! Groups of partitions that are made during the scan, so that records need not be kept until its end.
//!
//! Where keys repeat, records take many times the memory of their groups, and the first access to fresh memory costs
//! more than all work on it. So a worker that has [many records](MIN_WORDS_TO_GROUP) groups them, partition by
//! partition, in tables that all workers share, and reuses their memory for the next rows. A table gets many records at
//! once, so that it is loaded into the cache once for all of them. Records whose keys hardly repeat are left until the
//! end, when their partitions are sorted.

use super::ScatterPlan;
use super::reader::Reader;
use super::records::{PARTITIONS, Records};
use crate::accumulate::accumulators::Accumulators;
use crate::accumulate::partial::Partial;
use crate::keys::encoding::{EncodedKeys, KeyEncoding};
use crate::keys::group_keys::GroupKeys;
use crate::plan::Plan;
use crate::values::error::BatchError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Records that have this many words are grouped, unless limits say otherwise: they fit the largest caches.
pub(super) const MIN_WORDS_TO_GROUP: usize = 1 << 21;

/// This many partitions are tried to see whether keys repeat.
const TRIED: usize = 4;

/// About this many words a group takes besides those of its keys.
const OF_GROUP: usize = 4;

/// A partition is large if it has this many times the records of the others. It is grouped only if its keys repeat
/// [`OFTEN`]: all workers would wait for its table, which would not fit the caches.
const MIN_TIMES_OTHERS: usize = 4;

/// Keys repeat often if they occur this many times on average.
const OFTEN: usize = 16;

/// The groups of a partition, as records are added to them.
#[derive(Debug, Clone)]
pub(super) struct PartitionTable {
    keys: EncodedKeys,
    accumulators: Accumulators,
    numbers: Vec<u32>,
}

impl PartitionTable {
    /// No groups yet, of perhaps this many.
    pub(super) fn new(plan: &Plan, encoding: &Arc<KeyEncoding>, expected: usize) -> Self {
        let keys = EncodedKeys::new(Arc::clone(encoding), expected);
        Self { keys, accumulators: Accumulators::new(plan), numbers: Vec::new() }
    }

    pub(super) fn groups(&self) -> usize {
        self.keys.len()
    }

    /// The encoded keys of all groups.
    pub(super) fn tuples(&self) -> &[u64] {
        self.keys.tuples()
    }

    /// Adds some records.
    pub(super) fn add(&mut self, records: &[u64], reader: &mut Reader<'_>) -> Result<(), BatchError> {
        reader.take(records);
        self.keys.number(&reader.tuples, &mut self.numbers);
        reader.add_to(&mut self.accumulators, &self.numbers, self.keys.len())
    }

    /// Its groups, to which those of these tuples belong too: the numbers that they have are returned.
    pub(super) fn finish_with<'t>(mut self, tuples: impl Iterator<Item = &'t [u64]>) -> (Partial, Vec<Vec<u32>>) {
        let number = |tuples: &[u64]| {
            let mut numbers = Vec::new();
            self.keys.number(tuples, &mut numbers);
            numbers
        };
        let numbers = tuples.map(number).collect();
        (self.finish(), numbers)
    }

    /// Its groups.
    pub(super) fn finish(self) -> Partial {
        self.accumulators.finish(Some(GroupKeys::Encoded(self.keys)), 1)
    }
}

/// The tables of all partitions.
#[derive(Debug)]
pub(super) struct Tables {
    /// `None` for those that have no groups.
    of_partitions: Vec<Mutex<Option<PartitionTable>>>,
    /// Whether keys repeat, as far as is known.
    repeat: AtomicBool,
    /// How many groups they have together.
    groups: AtomicUsize,
    /// How often records were grouped.
    turns: AtomicUsize,
}

/// The distance between the first partitions of successive turns: a worker begins far from where others are by then.
const APART: usize = PARTITIONS * 5 / 8;

impl Tables {
    /// Without groups.
    pub(super) fn new() -> Self {
        let of_partitions = (0..PARTITIONS).map(|_| Mutex::default()).collect();
        Self { of_partitions, repeat: AtomicBool::new(false), groups: AtomicUsize::new(0), turns: AtomicUsize::new(0) }
    }

    /// Groups a worker's records if their keys repeat. Returns the number of words of records at which to call it
    /// again.
    pub(super) fn take(
        &self,
        plan: &Plan,
        scatter_plan: &ScatterPlan,
        records: &mut Records<'_>,
        fewest: usize,
    ) -> Result<usize, BatchError> {
        if !self.repeat.load(Relaxed) {
            if !keys_repeat(scatter_plan, records) {
                return Ok(records.words().saturating_mul(2).max(fewest));
            }
            self.repeat.store(true, Relaxed);
        }
        let average = records.words() / PARTITIONS;
        let first = self.turns.fetch_add(1, Relaxed).wrapping_mul(APART) % PARTITIONS;
        let mut reader = Reader::new(&scatter_plan.layout);
        for partition in (0..PARTITIONS).map(|number| (first + number) % PARTITIONS) {
            self.take_partition(plan, scatter_plan, (records, partition), average * MIN_TIMES_OTHERS, &mut reader)?;
        }
        // The more groups there are, the more records should come to them at once.
        let of_groups = self.groups.load(Relaxed) * (scatter_plan.layout.width + OF_GROUP);
        Ok(records.words() + of_groups.max(fewest))
    }

    /// Groups the records of a partition, or leaves them, as they are many more than `most` words or the table is in
    /// use.
    fn take_partition(
        &self,
        plan: &Plan,
        scatter_plan: &ScatterPlan,
        (records, partition): (&mut Records<'_>, usize),
        most: usize,
        reader: &mut Reader<'_>,
    ) -> Result<(), BatchError> {
        let Some(mut table) = self.of_partitions[partition].try_lock() else { return Ok(()) };
        if records.are_none_of(partition) {
            return Ok(());
        }
        let table = table.get_or_insert_with(|| PartitionTable::new(plan, &scatter_plan.encoding, 0));
        let before = table.groups();
        let (mut words, mut repeats) = (0, true);
        records.drain(partition, |chunk| {
            repeats = words <= most || (table.groups() - before) * scatter_plan.layout.words() * OFTEN <= words;
            if repeats {
                words += chunk.len();
                table.add(chunk, reader)?;
            }
            Ok::<_, BatchError>(repeats)
        })?;
        self.groups.fetch_add(table.groups() - before, Relaxed);
        Ok(())
    }

    /// The groups of each partition; none are left.
    pub(super) fn take_all(&self) -> impl Iterator<Item = Option<PartitionTable>> {
        self.of_partitions.iter().map(|table| table.lock().take())
    }
}

/// Whether the keys of some partitions repeat so often that groups take less than half the memory of their records.
fn keys_repeat(scatter_plan: &ScatterPlan, records: &mut Records<'_>) -> bool {
    let (mut tuples, mut numbers) = (Vec::new(), Vec::new());
    let (mut groups, mut all) = (0, 0);
    let partitions: Vec<usize> = (0..PARTITIONS).filter(|&partition| !records.are_none_of(partition)).collect();
    for &partition in partitions.iter().step_by(partitions.len().div_ceil(TRIED).max(1)) {
        let mut keys = EncodedKeys::new(Arc::clone(&scatter_plan.encoding), 0);
        for chunk in records.of_partition(partition) {
            tuples.clear();
            scatter_plan.layout.keys_of_all(chunk, &mut tuples);
            keys.number(&tuples, &mut numbers);
            all += numbers.len();
        }
        groups += keys.len();
    }
    groups * (scatter_plan.layout.width + OF_GROUP) * 2 <= all * scatter_plan.layout.words()
}
