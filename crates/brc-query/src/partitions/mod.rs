//! Millions of groups: rows are dealt out to partitions by ranges of their keys, and grouped partition by partition.
//!
//! A hash table that is larger than the caches costs a miss or more for every row. Here a row costs a copy of its packed keys
//! and of what is aggregated, one behind the other, to the end of its partition; and each partition, which has only a share
//! of all groups, is aggregated in a small table later, by whichever thread is free. No group lies in two partitions, and one
//! partition is wholly before the next: nothing is left to merge, and an answer in the order of its keys is one after the other.
//!
//! Where keys repeat, records take more memory than their groups. So workers that have many records group them [in
//! between](tables), and deal out the next rows to the same memory.
//!
//! Every worker starts with a table of its own. As soon as one has more groups than its [`Limits`], all of them deal out what
//! they read from then on. The groups that they have by then, and those whose keys cannot be packed, are merged the plain way.
//!
//! Where a table is sorted or clustered by a key, its [splits are partitions](disjoint_splits) already: nothing is dealt out, and only
//! the groups of keys that several splits have are merged.
//!
//! Where memory is short, all of that goes to a file, [part](parts) by part, and comes back one part at a time.

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

pub(crate) use disjoint_groups::{OwnGroups, OwnPart};
pub(crate) use merge::{in_order, regroup};
pub(crate) use partitioned::Dealt;
pub(crate) use parts::Parts;
pub(crate) use sorted::Sorted;
pub(crate) use spilled_merge::regroup_parts;

use crate::accumulate::partial::Partial;
use crate::keys::Keys;
use crate::keys::direct::Expected;
use crate::keys::encoding::{Packer, Packing};
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use crate::states::StateKind;
use crate::values::fault::Fault;
use crate::values::fault::Malformed;
use crate::values::selection::Selection;
use brc_core::{Batch, Error, LogicalType, PhysicalType, Result, Table};
use disjoint_splits::OwnKeys;
pub(crate) use disjoint_splits::bounds_of;
use layout::{Aggregated, Layout};
use ranges::Ranges;
use records::PARTITIONS;
pub(crate) use records::Records;
use spill::Spill;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use tables::Tables;

/// What a worker may have by itself before rows are dealt out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// So many groups that are found by their hash; a quarter of that if most rows have one of their own, and an eighth if
    /// nearly all have.
    pub(crate) hashed: usize,
    /// So many groups that are found otherwise.
    pub(crate) direct: usize,
    /// A worker that has records of so many words groups them, if their keys repeat.
    pub(crate) records: usize,
    /// So many groups of a partition are grouped at once, where memory is short.
    pub(crate) partition: usize,
    /// So many distinct values that are to be counted, in all groups together,
    pub(crate) distinct: usize,
    /// or so many in each group.
    pub(crate) distinct_of_group: usize,
    /// Where there may be so many groups at least, splits that have keys of their own are partitions.
    pub(crate) of_splits: u64,
}

impl Limits {
    /// No rows are dealt out.
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
    /// Whether so many values to be counted of so many groups are more than may be.
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
            records: tables::FEWEST,
            partition: usize::MAX,
            distinct: 1 << 17,
            distinct_of_group: 16,
            of_splits: 1 << 17,
        }
    }
}

/// About so many groups tell where to cut ranges.
const SAMPLED: usize = 1 << 13;

/// How rows are dealt out.
#[derive(Debug)]
pub(crate) struct Dealing {
    packing: Arc<Packing>,
    layout: Layout,
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
    own_keys: Option<OwnKeys>,
    pub(crate) limits: Limits,
    /// Set by the first worker with many groups; `None` if their keys cannot be packed.
    dealing: OnceLock<Option<Dealing>>,
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
    /// For a plan's groups, if its rows can be dealt out.
    pub(crate) fn new(plan: &Plan, limits: Limits, memory: &Memory, threads: usize) -> Self {
        Self {
            aggregated: if plan.keys.is_empty() { None } else { Aggregated::of(plan) },
            key_types: plan.key_types(),
            bounds: vec![None; plan.keys.len()],
            never_null: vec![false; plan.keys.len()],
            rows: 0,
            own_keys: None,
            limits,
            dealing: OnceLock::new(),
            tables: Tables::new(),
            is_short: AtomicBool::new(false),
            is_given_up: AtomicBool::new(false),
            memory: memory.clone(),
            spill: Spill::new(memory),
            threads,
        }
    }

