//! The first wanted rows of a table: the scan ends as soon as there are enough.

use crate::answer::Answer;
use crate::answer::sorted_runs::no_cells;
use crate::answer::source::Source;
use crate::evaluate::computed::push_all;
use crate::plan::Plan;
use crate::scan::selector::Selector;
use crate::scan::totals::ScanTotals;
use crate::values::cells::Cells;
use crate::values::selection::row_numbers;
use brc_core::{Batch, Conjunct, Error, Progress, Result, Scanned, Schema, Sink, Split, Summary, Table, Worker, scan};
use brc_kernels::filter::valid_bits;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// The answer to a query that neither groups nor sorts, given the number of rows to read at most, with those of the
/// offset.
pub(crate) fn first(plan: &Plan, most: u64, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Answer> {
    // Types that are inferred may be widened by rows that are not needed, if other workers read ahead. Which of these
    // do is chance, and the answer must not be: where nothing else speaks for several workers, there is one.
    let threads = if table.inferred().is_some() && plan.predicate.is_none() { 1 } else { threads };
    let found = Mutex::new(Found::default());
    let [offset, most] = [plan.offset, most].map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
    let wanted = Wanted { rows: offset..most, starts: starts(plan, table) };
    if plan.limit != Some(0) {
        let mut options = plan.scan_options();
        if !wanted.starts.is_empty() {
            // Where a row lies is one more condition on it.
            options.conjuncts.push(Conjunct { columns: Vec::new(), predicate: None });
        }
        let new_worker = || Collector::new(plan, &wanted, table, &found);
        scan(table, &options, threads, progress, new_worker)?;
    }
    let Found { chunks, totals } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut cells = no_cells(plan);
    let (mut unsupported_columns, mut rows) = (offset, 0);
    for chunk in chunks.into_values() {
        let some = unsupported_columns.min(chunk.rows)..chunk.rows.min(most - rows);
        unsupported_columns -= some.start;
        for (all, of_chunk) in cells.iter_mut().zip(&chunk.cells) {
            some.clone().for_each(|row| {
                all.push(of_chunk.get(row - chunk.unsupported_columns));
            });
        }
        rows += chunk.rows.min(most - rows);
    }
    let rows = rows.saturating_sub(offset);
    Answer::new(plan, Source::in_memory(vec![(rows, cells)]), totals)
}

/// Which of all rows that meet the conditions are wanted.
struct Wanted {
    rows: Range<usize>,
    /// How many rows are before each of the first splits, and after the last of these: as far as splits know their
    /// number of rows. Empty if the first does not, or all rows from the first one on are wanted.
    starts: Vec<usize>,
}

impl Wanted {
    /// The rows before a split and those up to its end, if it knows how many rows it has.
    fn range_of(&self, split: &Split) -> Option<Range<usize>> {
        let split = usize::try_from(split.index).ok()?;
        Some(*self.starts.get(split)?..*self.starts.get(split + 1)?)
    }
}

/// How many rows are before each split, where that determines which rows are left out.
fn starts(plan: &Plan, table: &dyn Table) -> Vec<usize> {
    if plan.offset == 0 || plan.predicate.is_some() {
        return Vec::new();
    }
    let mut starts = vec![0];
    let rows = (0..).map_while(|split| usize::try_from(table.rows_of(split)?).ok());
    rows.for_each(|rows| starts.push(starts[starts.len() - 1] + rows));
    if starts.len() > 1 { starts } else { Vec::new() }
}

/// What all workers found, split by split.
#[derive(Default)]
struct Found {
    chunks: BTreeMap<u64, Chunk>,
    totals: ScanTotals,
}

impl Found {
    /// How many rows there are in the splits from the first one on of which none is missing.
    fn first_rows(&self) -> usize {
        let in_a_row = self.chunks.iter().zip(0..).take_while(|((split, _), expected)| *split == expected);
        in_a_row.map(|((_, chunk), _)| chunk.rows).sum()
    }

    /// Forgets the values of the first rows, as far as whole splits have no others.
    fn forget(&mut self, mut rows: usize) {
        for ((_, chunk), _) in self.chunks.iter_mut().zip(0..).take_while(|((split, _), expected)| **split == *expected)
        {
            let Some(left) = rows.checked_sub(chunk.rows) else { return };
            rows = left;
            if chunk.unsupported_columns < chunk.rows {
                (chunk.unsupported_columns, chunk.cells) = (chunk.rows, Vec::new());
            }
        }
    }
}

/// The rows of a split.
struct Chunk {
    rows: usize,
    /// This many of the first of them have no cells.
    unsupported_columns: usize,
    cells: Vec<Cells>,
}

impl Chunk {
    /// A chunk of left-out rows.
    fn new(plan: &Plan, unsupported_columns: usize) -> Self {
        Self { rows: unsupported_columns, unsupported_columns, cells: no_cells(plan) }
    }
}

/// One worker's share.
struct Collector<'a> {
    found: &'a Mutex<Found>,
    wanted: &'a Wanted,
    selector: Selector<'a>,
    chunk: Chunk,
    /// Of the rows of the split to come, this many are left out.
    unsupported_columns: usize,
    /// How many rows of the split are wanted at most, those left out counted.
    most: usize,
    split: u64,
}

