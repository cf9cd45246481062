//! An answer may have four rows or a hundred million. A few rows are computed at once; many are computed, or read from
//! the spill file, while the answer is read, so that they are never in memory all at once.
//!
//! In: groups, sorted parts or spilled blocks. Out: `Answered`, which is a `QueryResult` or a `LongAnswer`; both can
//! be scanned as tables.
//!
//! Where to look:
//!
//! - an answer in memory (`QueryResult`, `Row`), and as a table: `result.rs`, `result_table.rs`
//! - an answer whose rows are made while it is read (`LongAnswer`): `lazy_result.rs`
//! - the choice between the two for groups: `of_groups.rs`
//! - partitions in the order of their keys, grouped when they are read (`KeyOrder`): `key_order.rs`
//! - sorted runs, spilled and merged (`Sorter`, `Block`): `sorted_runs.rs`
//! - batches of an answer (`Slicer`): `slicer.rs`

pub(crate) mod key_order;
pub(crate) mod lazy_result;
mod of_groups;
pub(crate) mod result;
pub(crate) mod result_table;
mod slicer;
pub(crate) mod sorted_runs;

use crate::partitions::spill::Spill;
use crate::plan::Plan;
use crate::runtime::memory::Memory;
use crate::scan::totals::ScanTotals;
use brc_core::Result;
use lazy_result::LongAnswer;
use result::QueryResult;
use sorted_runs::Block;
use std::time::Duration;

/// The rows of fewer groups are made before any is read.
pub(crate) const MIN_ROWS_FOR_LAZY_RESULT: u64 = 1 << 17;

/// An answer, as memory allows.
#[derive(Debug)]
pub enum Answered {
    /// All rows are in memory.
    Held(Box<QueryResult>),
    /// There are many, which are made, or read from a file, while the answer is read.
    Long(Box<LongAnswer>),
}

impl Answered {
    /// The answer whose rows are in these blocks.
    pub(crate) fn of_blocks(
        plan: &Plan,
        blocks: Vec<Block>,
        spill: Spill,
        memory: &Memory,
        mut totals: ScanTotals,
    ) -> Result<Self> {
        totals.spilled_bytes = spill.bytes();
        if blocks.iter().any(Block::is_spilled) {
            return Ok(Self::Long(Box::new(LongAnswer::of_blocks(plan, blocks, spill, memory, totals)?)));
        }
        let blocks = blocks.into_iter().map(|block| Ok((block.rows, block.into_cells(&spill)?)));
        Ok(Self::held(QueryResult::of_blocks(plan, blocks.collect::<Result<_>>()?, totals)))
    }

    pub(crate) fn held(answer: QueryResult) -> Self {
        Self::Held(Box::new(answer))
    }

    /// Takes note of how long it took to group and sort, since the end of the scan.
    pub(crate) fn sorted_in(mut self, time: Duration) -> Self {
        let totals = self.totals_mut();
        totals.sort_time = time.saturating_sub(totals.regroup_time);
        self
    }

    pub(crate) fn totals_mut(&mut self) -> &mut ScanTotals {
        match self {
            Self::Held(answer) => answer.totals_mut(),
            Self::Long(answer) => answer.totals_mut(),
        }
    }

    /// What was done to find the answer, and as many of its rows as were read.
    #[must_use]
    pub fn totals(&self) -> ScanTotals {
        match self {
            Self::Held(answer) => answer.totals().clone(),
            Self::Long(answer) => answer.totals(),
        }
    }

    /// All rows in memory.
    ///
    /// # Errors
    /// As for [`LongAnswer::load`].
    pub fn load(self, threads: usize) -> Result<QueryResult> {
        match self {
            Self::Held(answer) => Ok(*answer),
            Self::Long(answer) => answer.load(threads),
        }
    }
}
