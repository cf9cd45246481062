//! A hash table that is larger than the caches costs a cache miss or more for every row. With millions of groups it is
//! cheaper to scatter rows to partitions first and to group each partition by itself, in a small table.
//!
//! A row costs a copy of its encoded keys and of what is aggregated, in sequence, to the end of its partition (a
//! record). Partitions are ranges of keys: no group lies in two, and one partition is wholly before the next. So
//! nothing is left to merge, and an answer in the order of its keys is one partition after the other.
//!
//! In: batches, once a worker has more groups than its `Limits`. Out: `Partitioned` records and groups, which any
//! thread makes `Partial`s of. Groups that workers have by then, and groups whose keys cannot be encoded, are merged
//! in a hash table.
//!
//! - Where keys repeat, records take more memory than their groups. Workers that have many records group them in
//!   between, and write the next rows to the same memory.
//! - Where a table is sorted or clustered by a key, its splits are partitions already: nothing is scattered, and only
//!   groups of keys that several splits have are merged.
//! - Where memory is short, records and groups go to a file, part by part, and come back one part at a time.
//!
//! Where to look:
//!
//! - what all workers agree on (`Partitioning`, `Limits`), one worker's part (`Partitioner`): `mod.rs`
//! - where ranges are cut: `ranges.rs`
//! - records: what they have, how they are written and read: `layout.rs`, `records.rs`, `reader.rs`
//! - groups of partitions, during a scan and after it: `tables.rs`, `partitioned.rs`, `sorted.rs`, `merge.rs`
//! - splits that have keys of their own: `disjoint_splits.rs`, `disjoint_groups.rs`
//! - spilling: the file, its parts, and their merge: `spill.rs`, `parts.rs`, `spilled_merge.rs`

mod disjoint_groups;
mod disjoint_splits;
mod layout;
mod merge;
mod partitioned;
mod parts;
mod ranges;
mod reader;
mod records;
mod sorted;
pub(crate) mod spill;
mod spilled_merge;
mod tables;

pub(crate) use disjoint_groups::{DisjointGroups, SplitGroups};
pub(crate) use merge::{in_order, merge_partitions};
pub(crate) use partitioned::Partitioned;
pub(crate) use parts::Parts;
pub(crate) use sorted::Sorted;
pub(crate) use spilled_merge::merge_spilled;

use crate::accumulate::partial::Partial;
use crate::keys::Keys;
use crate::keys::direct::Expected;
use crate::keys::encoding::{KeyEncoder, KeyEncoding};
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use crate::states::StateKind;
use crate::values::error::BatchError;
use crate::values::error::EvalError;
use crate::values::selection::Selection;
use brc_core::{Batch, Error, LogicalType, PhysicalType, Result, Table};
use disjoint_splits::DisjointSplits;
pub(crate) use disjoint_splits::bounds_of;
use layout::{Aggregated, RecordLayout};
use ranges::Ranges;
use records::PARTITIONS;
pub(crate) use records::Records;
use spill::Spill;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use tables::Tables;

/// How much a worker may keep by itself before its rows are partitioned, or before a scan ends for a rewrite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Groups found by hash: the full number if keys repeat, a quarter if most rows have a group of their own, and an
    /// eighth if nearly all have.
    pub(crate) hashed: usize,
    /// Groups found without a hash table.
    pub(crate) direct: usize,
    /// Words of records: a worker that has more groups them, if their keys repeat.
    pub(crate) records: usize,
    /// Groups of a partition that are made at once where memory is short.
    pub(crate) partition: usize,
    /// Distinct values that are counted directly, in all groups together. Counting ends only if both this limit and the
    /// next are exceeded.
    pub(crate) distinct: usize,
    /// Distinct values that are counted directly, per group on average.
    pub(crate) distinct_of_group: usize,
    /// The expected number of groups from which splits that have keys of their own are used as partitions.
    pub(crate) of_splits: u64,
}

