//! Groups the rows whose [keys](DisjointSplits) occur in the split at hand only.
//!
//! Rows of one key are mostly adjacent in such a table. So keys are compared only where they change, mostly ascend, and
//! are numbered without a hash table. The groups of a split stay in the caches until they are complete.

use super::disjoint_splits::{DisjointRange, DisjointSplits};
use super::merge::in_order;
use crate::accumulate::accumulators::Accumulators;
use crate::accumulate::filtered_values::FilteredIntegers;
use crate::accumulate::partial::Partial;
use crate::keys::encoding::{EncodedKeys, KeyEncoder};
use crate::keys::group_ids::GroupIds;
use crate::keys::group_keys::GroupKeys;
use crate::plan::Plan;
use crate::values::error::BatchError;
use crate::values::selection::Selection;
use brc_core::{Batch, Column, Data, Integers, Result, Run, for_integers};
use brc_kernels::cpu::Level;
use brc_kernels::direct::integer_bounds;
use brc_kernels::filter::{compress, count, mark_changes, range, valid_bits, words};
use std::sync::Arc;

/// Groups come as runs if these have at least this many rows on average.
const FEWEST_ROWS: usize = 2;

/// The groups of one worker.
#[derive(Debug)]
pub(crate) struct DisjointGroups<'a> {
    plan: &'a Plan,
    of_splits: &'a DisjointSplits,
    /// Of the split at hand; `None` if it has no keys of its own.
    range: Option<DisjointRange>,
    encoder: KeyEncoder<'a>,
    keys: EncodedKeys,
    accumulators: Accumulators,
    done: Vec<SplitGroups>,
    rows: Rows,
    runs: KeyRuns,
}

/// Groups that are complete: those of a split that no other split has.
#[derive(Debug)]
pub(crate) struct SplitGroups {
    /// Parts of larger ranks have larger keys.
    pub(crate) rank: usize,
    /// How many groups there were.
    pub(crate) groups: u64,
    /// Those that the answer may want, in the order of their keys if it is in that order.
    pub(crate) partial: Partial,
}

/// The rows of a batch that are taken, and those that are left; memory that is used again for the next batch.
#[derive(Debug, Default)]
struct Rows {
    taken: Vec<u64>,
    left: Vec<u64>,
    mask: Vec<u64>,
    /// The keys of the rows that are taken, where those are not all.
    columns: Vec<FilteredIntegers>,
}

/// Runs of rows with the same keys; memory that is used again for the next batch.
#[derive(Debug, Default)]
struct KeyRuns {
    changes: Vec<u64>,
    all_rows: Vec<u32>,
    starts: Vec<u32>,
    /// The keys of each run.
    keys: Vec<FilteredIntegers>,
    numbers: Vec<u32>,
    runs: Vec<Run>,
    rows: Vec<u32>,
}

impl<'a> DisjointGroups<'a> {
    pub(crate) fn new(plan: &'a Plan, of_splits: &'a DisjointSplits) -> Self {
        Self {
            plan,
            of_splits,
            range: None,
            encoder: KeyEncoder::new(&of_splits.encoding),
            keys: EncodedKeys::new(Arc::clone(&of_splits.encoding), 0),
            accumulators: Accumulators::new(plan),
            done: Vec::new(),
            rows: Rows::default(),
            runs: KeyRuns::default(),
        }
    }

    /// The next batches are those of that split.
    pub(crate) fn split_begins(&mut self, split: u64) {
        self.range = self.of_splits.of_split(split);
    }

    /// All batches of the split were there: its groups are complete.
    pub(crate) fn split_done(&mut self) -> Result<()> {
        let Some(range) = self.range.take().filter(|_| self.keys.len() > 0) else { return Ok(()) };
        let groups = self.keys.len();
        let next = EncodedKeys::new(Arc::clone(&self.of_splits.encoding), groups);
        let mut keys = std::mem::replace(&mut self.keys, next);
        let accumulators = std::mem::replace(&mut self.accumulators, Accumulators::new(self.plan));
        keys.prepare();
        let mut partial = accumulators.finish(Some(GroupKeys::Encoded(keys)), 1);
        partial.prepare(1);
        self.done.push(SplitGroups { rank: range.rank, groups: groups as u64, partial: in_order(self.plan, partial)? });
        Ok(())
    }

    /// The groups of all splits.
    pub(crate) fn into_parts(self) -> Vec<SplitGroups> {
        self.done
    }

