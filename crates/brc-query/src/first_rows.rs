//! The first rows of a table that a question wants: as soon as there are enough, the scan ends.

use crate::cells::Cells;
use crate::computed::push_all;
use crate::plan::Plan;
use crate::result::QueryResult;
use crate::selector::Selector;
use crate::totals::ScanTotals;
use crate::wanted::row_numbers;
use brc_core::{Batch, Error, Progress, Result, Scanned, Schema, Sink, Split, Summary, Table, Worker, scan};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Nothing but an error stops a scan; nobody sees this one.
const ENOUGH: &str = "there are enough rows";

/// The answer to a question that groups and sorts nothing, and has so many rows at most, those left out counted.
pub(crate) fn first(
    plan: &Plan,
    most: u64,
    table: &dyn Table,
    threads: usize,
    progress: &Progress,
) -> Result<QueryResult> {
    let (found, most) = (Mutex::new(Found::default()), usize::try_from(most).unwrap_or(usize::MAX));
    if plan.limit != Some(0) {
        let new_worker = || Collector::new(plan, most, table, &found);
        match scan(table, &plan.scan_options(), threads, progress, new_worker) {
            Err(Error::Usage(reason)) if reason == ENOUGH => {}
            outcome => drop(outcome?),
        }
    }
    let Found { chunks, totals } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut cells: Vec<Cells> = plan.columns.iter().map(|answer| Cells::new(answer.value.logical_type)).collect();
    let (mut left_out, mut rows) = (usize::try_from(plan.offset).unwrap_or(usize::MAX), 0);
    for chunk in chunks.into_values() {
        let some = left_out.min(chunk.rows)..chunk.rows.min(most - rows);
        left_out -= some.start;
        for (all, of_chunk) in cells.iter_mut().zip(&chunk.cells) {
            some.clone().for_each(|row| {
                all.push(of_chunk.get(row));
            });
        }
        rows += chunk.rows.min(most - rows);
    }
    let rows = rows.saturating_sub(usize::try_from(plan.offset).unwrap_or(usize::MAX));
    Ok(QueryResult::of_cells(plan, cells, rows, totals))
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
}

/// The rows of a split.
struct Chunk {
    rows: usize,
    cells: Vec<Cells>,
}

impl Chunk {
    fn new(plan: &Plan) -> Self {
        Self { rows: 0, cells: plan.columns.iter().map(|answer| Cells::new(answer.value.logical_type)).collect() }
    }
}

/// One worker's share.
struct Collector<'a> {
    found: &'a Mutex<Found>,
    selector: Selector<'a>,
    chunk: Chunk,
    /// How many rows of a split are wanted at most.
    most: usize,
    split: u64,
}

impl<'a> Collector<'a> {
    fn new(plan: &'a Plan, most: usize, table: &'a dyn Table, found: &'a Mutex<Found>) -> Self {
        let selector = Selector::new(plan, table, plan.columns.iter().map(|answer| &answer.value));
        Self { found, selector, chunk: Chunk::new(plan), most, split: 0 }
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
        if chunk.rows >= *most { Err(Error::Usage(ENOUGH.to_owned())) } else { Ok(()) }
    }

    /// Hands over the rows of the split. Returns whether there are enough by now.
    fn hand_over(&mut self) -> bool {
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.selector.plan()));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.chunks.entry(self.split).or_insert(chunk);
        found.first_rows() >= self.most
    }
}

impl Sink for Collector<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.selector.plan().is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let wanted = self.selector.wanted(batch)?;
        self.take(batch, wanted)
    }

    fn test(&mut self, conjunct: usize, batch: &Batch<'_>, rows: &mut [u64]) -> Result<usize> {
        self.selector.test(conjunct, batch, rows)
    }

    fn tested(&mut self, batch: &Batch<'_>, rows: Option<&[u64]>) -> Result<()> {
        self.take(batch, rows.map(row_numbers))
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl Worker for Collector<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.split = split.index;
        self.chunk = Chunk::new(self.selector.plan());
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).totals.add(&ScanTotals::from(&scanned));
        if self.hand_over() { Err(Error::Usage(ENOUGH.to_owned())) } else { Ok(()) }
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Err(Error::Widened)
    }

    fn split_failed(&mut self, _: &Split) {
        self.hand_over();
    }
}