impl Limits {
    /// No rows are partitioned.
    pub(crate) const NONE: Self = Self {
        hashed: usize::MAX,
        direct: usize::MAX,
        records: usize::MAX,
        partition: usize::MAX,
        distinct: usize::MAX,
        distinct_of_group: 0,
        of_splits: u64::MAX,
    };
}

impl Limits {
    /// Whether this number of distinct values of this number of groups is over both limits.
    pub(crate) fn are_too_many_values(&self, values: usize, groups: usize) -> bool {
        values > self.distinct && values > self.distinct_of_group * groups
    }

    /// Whether a scan may end because values to be counted are too many.
    pub(crate) fn may_count_by_groups(&self) -> bool {
        self.distinct < usize::MAX
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hashed: 1 << 16,
            direct: usize::MAX,
            records: tables::MIN_WORDS_TO_GROUP,
            partition: usize::MAX,
            distinct: 1 << 17,
            distinct_of_group: 16,
            of_splits: 1 << 17,
        }
    }
}

/// About this many groups are sampled to cut ranges.
const SAMPLED: usize = 1 << 13;

/// How rows are partitioned.
#[derive(Debug)]
pub(crate) struct ScatterPlan {
    encoding: Arc<KeyEncoding>,
    layout: RecordLayout,
    ranges: Ranges,
}

/// What all workers of a scan agree on.
#[derive(Debug)]
pub(crate) struct Partitioning {
    aggregated: Option<Aggregated>,
    key_types: Vec<(LogicalType, bool)>,
    /// Between which integers the values of each key lie, where that is known.
    bounds: Vec<Option<(i64, i64)>>,
    /// Which keys are known not to be null.
    never_null: Vec<bool>,
    /// How many rows the table has, as far as that is known.
    rows: u64,
    /// Which keys only one split has, if it is most of them.
    disjoint_splits: Option<DisjointSplits>,
    pub(crate) limits: Limits,
    /// Set by the first worker with many groups; `None` if their keys cannot be encoded.
    scatter_plan: OnceLock<Option<ScatterPlan>>,
    tables: Tables,
    /// Set by the first worker that finds memory short.
    is_short: AtomicBool,
    /// Set by the first worker that has too many distinct values to count.
    is_given_up: AtomicBool,
    pub(crate) memory: Memory,
    pub(crate) spill: Spill,
    pub(crate) threads: usize,
}

impl Partitioning {
    /// For a plan's groups, if its rows can be partitioned.
    pub(crate) fn new(plan: &Plan, limits: Limits, memory: &Memory, threads: usize) -> Self {
        Self {
            aggregated: if plan.keys.is_empty() { None } else { Aggregated::of(plan) },
            key_types: plan.key_types(),
            bounds: vec![None; plan.keys.len()],
            never_null: vec![false; plan.keys.len()],
            rows: 0,
            disjoint_splits: None,
            limits,
            scatter_plan: OnceLock::new(),
            tables: Tables::new(),
            is_short: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
            memory: memory.clone(),
            spill: Spill::new(memory),
            threads,
        }
    }

    /// The same with the statistics of a table, by which splits may serve as partitions.
    pub(crate) fn with_splits_of(self, table: &dyn Table, plan: &Plan) -> Self {
        let of_table = plan.schema.fields().len();
        let bounds_of = |column: usize| if column < of_table { bounds_of(table, column) } else { None };
        let bounds = plan.keys.iter().map(|&key| bounds_of(key)).collect();
        let has_nulls = |key: usize| table.statistics_by_split(key).any(|known| known.nulls);
        let never_null = plan.keys.iter().map(|&key| key < of_table && !has_nulls(key)).collect();
        let aggregated = self.aggregated.map(|aggregated| aggregated.with_bounds(bounds_of));
        let disjoint_splits = DisjointSplits::of(plan, table, &self.memory, self.limits.of_splits);
        Self { bounds, never_null, rows: table.rows().unwrap_or(0), aggregated, disjoint_splits, ..self }
    }

