//! An answer of many rows: a table whose rows are made of groups, or read from a file, when they are looked at. So the values of
//! all of them are never in memory at once, and what is printed is still in the caches.

use crate::cells::Cells;
use crate::grouped::{BLOCK, Groups, Sorted};
use crate::lender::Lender;
use crate::memory::Memory;
use crate::parallel;
use crate::partial::Partial;
use crate::partitions::spill::Spill;
use crate::plan::{Answer, Plan};
use crate::result::QueryResult;
use crate::runs::Block;
use crate::totals::ScanTotals;
use brc_core::{Error, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split, Table};
use std::borrow::Cow;
use std::path::Path;

/// How many blocks a split has if memory allows: as many as make a good row group.
const SPLIT_BLOCKS: usize = 64;

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
        Ok(Self { split_blocks, ..Self::new(plan, Source::File { blocks, spill }, starts, totals)? })
    }

    /// The answer that groups give, in that order: settled partials that have no group in common.
    pub(crate) fn of_groups(plan: &Plan, partials: Vec<Partial>, sorted: Sorted, totals: ScanTotals) -> Result<Self> {
        let starts = starts((0..sorted.blocks()).map(|block| sorted.rows(block)));
        Self::new(plan, Source::Groups { partials, sorted }, starts, totals)
    }

    /// The answer that rows of these parts give, each told by its part and its place there.
    pub(crate) fn of_rows(
        plan: &Plan,
        parts: Vec<Vec<Cells>>,
        order: Vec<(u32, u32)>,
        totals: ScanTotals,
    ) -> Result<Self> {
        let starts = starts(order.chunks(BLOCK).map(<[_]>::len));
        Self::new(plan, Source::Rows { parts, order }, starts, totals)
    }

    fn new(plan: &Plan, source: Source, starts: Vec<u64>, totals: ScanTotals) -> Result<Self> {
        let (plan, schema) = (plan.clone(), plan.answer_schema()?);
        Ok(Self { plan, schema, source, starts, split_blocks: SPLIT_BLOCKS, totals })
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
        let of_block = |number: usize| Ok::<_, Error>((self.rows_of(number), self.block(number)?.into_owned()));
        let blocks = parallel::map(self.blocks(), threads, of_block)?;
        Ok(QueryResult::of_blocks(&self.plan, blocks, self.totals.clone()))
    }

    fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    fn rows_of(&self, block: usize) -> usize {
        (self.starts[block + 1] - self.starts[block]) as usize
    }

    /// The columns of a block.
    fn block(&self, number: usize) -> Result<Cow<'_, [Cells]>> {
        match &self.source {
            Source::Groups { partials, sorted } => {
                Ok(Cow::Owned(Groups::new(&self.plan, partials).block(sorted, number)?.1))
            }
            Source::Rows { parts, order } => {
                let rows = &order[self.starts[number] as usize..self.starts[number + 1] as usize];
                let column = |(column, answer): (usize, &Answer)| {
                    let mut cells = Cells::with_capacity(answer.value.logical_type, rows.len());
                    rows.iter().for_each(|&(part, row)| {
                        cells.push(parts[part as usize][column].get(row as usize));
                    });
                    cells
                };
                Ok(Cow::Owned(self.plan.columns.iter().enumerate().map(column).collect()))
            }
            Source::File { blocks, spill } => blocks[number].cells(spill),
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
        Ok(Box::new(LongScanner { answer: self, lender: Lender::new(options) }))
    }
}

struct LongScanner<'a> {
    answer: &'a LongAnswer,
    lender: Lender,
}

impl Scanner for LongScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let Self { answer, lender } = self;
        let first = split.index as usize * answer.split_blocks;
        for block in first..(first + answer.split_blocks).min(answer.blocks()) {
            lender.deliver(&answer.block(block)?, 0..answer.rows_of(block), sink)?;
        }
        Ok(Some(Scanned { rows: split.end - split.start, ..Scanned::default() }))
    }
}
