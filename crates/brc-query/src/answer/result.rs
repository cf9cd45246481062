//! An answer in memory.

use crate::accumulate::partial::Partial;
use crate::finish::groups::{BLOCK, Groups, kind_of};
use crate::plan::{OutputColumn, Plan};
use crate::runtime::parallel;
use crate::scan::totals::ScanTotals;
use crate::values::cells::Cells;
use brc_core::{Error, Result, Value};
use std::collections::HashSet;

/// An answer is computed in about this many blocks in parallel, because some rows, such as medians, take long.
const BLOCKS: usize = 8;

/// About how many rows a block has at least.
const SMALL_BLOCK: usize = 1 << 10;

/// The sorted rows of an answer.
#[derive(Debug, Clone)]
pub struct QueryResult {
    columns: Vec<OutputColumn>,
    /// The columns' values, some rows after the other.
    blocks: Vec<Vec<Cells>>,
    /// The first row of each block.
    starts: Vec<usize>,
    rows: usize,
    totals: ScanTotals,
}

impl QueryResult {
    /// The answer that groups give: settled partials that have no group in common.
    pub(crate) fn of_groups(plan: &Plan, partials: Vec<Partial>, threads: usize, totals: ScanTotals) -> Result<Self> {
        let groups = Groups::new(plan, &partials);
        let sorted = groups.in_order(threads)?;
        let blocks: Vec<_> = sorted.chunks((sorted.len() / BLOCKS).clamp(SMALL_BLOCK, BLOCK)).collect();
        let block = |number: usize| Ok::<_, Error>((blocks[number].len(), groups.rows(blocks[number])?));
        let blocks = parallel::try_map(blocks.len(), threads, block)?;
        let answer = Self::of_blocks(plan, blocks, totals);
        if !plan.distinct {
            return Ok(answer);
        }
        let kept = first_of_their_kind(plan, &answer);
        let mut cells: Vec<Cells> = plan.columns.iter().map(|it| Cells::new(it.value.logical_type)).collect();
        for &row in &kept {
            for (column, cells) in cells.iter_mut().enumerate() {
                cells.push(answer.value(row, column));
            }
        }
        Ok(Self::of_cells(plan, cells, kept.len(), answer.totals))
    }

    /// The answer of which these are the columns.
    pub(crate) fn of_cells(plan: &Plan, cells: Vec<Cells>, rows: usize, totals: ScanTotals) -> Self {
        Self { columns: plan.columns(), blocks: vec![cells], starts: vec![0], rows, totals }
    }

    /// The answer whose rows are in these blocks, each with how many there are.
    pub(crate) fn of_blocks(plan: &Plan, parts: Vec<(usize, Vec<Cells>)>, totals: ScanTotals) -> Self {
        let (mut blocks, mut starts, mut rows) = (Vec::new(), Vec::new(), 0);
        for (more, cells) in parts {
            starts.push(rows);
            blocks.push(cells);
            rows += more;
        }
        Self { columns: plan.columns(), blocks, starts, rows, totals }
    }

    /// The columns of some rows after the other, with how many there are.
    pub(crate) fn into_blocks(self) -> impl Iterator<Item = (usize, Vec<Cells>)> {
        let ends = self.starts.clone().into_iter().skip(1).chain([self.rows]);
        let rows: Vec<usize> = self.starts.into_iter().zip(ends).map(|(start, end)| end - start).collect();
        rows.into_iter().zip(self.blocks)
    }

    /// The value of a row; `None` if it is null.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<Value<'_>> {
        let (block, place, _) = self.block(row);
        block[column].get(place)
    }

    /// The columns of the block of a row, the index of the row in it, and how many rows there are from there
    /// on.
    pub(crate) fn block(&self, row: usize) -> (&[Cells], usize, usize) {
        let next = self.starts.partition_point(|&start| start <= row);
        let end = self.starts.get(next).copied().unwrap_or(self.rows);
        (&self.blocks[next - 1], row - self.starts[next - 1], end - row)
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[OutputColumn] {
        &self.columns
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..self.rows).map(|row| Row { answer: self, row, column: 0 })
    }

    pub(crate) fn totals_mut(&mut self) -> &mut ScanTotals {
        &mut self.totals
    }

    /// What was done to find the answer.
    #[must_use]
    pub fn totals(&self) -> &ScanTotals {
        &self.totals
    }
}

/// One row of an answer: an iterator over its values, one for each column; `None` is null.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    answer: &'a QueryResult,
    row: usize,
    column: usize,
}

impl<'a> Row<'a> {
    /// The value of a column; `None` if it is null.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    pub fn value(&self, column: usize) -> Option<Value<'a>> {
        self.answer.value(self.row, column)
    }
}

impl<'a> Iterator for Row<'a> {
    type Item = Option<Value<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let column = self.column;
        self.column += 1;
        (column < self.answer.columns.len()).then(|| self.value(column))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.answer.columns.len().saturating_sub(self.column);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Row<'_> {}

/// The rows that are the first of their kind, as far as they are wanted.
fn first_of_their_kind(plan: &Plan, answer: &QueryResult) -> Vec<usize> {
    let mut known = HashSet::new();
    let is_new = |&row: &usize| known.insert(kind_of(plan, |column| answer.value(row, column)));
    let skipped = usize::try_from(plan.offset).unwrap_or(usize::MAX);
    let wanted = plan.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    (0..answer.rows).filter(is_new).skip(skipped).take(wanted).collect()
}
