//! An answer of more rows than memory has room for: a table whose rows are in a file.

use crate::grouped::BLOCK;
use crate::memory::Memory;
use crate::partitions::spill::Spill;
use crate::plan::Plan;
use crate::result::QueryResult;
use crate::runs::Block;
use crate::totals::ScanTotals;
use crate::vector::Fault;
use brc_core::{Batch, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::path::Path;

/// How many blocks a split has if memory allows: as many as make a good row group.
const SPLIT_BLOCKS: usize = 64;

/// How many rows a batch has at most.
const BATCH_ROWS: usize = 4096;

/// The sorted rows of an answer, some or all of them in a file that nobody else sees.
#[derive(Debug)]
pub struct SpilledAnswer {
    plan: Plan,
    schema: Schema,
    /// [`BLOCK`] rows each, but for the last.
    blocks: Vec<Block>,
    rows: usize,
    split_blocks: usize,
    spill: Spill,
    totals: ScanTotals,
}

impl SpilledAnswer {
    /// The answer whose rows are in these blocks.
    pub(crate) fn new(
        plan: &Plan,
        blocks: Vec<Block>,
        spill: Spill,
        memory: &Memory,
        totals: ScanTotals,
    ) -> Result<Self> {
        let rows = blocks.iter().map(|block| block.rows).sum();
        let bytes: u64 = blocks.iter().map(Block::bytes).max().unwrap_or(0) + 1;
        let split_blocks = usize::try_from(memory.limit / 16 / bytes).unwrap_or(usize::MAX).clamp(1, SPLIT_BLOCKS);
        Ok(Self { plan: plan.clone(), schema: plan.answer_schema()?, blocks, rows, split_blocks, spill, totals })
    }

    /// What was done to find the answer.
    #[must_use]
    pub fn totals(&self) -> &ScanTotals {
        &self.totals
    }

    /// The same in memory, whatever it takes.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged.
    pub fn load(self) -> Result<QueryResult> {
        let blocks = self.blocks.into_iter().map(|block| Ok((block.rows, block.into_cells(&self.spill)?)));
        Ok(QueryResult::of_blocks(&self.plan, blocks.collect::<Result<_>>()?, self.totals))
    }
}

impl Table for SpilledAnswer {
    fn path(&self) -> &Path {
        Path::new("the answer")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows as u64)
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let rows = (self.split_blocks * BLOCK) as u64;
        let start = index.checked_mul(rows)?;
        let end = (start + rows).min(self.rows as u64);
        (start < end).then_some(Split { index, start, end })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let columns = options.projection.iter().map(|&column| (column, Vec::new())).collect();
        Ok(Box::new(SpilledScanner { answer: self, columns }))
    }
}

struct SpilledScanner<'a> {
    answer: &'a SpilledAnswer,
    /// The columns, each with memory for the offsets of its strings.
    columns: Vec<(usize, Vec<i32>)>,
}

impl Scanner for SpilledScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Self { answer, columns } = self;
        let blocks = split.start as usize / BLOCK..(split.end as usize).div_ceil(BLOCK);
        for block in &answer.blocks[blocks] {
            block.with_cells(&answer.spill, |cells| {
                for first in (0..block.rows).step_by(BATCH_ROWS) {
                    let rows = first..block.rows.min(first + BATCH_ROWS);
                    let lent = columns.iter_mut();
                    let lent = lent.map(|(column, offsets)| cells[*column].column(rows.clone(), offsets));
                    let lent = lent.collect::<Result<Vec<_>, _>>();
                    let lent = lent.map_err(|fault: Fault| fault.error(answer.path()))?;
                    sink.batch(&Batch { rows: rows.len(), columns: &lent })?;
                }
                Ok(())
            })?;
        }
        Ok(Some(Scanned { rows: split.end - split.start, ..Scanned::default() }))
    }
}
