//! Answers questions that group nothing: each row of the table that is wanted gives one of the answer, in the table's order
//! unless another one is asked for.

use crate::cells::Cells;
use crate::evaluate::{Columns, Lent, Program};
use crate::filter::{Filter, Selection};
use crate::inputs::{RowPlace, Stage};
use crate::node::Typed;
use crate::order::{self, OrderKey, SortedPart};
use crate::plan::Plan;
use crate::result::{QueryResult, push_all};
use crate::totals::ScanTotals;
use crate::vector::{Fault, Vector};
use crate::wanted::check_lengths;
use brc_core::{Batch, Error, Progress, Result, Scanned, Schema, Sink, Split, Summary, Table, Worker, scan};
use brc_kernels::cpu::Level;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Nothing but an error stops a scan; nobody sees this one.
const ENOUGH: &str = "there are enough rows";

/// Scans a table for the rows of an answer.
pub(crate) fn select(plan: &Plan, table: &dyn Table, threads: usize, progress: &Progress) -> Result<QueryResult> {
    let found = Mutex::new(Found::default());
    let new_worker = || Selector::new(plan, table, &found);
    let outcome = if plan.limit == Some(0) {
        Ok(())
    } else {
        scan(table, &plan.scan_options(), threads, progress, new_worker).map(drop)
    };
    match outcome {
        Err(Error::Usage(reason)) if reason == ENOUGH => {}
        outcome => outcome?,
    }
    let Found { chunks, totals } = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(answer(plan, chunks, totals))
}

/// Puts the rows of all splits together.
fn answer(plan: &Plan, chunks: BTreeMap<u64, Chunk>, totals: ScanTotals) -> QueryResult {
    let mut all = Chunk::new(plan);
    for chunk in chunks.into_values() {
        all.append(&chunk);
    }
    let keys = all.order.into_iter().zip(&plan.order_by).map(|(cells, key)| OrderKey {
        cells,
        descending: key.descending,
        nulls_first: key.nulls_first,
    });
    let part = SortedPart { rows: all.rows, keys: keys.collect(), packed: None };
    let rows: Vec<u32> = order::sorted(&[part], plan.offset, plan.limit, 1).map(|(_, row)| row).collect();
    let cells = all.cells.iter().zip(&plan.columns).map(|(cells, it)| cells.take(it.value.logical_type, &rows));
    QueryResult::of_cells(plan, cells.collect(), rows.len(), totals)
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
    /// What they are sorted by.
    order: Vec<Cells>,
}

impl Chunk {
    fn new(plan: &Plan) -> Self {
        let cells = |typed: &Typed| Cells::new(typed.logical_type);
        Self {
            rows: 0,
            cells: plan.columns.iter().map(|answer| cells(&answer.value)).collect(),
            order: plan.order_by.iter().map(|key| cells(&key.value)).collect(),
        }
    }

    fn append(&mut self, other: &Self) {
        let pairs = self.cells.iter_mut().zip(&other.cells).chain(self.order.iter_mut().zip(&other.order));
        for (ours, theirs) in pairs {
            (0..other.rows).for_each(|row| {
                ours.push(theirs.get(row));
            });
        }
        self.rows += other.rows;
    }
}

/// One worker's share.
struct Selector<'a> {
    plan: &'a Plan,
    table: &'a dyn Table,
    found: &'a Mutex<Found>,
    level: Level,
    filter: Option<Filter>,
    conditions: Stage,
    /// Computes the output columns, then what is sorted by.
    programs: Vec<(Program, &'a Typed)>,
    chunk: Chunk,
    /// How many rows of a split are wanted at most.
    most: usize,
    split: u64,
}

impl<'a> Selector<'a> {
    fn new(plan: &'a Plan, table: &'a dyn Table, found: &'a Mutex<Found>) -> Self {
        let (scanned, projection, fields) = (plan.projection(), plan.batch_columns(), plan.fields());
        let of_table = Columns { fields: &fields, projection: &scanned };
        let values = plan.columns.iter().map(|answer| &answer.value).chain(plan.order_by.iter().map(|key| &key.value));
        let most = plan.limit.map_or(u64::MAX, |limit| limit.saturating_add(plan.offset));
        Self {
            plan,
            table,
            found,
            level: Level::best(),
            filter: plan.predicate.as_ref().map(|predicate| Filter::new(predicate, &fields, &projection)),
            conditions: Stage::new(&plan.computed, of_table),
            programs: values.map(|value| (Program::new(value, of_table), value)).collect(),
            chunk: Chunk::new(plan),
            most: if plan.order_by.is_empty() { usize::try_from(most).unwrap_or(usize::MAX) } else { usize::MAX },
            split: 0,
        }
    }

    fn take(&mut self, batch: &Batch<'_>) -> std::result::Result<(), Fault> {
        check_lengths(batch.rows, batch.columns)?;
        let conditions = self.conditions.run(self.level, batch, None, RowPlace::default())?;
        let mut columns = batch.columns.to_vec();
        columns.extend(conditions.iter().map(Lent::column));
        let filtered = Batch { rows: batch.rows, columns: &columns };
        let selection = match &mut self.filter {
            Some(filter) => filter.select(self.level, &filtered)?,
            None => Selection::All,
        };
        let left = self.most - self.chunk.rows;
        let rows: Vec<u32> = match selection {
            Selection::All => (0..batch.rows as u32).take(left).collect(),
            Selection::Some(mask, _) => {
                let is_wanted = |row: &u32| mask[*row as usize / 64] >> (row % 64) & 1 == 1;
                (0..batch.rows as u32).filter(is_wanted).take(left).collect()
            }
        };
        if rows.is_empty() {
            return Ok(());
        }
        let fields = self.plan.schema().fields();
        let types = self.plan.projection().into_iter().map(|column| fields[column].logical_type);
        let gathered = if rows.len() == batch.rows {
            Vec::new()
        } else {
            let gather = |(column, logical_type)| Vector::gather(logical_type, column, &rows);
            batch.columns.iter().zip(types).map(gather).collect::<std::result::Result<Vec<_>, _>>()?
        };
        let wanted: Vec<_> = gathered.iter().map(Vector::column).collect();
        let batch = if gathered.is_empty() { *batch } else { Batch { rows: rows.len(), columns: &wanted } };
        let cells = self.chunk.cells.iter_mut().chain(&mut self.chunk.order);
        for ((program, _), cells) in self.programs.iter_mut().zip(cells) {
            let found = program.run(self.level, &batch)?;
            push_all(&found.column(), rows.len(), cells)?;
        }
        self.chunk.rows += rows.len();
        Ok(())
    }

    /// Hands over the rows of the split. Returns whether there are enough by now.
    fn hand_over(&mut self) -> bool {
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.plan));
        let mut found = self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        found.chunks.entry(self.split).or_insert(chunk);
        self.most < usize::MAX && found.first_rows() >= self.most
    }
}

impl Sink for Selector<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.plan.is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        self.take(batch).map_err(|fault| fault.error(self.table.path()))?;
        if self.chunk.rows >= self.most { Err(Error::Usage(ENOUGH.to_owned())) } else { Ok(()) }
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl Worker for Selector<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.split = split.index;
        self.chunk = Chunk::new(self.plan);
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).totals.add(&ScanTotals::from(&scanned));
        if self.hand_over() { Err(Error::Usage(ENOUGH.to_owned())) } else { Ok(()) }
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Err(Error::Widened)
    }

    fn split_failed(&mut self, _: &Split) {
        self.hand_over();
    }
}
