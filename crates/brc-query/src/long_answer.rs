//! An answer of many rows: a table whose rows are made of groups, or read from a file, when they are looked at. So the values of
//! all of them are never in memory at once, and what is printed is still in the caches.

use crate::cells::Cells;
use crate::grouped::{BLOCK, Groups, Sorted};
use crate::memory::Memory;
use crate::parallel;
use crate::partial::Partial;
use crate::partitions::spill::Spill;
use crate::plan::{Answer, Plan};
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

/// The sorted rows of an answer, block by block.
#[derive(Debug)]
pub struct LongAnswer {
    plan: Plan,
    schema: Schema,
    source: Source,
    /// The first row of each block, and the number of rows.
    starts: Vec<u64>,
    split_blocks: usize,
    totals: ScanTotals,
}

/// What blocks come from.
#[derive(Debug)]
enum Source {
    /// Groups in memory.
    Groups { partials: Vec<Partial>, sorted: Sorted },
    /// Rows of the table: some of these parts, in that order.
    Rows { parts: Vec<Vec<Cells>>, order: Vec<(u32, u32)> },
    /// Blocks of which some or all are in a file that nobody else sees.
    File { blocks: Vec<Block>, spill: Spill },
}

impl LongAnswer {
    /// The answer whose rows are in these blocks.
    pub(crate) fn of_blocks(
        plan: &Plan,
        blocks: Vec<Block>,
        spill: Spill,
        memory: &Memory,
        totals: ScanTotals,
    ) -> Result<Self> {
        let bytes: u64 = blocks.iter().map(Block::bytes).max().unwrap_or(0) + 1;
        let split_blocks = usize::try_from(memory.limit / 16 / bytes).unwrap_or(usize::MAX).clamp(1, SPLIT_BLOCKS);
        let starts = starts(blocks.iter().map(|block| block.rows));
        let source = Source::File { blocks, spill };
        Ok(Self { plan: plan.clone(), schema: plan.answer_schema()?, source, starts, split_blocks, totals })
    }

    /// The answer that groups give, in that order: settled partials that have no group in common.
    pub(crate) fn of_groups(plan: &Plan, partials: Vec<Partial>, sorted: Sorted, totals: ScanTotals) -> Result<Self> {
        let starts = starts((0..sorted.blocks()).map(|block| sorted.rows(block)));
        let source = Source::Groups { partials, sorted };
        let split_blocks = SPLIT_BLOCKS;
        Ok(Self { plan: plan.clone(), schema: plan.answer_schema()?, source, starts, split_blocks, totals })
    }

    /// The answer that rows of these parts give, each told by its part and its place there.
    pub(crate) fn of_rows(
        plan: &Plan,
        parts: Vec<Vec<Cells>>,
        order: Vec<(u32, u32)>,
        totals: ScanTotals,
    ) -> Result<Self> {
        let starts = starts(order.chunks(BLOCK).map(<[_]>::len));
        let source = Source::Rows { parts, order };
        let split_blocks = SPLIT_BLOCKS;
        Ok(Self { plan: plan.clone(), schema: plan.answer_schema()?, source, starts, split_blocks, totals })
    }

    /// The same in splits of about so many rows, or fewer.
    #[must_use]
    pub fn with_splits_of(self, rows: usize) -> Self {
        Self { split_blocks: (rows / BLOCK).clamp(1, self.split_blocks), ..self }
    }

    /// What was done to find the answer.
    #[must_use]
    pub fn totals(&self) -> &ScanTotals {
        &self.totals
    }

    pub(crate) fn totals_mut(&mut self) -> &mut ScanTotals {
        &mut self.totals
    }

    /// All rows in memory, whatever they take.
    ///
    /// # Errors
    /// If the file cannot be read, or is damaged; if a value is none of the type of its column.
    pub fn load(&self, threads: usize) -> Result<QueryResult> {
        let of_block = |number: usize| {
            self.with_block(number, |cells| Ok::<_, brc_core::Error>((self.rows_of(number), cells.to_vec())))
        };
        let blocks = parallel::map(self.blocks(), threads, of_block)?;
        Ok(QueryResult::of_blocks(&self.plan, blocks, self.totals.clone()))
    }

    fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    fn rows_of(&self, block: usize) -> usize {
        (self.starts[block + 1] - self.starts[block]) as usize
    }

    /// Calls `with` with the columns of a block.
    fn with_block<T, E: From<brc_core::Error>>(
        &self,
        number: usize,
        with: impl FnOnce(&[Cells]) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.source {
            Source::Groups { partials, sorted } => with(&Groups::new(&self.plan, partials).block(sorted, number)?.1),
            Source::Rows { parts, order } => {
                let rows = &order[self.starts[number] as usize..self.starts[number + 1] as usize];
                let column = |(column, answer): (usize, &Answer)| {
                    let mut cells = Cells::with_capacity(answer.value.logical_type, rows.len());
                    rows.iter().for_each(|&(part, row)| {
                        cells.push(parts[part as usize][column].get(row as usize));
                    });
                    cells
                };
                with(&self.plan.columns.iter().enumerate().map(column).collect::<Vec<_>>())
            }
            Source::File { blocks, spill } => blocks[number].with_cells(spill, with),
        }
    }
}

/// Where each of some blocks of so many rows begins, and the last ends.
fn starts(rows: impl Iterator<Item = usize>) -> Vec<u64> {
    let mut starts = vec![0];
    starts.extend(rows.scan(0, |end, rows| {
        *end += rows as u64;
        Some(*end)
    }));
    starts
}

impl Table for LongAnswer {
    fn path(&self) -> &Path {
        Path::new("the answer")
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn rows(&self) -> Option<u64> {
        self.starts.last().copied()
    }

    fn bytes(&self) -> Option<u64> {
        None
    }

    fn split(&self, index: u64) -> Option<Split> {
        let first = usize::try_from(index).ok()?.checked_mul(self.split_blocks)?;
        let behind = first.saturating_add(self.split_blocks).min(self.blocks());
        let (start, end) = (*self.starts.get(first)?, *self.starts.get(behind)?);
        (first < behind).then_some(Split { index, start, end })
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let columns = options.projection.iter().map(|&column| (column, Vec::new())).collect();
        Ok(Box::new(LongScanner { answer: self, columns }))
    }
}

struct LongScanner<'a> {
    answer: &'a LongAnswer,
    /// The columns, each with memory for the offsets of its strings.
    columns: Vec<(usize, Vec<i32>)>,
}

impl Scanner for LongScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Self { answer, columns } = self;
        let first = split.index as usize * answer.split_blocks;
        for block in first..(first + answer.split_blocks).min(answer.blocks()) {
            let rows_of_block = answer.rows_of(block);
            answer.with_block(block, |cells| {
                for first in (0..rows_of_block).step_by(BATCH_ROWS) {
                    let rows = first..rows_of_block.min(first + BATCH_ROWS);
                    let lent = columns.iter_mut();
                    let lent = lent.map(|(column, offsets)| cells[*column].column(rows.clone(), offsets));
                    let lent = lent.collect::<Result<Vec<_>, _>>();
                    let lent = lent.map_err(|fault: Fault| fault.error(answer.path()))?;
                    sink.batch(&Batch { rows: rows.len(), columns: &lent })?;
                }
                Ok::<_, ScanError>(())
            })?;
        }
        Ok(Some(Scanned { rows: split.end - split.start, ..Scanned::default() }))
    }
}
