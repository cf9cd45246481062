//! An answer may have four rows or a hundred million. A few rows are computed at once; many are computed, or read from
//! the spill file, while the answer is read, so that they are never in memory all at once.
//!
//! In: groups, sorted parts or spilled blocks. Out: an `Answer`, which is read the same way whatever it is made of.
//!
//! Where to look:
//!
//! - an answer (`Answer`), what its rows come from (`Source`): `mod.rs`, `source.rs`
//! - how it is read: row by row (`RowBlock`, `Row`), as a table: `rows.rs`, `table.rs`
//! - the answer that groups give: `of_groups.rs`
//! - partitions in the order of their keys, grouped when they are read (`KeyOrder`, `Parts`): `key_order.rs`
//! - sorted runs, spilled and merged (`Sorter`, `Block`): `sorted_runs.rs`

pub(crate) mod key_order;
mod of_groups;
pub(crate) mod rows;
pub(crate) mod sorted_runs;
pub(crate) mod source;
mod table;

use crate::finish::groups::BLOCK;
use crate::partitions::spill::Spill;
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use crate::runtime::parallel;
use crate::scan::totals::ScanTotals;
use crate::values::cells::Cells;
use brc_core::{Result, Schema};
use sorted_runs::Block;
use source::Source;
use std::time::Duration;

/// The rows of fewer groups are made before any is read.
pub(crate) const MIN_ROWS_FOR_LAZY_RESULT: u64 = 1 << 17;

/// How many rows a split has if memory allows: as many as make a good row group.
const SPLIT_ROWS: usize = 64 * BLOCK;

/// The sorted rows of an answer, which is a [`brc_core::Table`]: it can be written in any encoding and queried again.
///
/// Few rows are in memory. Many are computed of groups, or read from the spill file, each time the answer is read. Where
/// the groups too are made then, the number of rows is not known before.
#[derive(Debug)]
pub struct Answer {
    schema: Schema,
    source: Source,
    /// The first part of each split, and how many parts there are.
    splits: Vec<usize>,
    totals: ScanTotals,
}

impl Answer {
    /// The answer to a plan.
    ///
    /// # Errors
    /// [`brc_core::Error::Usage`] if a column's name is not one that columns of tables have.
    pub(crate) fn new(plan: &Plan, source: Source, totals: ScanTotals) -> Result<Self> {
        Ok(Self { schema: plan.answer_schema()?, splits: source.splits(SPLIT_ROWS), source, totals })
    }

    /// The answer whose rows are in these blocks.
    pub(crate) fn of_blocks(
        plan: &Plan,
        blocks: Vec<Block>,
        spill: Spill,
        memory: &Memory,
        mut totals: ScanTotals,
    ) -> Result<Self> {
        totals.spilled_bytes = spill.bytes();
        if !blocks.iter().any(Block::is_spilled) {
            let blocks = blocks.into_iter().map(|block| Ok((block.rows, block.into_cells(&spill)?)));
            return Self::new(plan, Source::in_memory(blocks.collect::<Result<_>>()?), totals);
        }
        let bytes: u64 = blocks.iter().map(Block::bytes).max().unwrap_or(0) + 1;
        let split_blocks = usize::try_from(memory.limit / 16 / bytes).unwrap_or(usize::MAX).max(1);
        let split_rows = split_blocks.saturating_mul(BLOCK).min(SPLIT_ROWS);
        Ok(Self::new(plan, Source::Spilled { blocks, spill }, totals)?.with_splits_of(split_rows))
    }

    /// Takes note of how long it took to group and sort, since the end of the scan.
    pub(crate) fn sorted_in(mut self, time: Duration) -> Self {
        self.totals.sort_time = time.saturating_sub(self.totals.merge_time);
        self
    }

    pub(crate) fn totals_mut(&mut self) -> &mut ScanTotals {
        &mut self.totals
    }

    /// What was done to find the answer, and as many of its groups as were read.
    #[must_use]
    pub fn totals(&self) -> ScanTotals {
        ScanTotals { groups: self.source.groups().unwrap_or(self.totals.groups), ..self.totals.clone() }
    }

    /// Whether all rows are in memory.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        matches!(self.source, Source::InMemory { .. })
    }

    /// The same in splits of about this many rows, or fewer parts if they are large.
    #[must_use]
    pub fn with_splits_of(self, rows: usize) -> Self {
        Self { splits: self.source.splits(rows), ..self }
    }

    /// The same in splits that depend on nothing but the rows: all groups are made before any is read.
    ///
    /// # Errors
    /// What is wrong with the rows that groups are made of.
    pub fn in_even_splits(self, threads: usize) -> Result<Self> {
        let totals = self.totals();
        let Source::Parts(parts) = self.source else { return Ok(self) };
        let source = parts.into_groups(threads)?;
        Ok(Self { splits: source.splits(SPLIT_ROWS), source, totals, ..self })
    }

    /// The same with all rows in memory, whatever they take.
    ///
    /// # Errors
    /// If the spill file cannot be read, or is damaged; if a value is none of the type of its column.
    pub fn load(self, threads: usize) -> Result<Self> {
        if self.is_in_memory() {
            return Ok(self);
        }
        let source = Source::in_memory(self.made_blocks(threads)?);
        Ok(Self { splits: source.splits(SPLIT_ROWS), source, totals: self.totals(), ..self })
    }

    /// The columns of all rows, block by block, each with its number of rows.
    pub(crate) fn into_blocks(self, threads: usize) -> Result<Vec<(usize, Vec<Cells>)>> {
        match self.source {
            Source::InMemory { blocks, .. } => Ok(blocks),
            _ => self.made_blocks(threads),
        }
    }

    /// The same where they are not in memory.
    fn made_blocks(&self, threads: usize) -> Result<Vec<(usize, Vec<Cells>)>> {
        let of_part = |part: usize| {
            let mut blocks = Vec::new();
            self.each_block(part, |block| {
                blocks.push((block.rows.len(), block.cells.into_owned()));
                Ok(())
            })?;
            Ok(blocks)
        };
        Ok(parallel::try_map(self.source.parts(), threads, of_part)?.into_iter().flatten().collect())
    }

    /// The number of rows. Where it is not known, all groups are made to count them.
    ///
    /// # Errors
    /// What is wrong with the rows that groups are made of.
    pub fn count_rows(&self, threads: usize) -> Result<u64> {
        let counts = parallel::try_map(self.source.parts(), threads, |part| self.source.count(part))?;
        Ok(counts.into_iter().map(|rows| rows as u64).sum())
    }
}