    /// Notes that there are too many distinct values to count. Returns the error that ends the scan.
    pub(crate) fn give_up(&self) -> Error {
        self.is_given_up.store(true, Relaxed);
        Error::Stopped
    }

    /// Whether the scan ended because there are too many distinct values to count.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Relaxed)
    }

    /// Whether groups of splits are in order, split after split: the first key distinguishes splits.
    pub(crate) fn splits_are_in_order(&self) -> bool {
        self.disjoint_splits.as_ref().is_some_and(|disjoint_splits| disjoint_splits.key == 0)
    }

    /// What a worker may expect of keys.
    pub(crate) fn expected(&self) -> Expected {
        Expected { bounds: self.bounds.clone(), never_null: self.never_null.clone(), rows: self.rows }
    }

    /// Makes the groups that only a worker's own splits have.
    pub(crate) fn disjoint_groups<'a>(&'a self, plan: &'a Plan) -> Option<DisjointGroups<'a>> {
        self.disjoint_splits.as_ref().map(|disjoint_splits| DisjointGroups::new(plan, disjoint_splits))
    }

    /// Notes that memory is short. Returns whether groups may be spilled: only once it is decided how rows are
    /// partitioned, because only then the part of a group is known. A worker decides that with its next batch.
    pub(crate) fn memory_is_short(&self) -> bool {
        self.is_short.store(true, Relaxed);
        self.aggregated.is_none() || self.scatter_plan.get().is_some()
    }

    /// Whether memory has no room for all groups that workers found, so that parts are grouped one after the other.
    pub(crate) fn needs_parts(&self, found: &[WorkerResult<'_>]) -> bool {
        self.memory.is_scarce() || found.iter().any(|found| found.spilled.is_some())
    }

    /// How rows are partitioned, if they are.
    pub(crate) fn scatter_plan(&self) -> Option<&ScatterPlan> {
        self.scatter_plan.get()?.as_ref()
    }

    /// A worker's partitions, once there are any: `keys` are its own so far, of this many `rows`; `keyed` has the
    /// columns of keys as they come, and `batch` all columns.
    pub(crate) fn worker(
        &self,
        (keys, rows): (&Keys, u64),
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
    ) -> Result<Option<Partitioner<'_>>, BatchError> {
        let Some(aggregated) = &self.aggregated else { return Ok(None) };
        let most = match keys.are_hashed() {
            true if keys.len() as u64 * 16 > rows * 15 => self.limits.hashed / 8,
            true if keys.len() as u64 * 2 > rows => self.limits.hashed / 4,
            true => self.limits.hashed,
            false => self.limits.direct,
        };
        if self.scatter_plan.get().is_none() {
            if keys.len() <= most && !self.is_short.load(Relaxed) {
                return Ok(None);
            }
            let encoding = match &self.disjoint_splits {
                // Tuples of all partitions are compared.
                Some(disjoint_splits) => Some(Arc::clone(&disjoint_splits.encoding)),
                None => KeyEncoding::of(&self.key_types, &self.bounds, keys, keyed.columns).map(Arc::new),
            };
            let scatter_plan =
                encoding.map(|encoding| ScatterPlan::new(encoding, aggregated, keys, keyed, batch)).transpose()?;
            self.scatter_plan.get_or_init(|| scatter_plan);
        }
        Ok(self.scatter_plan().map(|ScatterPlan { encoding, layout, ranges }| Partitioner {
            encoder: KeyEncoder::new(encoding),
            records: Records::new(layout, ranges),
            most: self.limits.records,
            left: Vec::new(),
        }))
    }

    /// Groups the records of a worker if there are many of them, and their keys repeat.
    pub(crate) fn take_records(&self, plan: &Plan, partitioner: &mut Partitioner<'_>) -> Result<(), BatchError> {
        if partitioner.records.words() > partitioner.most
            && let Some(scatter_plan) = self.scatter_plan()
        {
            partitioner.most = self.tables.take(plan, scatter_plan, &mut partitioner.records, self.limits.records)?;
        }
        Ok(())
    }

    /// Writes the groups that partitions have by now to the file.
    pub(crate) fn spill_tables(&self, plan: &Plan, path: &Path, parts: &mut Parts) -> Result<()> {
        for table in self.tables.take_all().flatten() {
            let groups = table.finish().decoded(plan).map_err(|malformed| EvalError::from(malformed).error(path))?;
            parts.spill_groups(&groups, self.scatter_plan(), &self.spill)?;
        }
        Ok(())
    }

    /// All that was partitioned, with the groups that workers had themselves.
    pub(crate) fn partitioned(
        &self,
        scatter_plan: &ScatterPlan,
        early: Partial,
        records: Vec<Records<'_>>,
    ) -> Partitioned {
        Partitioned::new(scatter_plan, early, records, self.tables.take_all(), self.threads)
    }
}