    /// The same where it is known what a table's splits have, which may be partitions.
    pub(crate) fn with_splits_of(self, table: &dyn Table, plan: &Plan) -> Self {
        let of_table = plan.schema.fields().len();
        let bounds_of = |column: usize| if column < of_table { bounds_of(table, column) } else { None };
        let bounds = plan.keys.iter().map(|&key| bounds_of(key)).collect();
        let has_nulls = |key: usize| table.known_by_split(key).any(|known| known.nulls);
        let never_null = plan.keys.iter().map(|&key| key < of_table && !has_nulls(key)).collect();
        let aggregated = self.aggregated.map(|aggregated| aggregated.with_bounds(bounds_of));
        let own_keys = OwnKeys::of(plan, table, &self.memory, self.limits.of_splits);
        Self { bounds, never_null, rows: table.rows().unwrap_or(0), aggregated, own_keys, ..self }
    }

    /// Says that there are too many distinct values to count. Returns what ends the scan.
    pub(crate) fn give_up(&self) -> Error {
        self.is_given_up.store(true, Relaxed);
        Error::Stopped
    }

    /// Whether the scan ended because there are too many distinct values to count.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Relaxed)
    }

    /// Whether groups of splits are in order, one split behind the other: it is the first key that tells splits apart.
    pub(crate) fn splits_are_in_order(&self) -> bool {
        self.own_keys.as_ref().is_some_and(|own_keys| own_keys.key == 0)
    }

    /// What a worker may expect of keys.
    pub(crate) fn expected(&self) -> Expected {
        Expected { bounds: self.bounds.clone(), never_null: self.never_null.clone(), rows: self.rows }
    }

    /// For the groups that a worker's splits have for themselves.
    pub(crate) fn own_groups<'a>(&'a self, plan: &'a Plan) -> Option<OwnGroups<'a>> {
        self.own_keys.as_ref().map(|own_keys| OwnGroups::new(plan, own_keys))
    }

    /// Memory is short. Returns whether it is decided by now if rows can be dealt out: until then no groups may be written to
    /// a file, for it is not known of which part they are. With its next batch a worker decides that.
    pub(crate) fn memory_is_short(&self) -> bool {
        self.is_short.store(true, Relaxed);
        self.aggregated.is_none() || self.dealing.get().is_some()
    }

    /// Whether there is no room for all groups of what workers found, but only for those of one part after the other.
    pub(crate) fn needs_parts(&self, found: &[Found<'_>]) -> bool {
        self.memory.is_scarce() || found.iter().any(|found| found.spilled.is_some())
    }

    /// How rows are dealt out, if they are.
    pub(crate) fn dealing(&self) -> Option<&Dealing> {
        self.dealing.get()?.as_ref()
    }

    /// A worker's partitions, once there are any: `keys` are its own so far, of so many `rows`; `keyed` has the columns of keys as they come, and
    /// `batch` all columns.
    pub(crate) fn worker(
        &self,
        (keys, rows): (&Keys, u64),
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
    ) -> Result<Option<Dealer<'_>>, Malformed> {
        let Some(aggregated) = &self.aggregated else { return Ok(None) };
        let most = match keys.are_hashed() {
            true if keys.len() as u64 * 16 > rows * 15 => self.limits.hashed / 8,
            true if keys.len() as u64 * 2 > rows => self.limits.hashed / 4,
            true => self.limits.hashed,
            false => self.limits.direct,
        };
        if self.dealing.get().is_none() {
            if keys.len() <= most && !self.is_short.load(Relaxed) {
                return Ok(None);
            }
            let packing = match &self.own_keys {
                // Tuples of all partitions are compared.
                Some(own_keys) => Some(Arc::clone(&own_keys.packing)),
                None => Packing::of(&self.key_types, &self.bounds, keys, keyed.columns).map(Arc::new),
            };
            let dealing = packing.map(|packing| Dealing::new(packing, aggregated, keys, keyed, batch)).transpose()?;
            self.dealing.get_or_init(|| dealing);
        }
        Ok(self.dealing().map(|Dealing { packing, layout, ranges }| Dealer {
            packer: Packer::new(packing),
            records: Records::new(layout, ranges),
            most: self.limits.records,
            left: Vec::new(),
        }))
    }

    /// Groups the records of a worker if there are many of them, and their keys repeat.
    pub(crate) fn take_records(&self, plan: &Plan, dealer: &mut Dealer<'_>) -> Result<(), Malformed> {
        if dealer.records.words() > dealer.most
            && let Some(dealing) = self.dealing()
        {
            dealer.most = self.tables.take(plan, dealing, &mut dealer.records, self.limits.records)?;
        }
        Ok(())
    }

    /// Writes the groups that partitions have by now to the file.
    pub(crate) fn spill_tables(&self, plan: &Plan, path: &Path, parts: &mut Parts) -> Result<()> {
        for table in self.tables.take_all().flatten() {
            let groups = table.finish().unpacked(plan).map_err(|malformed| Fault::from(malformed).error(path))?;
            parts.spill_groups(&groups, self.dealing(), &self.spill)?;
        }
        Ok(())
    }

    /// All that was dealt out, with the groups that workers had themselves.
    pub(crate) fn dealt(&self, dealing: &Dealing, early: Partial, records: Vec<Records<'_>>) -> Dealt {
        Dealt::new(dealing, early, records, self.tables.take_all(), self.threads)
    }
}

