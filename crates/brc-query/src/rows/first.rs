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
use brc_core::{Batch, Conjunct, Error, Progress, Result, Scanned, Schema, Sink, Split, Table, Worker, scan};
use brc_kernels::filter::valid_bits;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The answer to a query that neither groups nor sorts, given the number of rows to read at most, with those of the
/// offset.
pub(crate) fn first(plan: &Plan, most: u64, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Answer> {
    // Workers that read ahead may widen inferred types by rows that are not needed. Which rows they read is chance, but
    // the answer must always be the same. So one worker reads a text, unless a condition has to be tested on many rows.
    let threads = if table.inferred().is_some() && plan.predicate.is_none() { 1 } else { threads };
    let found = Mutex::new(Found::default());
    let [offset, most] = [plan.offset, most].map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
    let wanted = Wanted { rows: offset..most, starts: starts(plan, table) };
    if plan.limit != Some(0) {
        let mut options = plan.scan_options();
        if !wanted.starts.is_empty() {
            // The position of a row is one more condition.
            options.conjuncts.push(Conjunct { columns: Vec::new(), predicate: None });
        }
        let new_worker = || Collector::new(plan, &wanted, table, &found);
        scan(table, &options, threads, progress, new_worker)?;
    }
    let Found { chunks, totals } = found.into_inner();
    let mut cells = no_cells(plan);
    let (mut skipped_rows, mut rows) = (offset, 0);
    for chunk in chunks.into_values() {
        let some = skipped_rows.min(chunk.rows)..chunk.rows.min(most - rows);
        skipped_rows -= some.start;
        for (all, of_chunk) in cells.iter_mut().zip(&chunk.cells) {
            some.clone().for_each(|row| {
                all.push(of_chunk.get(row - chunk.skipped_rows));
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
    /// The number of rows before each split, then that of all rows, up to the first split of unknown length. Empty if
    /// that is the first split, or if no rows are skipped.
    starts: Vec<usize>,
}

impl Wanted {
    /// The rows before a split and those up to its end, if it knows how many rows it has.
    fn range_of(&self, split: &Split) -> Option<Range<usize>> {
        let split = usize::try_from(split.index).ok()?;
        Some(*self.starts.get(split)?..*self.starts.get(split + 1)?)
    }
}

/// The number of rows before each split, if it tells which rows are skipped.
fn starts(plan: &Plan, table: &dyn Table) -> Vec<usize> {
    if plan.offset == 0 || plan.predicate.is_some() {
        return Vec::new();
    }
    let mut starts = vec![0];
    let rows = (0..).map_while(|split| usize::try_from(table.rows_of(split)?).ok());
    rows.for_each(|rows| starts.push(starts[starts.len() - 1] + rows));
    if starts.len() > 1 { starts } else { Vec::new() }
}

/// The rows that all workers found, by split.
#[derive(Default)]
struct Found {
    chunks: BTreeMap<u64, Chunk>,
    totals: ScanTotals,
}

impl Found {
    /// The number of rows of all splits before the first missing one.
    fn first_rows(&self) -> usize {
        let in_a_row = self.chunks.iter().zip(0..).take_while(|((split, _), expected)| *split == expected);
        in_a_row.map(|((_, chunk), _)| chunk.rows).sum()
    }

    /// Frees the values of splits that lie within the first `rows` rows.
    fn forget(&mut self, mut rows: usize) {
        for ((_, chunk), _) in self.chunks.iter_mut().zip(0..).take_while(|((split, _), expected)| **split == *expected)
        {
            let Some(left) = rows.checked_sub(chunk.rows) else { return };
            rows = left;
            if chunk.skipped_rows < chunk.rows {
                (chunk.skipped_rows, chunk.cells) = (chunk.rows, Vec::new());
            }
        }
    }
}

/// The rows of a split.
struct Chunk {
    rows: usize,
    /// The number of rows at the start that are skipped: they have no cells.
    skipped_rows: usize,
    cells: Vec<Cells>,
}

impl Chunk {
    /// A chunk of skipped rows.
    fn new(plan: &Plan, skipped_rows: usize) -> Self {
        Self { rows: skipped_rows, skipped_rows, cells: no_cells(plan) }
    }
}

/// One worker.
struct Collector<'a> {
    found: &'a Mutex<Found>,
    wanted: &'a Wanted,
    selector: Selector<'a>,
    chunk: Chunk,
    /// The number of rows of the split that are still to be skipped.
    skipped_rows: usize,
    /// The limit of rows of the split, including skipped ones.
    most: usize,
    split: u64,
    read: RowsRead,
}

/// How many rows of a split were read.
#[derive(Default)]
struct RowsRead {
    rows: u64,
    /// The condition that is evaluated first.
    first_conjunct: Option<usize>,
}

impl RowsRead {
    /// Counts the rows of a batch for which a condition is evaluated, once.
    fn add_tested(&mut self, conjunct: usize, rows: usize) {
        if *self.first_conjunct.get_or_insert(conjunct) == conjunct {
            self.rows += rows as u64;
        }
    }
}

impl<'a> Collector<'a> {
    fn new(plan: &'a Plan, wanted: &'a Wanted, table: &'a dyn Table, found: &'a Mutex<Found>) -> Self {
        let selector = Selector::new(plan, table, plan.columns.iter().map(|answer| &answer.value));
        Self {
            found,
            wanted,
            selector,
            chunk: Chunk::new(plan, 0),
            skipped_rows: 0,
            most: 0,
            split: 0,
            read: RowsRead::default(),
        }
    }

    /// Counts the next rows. Returns how many of them are skipped.
    fn skip(&mut self, rows: usize) -> usize {
        let skipped_rows = self.skipped_rows.min(rows);
        self.skipped_rows -= skipped_rows;
        skipped_rows
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

    /// Hands over the rows of the split. Returns whether there are enough rows now.
    fn hand_over(&mut self) -> bool {
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.selector.plan(), 0));
        let mut found = self.found.lock();
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
        self.read.rows += batch.rows as u64;
        let wanted = match self.skip(batch.rows) {
            0 => self.selector.wanted(batch)?,
            // There are no conditions.
            skipped_rows => Some((skipped_rows as u32..batch.rows as u32).collect()),
        };
        self.take(batch, wanted)
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        self.read.add_tested(conjunct, batch.rows);
        if self.wanted.starts.is_empty() {
            return self.selector.test(conjunct, batch, rows);
        }
        let skipped_rows = self.skip(batch.rows);
        rows.iter_mut().enumerate().for_each(|(index, word)| *word &= !valid_bits(skipped_rows, index));
        Ok(batch.rows - skipped_rows)
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
}

impl Worker for Collector<'_> {
    fn split_begins(&mut self, split: &Split) {
        let Range { start, end } = self.wanted.rows;
        // Without the position of the split, all its rows are kept until the splits before it are read.
        [self.skipped_rows, self.most] = match self.wanted.range_of(split) {
            Some(rows) => [start, end].map(|row| row.saturating_sub(rows.start)),
            None => [0, end],
        };
        (self.split, self.read) = (split.index, RowsRead::default());
        self.chunk = Chunk::new(self.selector.plan(), self.skipped_rows);
    }

    fn skips(&mut self, split: &Split) -> Option<u64> {
        let rows = self.wanted.range_of(split)?.len();
        let is_needless = rows <= self.skipped_rows || self.most == 0;
        is_needless.then(|| {
            self.chunk = Chunk::new(self.selector.plan(), rows);
            rows as u64
        })
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.found.lock().totals.add(&ScanTotals::from(&scanned));
        self.read = RowsRead::default();
        if self.hand_over() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Err(Error::Widened)
    }

    fn split_failed(&mut self, _: &Split) {
        if self.chunk.rows >= self.most && self.read.rows > 0 {
            let totals = ScanTotals { unfinished_splits: 1, rows: self.read.rows, ..ScanTotals::default() };
            self.found.lock().totals.add(&totals);
        }
        self.hand_over();
    }
}