impl ScatterPlan {
    /// For rows like those of a batch, of which `keyed` has the keys, and of groups like those of `keys`.
    fn new(
        encoding: Arc<KeyEncoding>,
        aggregated: &Aggregated,
        keys: &Keys,
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
    ) -> Result<Self, BatchError> {
        let mut encoder = KeyEncoder::new(&encoding);
        encoder.encode(keyed)?;
        let tuples: Vec<&[u64]> = encoder.tuples.chunks_exact(encoding.width()).collect();
        let repeated = tuples.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let layout = RecordLayout::new(aggregated, &encoding, batch, repeated * 2 > tuples.len());
        let known = encoding.sample(keys, SAMPLED);
        let tuples = tuples.into_iter().chain(known.chunks_exact(encoding.width())).collect();
        let ranges = Ranges::of(tuples, PARTITIONS, encoding.free_bits());
        drop(encoder);
        Ok(Self { layout, ranges, encoding })
    }
}

/// Partitions one worker's rows.
#[derive(Debug)]
pub(crate) struct Partitioner<'a> {
    encoder: KeyEncoder<'a>,
    pub(crate) records: Records<'a>,
    /// If its records have more words than that, they are to be grouped.
    most: usize,
    /// The wanted rows that do not fit.
    left: Vec<u64>,
}

impl Partitioner<'_> {
    /// Partitions the wanted rows of a batch, of which `keyed` has the keys. Returns those that must be grouped
    /// elsewhere.
    pub(crate) fn scatter(
        &mut self,
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
        selection: Selection<'_>,
    ) -> Result<Selection<'_>, BatchError> {
        self.encoder.encode(keyed)?;
        let Self { encoder, records, left, .. } = self;
        records.pack_values(&mut encoder.tuples, &mut encoder.fits, batch)?;
        left.clear();
        left.resize(batch.rows.div_ceil(64), 0);
        let unfit = records.add(&encoder.tuples, &mut encoder.fits, batch, selection, left)?;
        Ok(if unfit == batch.rows { Selection::All } else { Selection::Some(left, unfit) })
    }
}

/// What one worker found.
pub(crate) struct WorkerResult<'a> {
    /// The state of all groups, but of those that are still to be made of rows which were partitioned or written to a
    /// file.
    pub(crate) groups: Partial,
    /// The groups of splits that no other split has.
    pub(crate) own: Vec<SplitGroups>,
    /// The rows that were partitioned.
    pub(crate) records: Option<Records<'a>>,
    /// What was written to a file.
    pub(crate) spilled: Option<Parts>,
}

/// Whether the values of a column, of which such states are kept, fit a record.
fn fits_record(logical_type: LogicalType, kinds: &[StateKind]) -> bool {
    match logical_type.physical() {
        PhysicalType::Integers => logical_type.fits_64_bits(),
        PhysicalType::Floats => true,
        PhysicalType::Bytes => kinds.iter().all(|kind| *kind == StateKind::Counts),
    }
}