    /// Takes the wanted rows of a batch whose keys are the split's own; `keyed` begins with the columns of all keys.
    /// Returns those that must be grouped elsewhere.
    pub(crate) fn take<'s>(
        &'s mut self,
        level: Level,
        keyed: &Batch<'_>,
        batch: &Batch<'_>,
        selection: Selection<'s>,
    ) -> Result<Selection<'s>, BatchError> {
        let Some(DisjointRange { all, own, .. }) = self.range else { return Ok(selection) };
        let keys = keyed.columns.get(..self.of_splits.encoding.keys()).ok_or(BatchError("a key is not there"))?;
        let keyed = &Batch { columns: keys, ..*keyed };
        let columns = integers_of(keyed)?;
        let key = *columns.get(self.of_splits.key).ok_or(BatchError("a key is not there"))?;
        let mut rows = std::mem::take(&mut self.rows);
        let is_plain = matches!(selection, Selection::All) && !keyed.columns.iter().any(Column::has_nulls);
        let left = match integer_bounds(level, key) {
            Some((min, max)) if is_plain && own.0 <= min && max <= own.1 => {
                self.add(level, &columns, batch, Selection::All)?;
                0
            }
            _ => {
                let (taken, left) = rows.part(level, keyed, key, selection, all, own)?;
                let Rows { taken: mask, columns: kept, .. } = &mut rows;
                if taken > 0 {
                    kept.resize_with(columns.len(), FilteredIntegers::default);
                    let pairs = kept.iter_mut().zip(&columns);
                    let columns: Vec<_> = pairs.map(|(kept, &column)| kept.of(level, column, mask)).collect();
                    let selection = if taken == batch.rows { Selection::All } else { Selection::Some(mask, taken) };
                    self.add(level, &columns, batch, selection)?;
                }
                left
            }
        };
        self.rows = rows;
        Ok(if left == batch.rows { Selection::All } else { Selection::Some(&self.rows.left, left) })
    }

    /// Adds the selected rows of a batch, of which these are the keys.
    fn add(
        &mut self,
        level: Level,
        keys: &[Integers<'_>],
        batch: &Batch<'_>,
        selection: Selection<'_>,
    ) -> Result<(), BatchError> {
        let Self { encoder, runs, .. } = self;
        let rows = selection.wanted(batch.rows);
        let (found, columns) = runs.find(level, keys, rows);
        encoder.encode(&Batch { rows: found, columns: &columns })?;
        if !encoder.fits.iter().all(|&fits| fits) {
            return Err(OUT_OF_BOUNDS);
        }
        self.keys.number(&encoder.tuples, &mut runs.numbers);
        self.accumulators.update(level, batch, selection, runs.groups(rows), self.keys.len())
    }
}

const OUT_OF_BOUNDS: BatchError = BatchError("a key lies outside of the bounds that statistics tell");

impl Rows {
    /// Divides the wanted rows of a batch into those whose keys only this split has, and others. Returns the number of
    /// each.
    fn part(
        &mut self,
        level: Level,
        keyed: &Batch<'_>,
        key: Integers<'_>,
        selection: Selection<'_>,
        all: (i64, i64),
        own: (i64, i64),
    ) -> Result<(usize, usize), BatchError> {
        let Self { taken, left, mask, .. } = self;
        let rows = keyed.rows;
        left.clear();
        match selection {
            Selection::All => left.extend((0..words(rows)).map(|word| valid_bits(rows, word))),
            Selection::Some(wanted, _) => left.extend_from_slice(wanted),
        }
        taken.clear();
        taken.extend_from_slice(left);
        for validity in keyed.columns.iter().filter_map(|column| column.validity) {
            taken.iter_mut().zip(validity.words()).for_each(|(taken, (valid, _))| *taken &= valid);
        }
        mask.clear();
        mask.resize(words(rows), 0);
        range(level, key, all.0.into(), all.1.into(), mask);
        if taken.iter().zip(mask.iter()).any(|(taken, inside)| taken & !inside != 0) {
            return Err(OUT_OF_BOUNDS);
        }
        range(level, key, own.0.into(), own.1.into(), mask);
        taken.iter_mut().zip(mask.iter()).for_each(|(taken, own)| *taken &= own);
        left.iter_mut().zip(taken.iter()).for_each(|(left, taken)| *left &= !taken);
        Ok((count(level, taken), count(level, left)))
    }
}

impl KeyRuns {
    /// Finds where the keys of `rows` rows change. Returns the number of runs and their keys.
    fn find(&mut self, level: Level, columns: &[Integers<'_>], rows: usize) -> (usize, Vec<Column<'_>>) {
        let Self { changes, all_rows, starts, keys, .. } = self;
        changes.clear();
        changes.resize(words(rows), 0);
        for column in columns {
            for_integers!(column, values => mark_changes(level, values, changes));
        }
        all_rows.extend(all_rows.len() as u32..rows as u32);
        compress(level, &all_rows[..rows], changes, starts);
        keys.resize_with(columns.len(), FilteredIntegers::default);
        let pairs = keys.iter_mut().zip(columns);
        let keys = pairs.map(|(keys, &column)| Column::integers(keys.of(level, column, changes))).collect();
        (starts.len(), keys)
    }

    /// The groups of this many rows, of whose runs the numbers are known.
    fn groups(&mut self, rows: usize) -> GroupIds<'_> {
        let Self { starts, numbers, runs, rows: of_rows, .. } = self;
        runs.clear();
        let mut end = rows as u32;
        runs.resize(starts.len(), Run { code: 0, rows: 0 });
        for ((run, &start), &code) in runs.iter_mut().zip(starts.iter()).zip(numbers.iter()).rev() {
            *run = Run { code, rows: end - start };
            end = start;
        }
        if runs.len() * FEWEST_ROWS <= rows {
            return GroupIds::Runs(runs);
        }
        of_rows.clear();
        of_rows.reserve(rows);
        runs.iter().for_each(|run| of_rows.extend(std::iter::repeat_n(run.code, run.rows as usize)));
        GroupIds::Rows(of_rows)
    }
}

/// The keys of a batch, none of which may be of another type.
fn integers_of<'a>(keyed: &Batch<'a>) -> Result<Vec<Integers<'a>>, BatchError> {
    let integers = |column: &Column<'a>| match column.data {
        Data::Integers(values) => Ok(values),
        Data::Codes { .. } | Data::Runs { .. } | Data::Floats(_) | Data::Bytes(_) => {
            Err(BatchError("a key is of another type than its column"))
        }
    };
    keyed.columns.iter().map(integers).collect()
}