impl<'a> Collector<'a> {
    fn new(plan: &'a Plan, wanted: &'a Wanted, table: &'a dyn Table, found: &'a Mutex<Found>) -> Self {
        let selector = Selector::new(plan, table, plan.columns.iter().map(|answer| &answer.value));
        Self { found, wanted, selector, chunk: Chunk::new(plan, 0), unsupported_columns: 0, most: 0, split: 0 }
    }

    /// Takes note of the next rows. Returns how many of them are left out.
    fn leave_out(&mut self, rows: usize) -> usize {
        let unsupported_columns = self.unsupported_columns.min(rows);
        self.unsupported_columns -= unsupported_columns;
        unsupported_columns
    }

    /// Takes the wanted rows of a batch; `None` is all of them.
    fn take(&mut self, batch: &Batch<'_>, wanted: Option<Vec<u32>>) -> Result<()> {
        let Self { selector, chunk, most, .. } = self;
        let path = selector.path();
        chunk.rows += selector.select(batch, wanted, *most - chunk.rows, |selected| {
            for (cells, column) in chunk.cells.iter_mut().zip(selected.columns) {
                push_all(column, selected.rows, cells).map_err(|fault| fault.error(path))?;
            }
            Ok(())
        })?;
        if chunk.rows >= *most { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Hands over the rows of the split. Returns whether there are enough by now.
    fn hand_over(&mut self) -> bool {
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.selector.plan(), 0));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.chunks.entry(self.split).or_insert(chunk);
        found.forget(self.wanted.rows.start);
        found.first_rows() >= self.wanted.rows.end
    }
}

impl Sink for Collector<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.selector.plan().is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let wanted = match self.leave_out(batch.rows) {
            0 => self.selector.wanted(batch)?,
            // There are no conditions.
            unsupported_columns => Some((unsupported_columns as u32..batch.rows as u32).collect()),
        };
        self.take(batch, wanted)
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        if self.wanted.starts.is_empty() {
            return self.selector.test(conjunct, batch, rows);
        }
        let unsupported_columns = self.leave_out(batch.rows);
        rows.iter_mut().enumerate().for_each(|(index, word)| *word &= !valid_bits(unsupported_columns, index));
        Ok(batch.rows - unsupported_columns)
    }

    fn wants(&self, position: usize) -> bool {
        self.selector.wants(position)
    }

    fn forget_codes(&mut self) {
        self.selector.forget_codes();
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        self.take(batch, rows.map(row_numbers))
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("the request does not allow summaries")
    }
}

impl Worker for Collector<'_> {
    fn split_begins(&mut self, split: &Split) {
        let Range { start, end } = self.wanted.rows;
        // Of a split that does not know its number of rows, all are kept until those of the splits before it are known.
        [self.unsupported_columns, self.most] = match self.wanted.range_of(split) {
            Some(rows) => [start, end].map(|row| row.saturating_sub(rows.start)),
            None => [0, end],
        };
        self.split = split.index;
        self.chunk = Chunk::new(self.selector.plan(), self.unsupported_columns);
    }

    fn skips(&mut self, split: &Split) -> Option<u64> {
        let rows = self.wanted.range_of(split)?.len();
        let is_needless = rows <= self.unsupported_columns || self.most == 0;
        is_needless.then(|| {
            self.chunk = Chunk::new(self.selector.plan(), rows);
            rows as u64
        })
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).totals.add(&ScanTotals::from(&scanned));
        if self.hand_over() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Err(Error::Widened)
    }

    fn split_failed(&mut self, _: &Split) {
        self.hand_over();
    }
}