impl Dealing {
    /// For rows like those of a batch, of which `keyed` has the keys, and of groups like those of `keys`.
    fn new(
        packing: Arc<Packing>,
        aggregated: &Aggregated,
        keys: &Keys,
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
    ) -> Result<Self, Malformed> {
        let mut packer = Packer::new(&packing);
        packer.pack(keyed)?;
        let tuples: Vec<&[u64]> = packer.tuples.chunks_exact(packing.width()).collect();
        let repeated = tuples.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let layout = Layout::new(aggregated, &packing, batch, repeated * 2 > tuples.len());
        let known = packing.sample(keys, SAMPLED);
        let tuples = tuples.into_iter().chain(known.chunks_exact(packing.width())).collect();
        let ranges = Ranges::of(tuples, PARTITIONS, packing.free_bits());
        drop(packer);
        Ok(Self { layout, ranges, packing })
    }
}

/// Deals out one worker's rows.
#[derive(Debug)]
pub(crate) struct Dealer<'a> {
    packer: Packer<'a>,
    pub(crate) records: Records<'a>,
    /// If its records have more words than that, they are to be grouped.
    most: usize,
    /// The wanted rows that do not fit.
    left: Vec<u64>,
}

impl Dealer<'_> {
    /// Deals out the wanted rows of a batch, of which `keyed` has the keys. Returns those that must be grouped elsewhere.
    pub(crate) fn deal(
        &mut self,
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
        selection: Selection<'_>,
    ) -> Result<Selection<'_>, Malformed> {
        self.packer.pack(keyed)?;
        let Self { packer, records, left, .. } = self;
        records.pack_values(&mut packer.tuples, &mut packer.fits, batch)?;
        left.clear();
        left.resize(batch.rows.div_ceil(64), 0);
        let unfit = records.add(&packer.tuples, &mut packer.fits, batch, selection, left)?;
        Ok(if unfit == batch.rows { Selection::All } else { Selection::Some(left, unfit) })
    }
}

/// What one worker found.
pub(crate) struct Found<'a> {
    /// The state of all groups, but of those that are still to be made of rows which were dealt out or written to a file.
    pub(crate) groups: Partial,
    /// The groups of splits that no other split has.
    pub(crate) own: Vec<OwnPart>,
    /// The rows that were dealt out.
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
