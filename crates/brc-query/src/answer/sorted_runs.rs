//! Sorted runs: where memory is short, the rows of each part of an answer are sorted by themselves, spilled if need be,
//! and merged at the end.

use crate::accumulate::partial::Partial;
use crate::finish::groups::kind_of;
use crate::finish::groups::{BLOCK, GroupRef, Groups};
use crate::functions::typed::Typed;
use crate::partitions::in_order;
use crate::partitions::spill::{Frame, Spill};
use crate::plan::{OutputExpression, Plan};
use crate::runtime::memory::Memory;
use crate::values::cells::Cells;
use brc_core::{Error, Result, interrupt};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, HashSet};

/// Some rows of an answer, in memory or in a file.
#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) rows: usize,
    cells: Held,
    /// Why the only row has no values, but what it is sorted by: an error if it is a row of the answer.
    fault: Option<Error>,
}

#[derive(Debug)]
enum Held {
    Here(Vec<Cells>),
    Spilled(Frame),
}

impl Block {
    fn new(rows: usize, mut cells: Vec<Cells>, spill: Option<&Spill>) -> Result<Self> {
        let cells = match spill {
            Some(spill) if !cells.is_empty() => {
                cells.iter_mut().for_each(Cells::write_out);
                Held::Spilled(spill.write_value(&cells)?)
            }
            Some(_) | None => Held::Here(cells),
        };
        Ok(Self { rows, cells, fault: None })
    }

    /// The values, column by column.
    pub(crate) fn into_cells(self, spill: &Spill) -> Result<Vec<Cells>> {
        match self.cells {
            Held::Here(cells) => Ok(cells),
            Held::Spilled(frame) => spill.read_value(&frame),
        }
    }

    /// The same, where they are read again.
    pub(crate) fn cells(&self, spill: &Spill) -> Result<Cow<'_, [Cells]>> {
        Ok(match &self.cells {
            Held::Here(cells) => Cow::Borrowed(cells),
            Held::Spilled(frame) => Cow::Owned(spill.read_value(frame)?),
        })
    }

    /// About the bytes that the values take in memory.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.cells {
            Held::Here(cells) => cells.iter().map(Cells::bytes).sum::<usize>() as u64,
            Held::Spilled(frame) => frame.length() as u64,
        }
    }

    pub(crate) fn is_spilled(&self) -> bool {
        matches!(self.cells, Held::Spilled(_))
    }
}

/// How many runs of groups there usually are: one for each part.
const RUNS_OF_GROUPS: u64 = 256;

/// How many runs of rows there may be before those that are merged take more memory than they should.
const RUNS_OF_ROWS: u64 = 1024;

/// Makes sorted runs, and merges them.
#[derive(Debug)]
pub(crate) struct Sorter<'a> {
    plan: &'a Plan,
    /// How many columns a run has: those of the answer, then what is sorted by.
    width: usize,
    /// How many runs are expected at most.
    runs: u64,
    spill: &'a Spill,
    memory: &'a Memory,
}

impl<'a> Sorter<'a> {
    /// For the groups of a plan.
    pub(crate) fn of_groups(plan: &'a Plan, spill: &'a Spill, memory: &'a Memory) -> Self {
        let width = plan.columns.len() + plan.order_by.len() + plan.keys.len();
        Self { plan, width, runs: RUNS_OF_GROUPS, spill, memory }
    }

    /// For the rows of a plan that groups nothing; ties are sorted by row number.
    pub(crate) fn of_rows(plan: &'a Plan, spill: &'a Spill, memory: &'a Memory) -> Self {
        let width = plan.columns.len() + plan.order_by.len() + 1;
        Self { plan, width, runs: RUNS_OF_ROWS, spill, memory }
    }

    /// The plan of which a run of groups is the answer: it has what is sorted by as columns too.
    pub(crate) fn plan_of_run(&self) -> Plan {
        let plan = self.plan;
        let mut of_run = plan.clone();
        let sorted_by = plan.order_by.iter().map(|key| key.value.clone());
        let fields = plan.group_fields().into_iter().take(plan.keys.len()).enumerate();
        let keys = fields.map(|(key, field)| Typed::column(key, field.logical_type, field.nullable));
        let answer = |value| OutputExpression { name: String::new(), value };
        of_run.columns.extend(sorted_by.chain(keys).map(answer));
        of_run.limit = if plan.distinct { None } else { plan.limit.map(|limit| limit.saturating_add(plan.offset)) };
        of_run.offset = 0;
        of_run.distinct = false;
        of_run
    }

    /// The run of the sorted rows that some groups give, of which this is the plan.
    pub(crate) fn run_of_groups(&self, of_run: &Plan, groups: Partial) -> Result<Vec<Block>> {
        let partials = [in_order(of_run, groups)?];
        let groups = Groups::new(of_run, &partials);
        let mut run = Vec::new();
        for places in groups.in_order(1)?.chunks(BLOCK) {
            match groups.rows(places) {
                Ok(cells) => self.hold(places.len(), cells, &mut run)?,
                Err(error) if self.plan.limit.is_none() || self.plan.distinct => return Err(error),
                // Perhaps of a row that is none of the answer.
                Err(_) => self.hold_each(of_run, &partials, places, &mut run)?,
            }
        }
        Ok(run)
    }

    /// The run of sorted rows with these columns, in sequence.
    pub(crate) fn run(&self, sorted: impl Iterator<Item = (usize, Vec<Cells>)>) -> Result<Vec<Block>> {
        let mut run = Vec::new();
        for (rows, cells) in sorted {
            self.hold(rows, cells, &mut run)?;
        }
        Ok(run)
    }

    /// Appends rows to a run.
    fn hold(&self, rows: usize, cells: Vec<Cells>, run: &mut Vec<Block>) -> Result<()> {
        if !self.memory.is_short() {
            run.push(Block::new(rows, cells, None)?);
            return Ok(());
        }
        let bytes: usize = cells.iter().map(Cells::bytes).sum();
        let at_a_time = self.rows_of(bytes / rows.max(1));
        for start in (0..rows).step_by(at_a_time) {
            let some = start..rows.min(start + at_a_time);
            let rows: Vec<u32> = some.map(|row| row as u32).collect();
            let part = cells.iter().map(|cells| cells.take(&rows)).collect();
            run.push(Block::new(rows.len(), part, Some(self.spill))?);
        }
        Ok(())
    }

    /// The same for groups of which some have values that are errors: row by row.
    fn hold_each(&self, of_run: &Plan, partials: &[Partial], places: &[GroupRef], run: &mut Vec<Block>) -> Result<()> {
        let mut without_values = of_run.clone();
        for answer in &mut without_values.columns[..self.plan.columns.len()] {
            answer.value = Typed::literal(answer.value.logical_type, None);
        }
        let (groups, without_values) = (Groups::new(of_run, partials), Groups::new(&without_values, partials));
        for place in places.chunks(1) {
            let (cells, fault) = match groups.rows(place) {
                Ok(cells) => (cells, None),
                Err(error) => (without_values.rows(place)?, Some(error)),
            };
            self.hold(1, cells, run)?;
            if let Some(block) = run.last_mut() {
                block.fault = fault;
            }
        }
        Ok(())
    }

    /// The number of rows per block for rows of `bytes` bytes, so that memory has room for a block of each run in a
    /// merge.
    fn rows_of(&self, bytes: usize) -> usize {
        /// Fewer rows are not worth a frame.
        const MIN_ROWS: usize = 64;
        let most = self.memory.limit / 4 / self.runs / (bytes as u64 + 1);
        usize::try_from(most).unwrap_or(usize::MAX).clamp(MIN_ROWS, BLOCK)
    }

    /// Merges runs to the rows of the answer, in blocks of [`BLOCK`] rows, but for the last.
    pub(crate) fn merge(&self, runs: Vec<Vec<Block>>) -> Result<Vec<Block>> {
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.into_iter().enumerate() {
            heads.extend(RunCursor::new(self, number, run)?);
        }
        let mut merged = MergeOutput::new(self);
        while let Some(mut head) = heads.peek_mut() {
            if merged.is_full() {
                break;
            }
            let fault = head.fault.take();
            merged.push(&head.cells, head.row, fault)?;
            if !head.advance()? {
                PeekMut::pop(head);
            }
        }
        merged.finish()
    }

    fn compare(&self, one: &RunCursor<'_>, other: &RunCursor<'_>) -> Ordering {
        let first = self.plan.columns.len();
        let mut keys = (first..self.width).zip(self.directions());
        let ordering = keys.find_map(|(column, (descending, nulls_first))| {
            let (one, other) = ((&one.cells[column], one.row), (&other.cells[column], other.row));
            let ordering = one.0.compare(one.1, other.0, other.1, descending, nulls_first);
            ordering.is_ne().then_some(ordering)
        });
        ordering.unwrap_or(Ordering::Equal)
    }

    /// For each sort key, whether it descends and has nulls first: those of the query, then group keys or row numbers.
    fn directions(&self) -> impl Iterator<Item = (bool, bool)> {
        let order = self.plan.order_by.iter().map(|key| (key.descending, key.nulls_first));
        order.chain(std::iter::repeat((false, false)))
    }
}

/// A run that is being merged, with its next row.
struct RunCursor<'a> {
    sorter: &'a Sorter<'a>,
    /// Orders rows as far as it can.
    prefix: u128,
    number: usize,
    cells: Vec<Cells>,
    fault: Option<Error>,
    row: usize,
    rows: usize,
    blocks: std::vec::IntoIter<Block>,
}

impl<'a> RunCursor<'a> {
    /// `None` if the run has no rows.
    fn new(sorter: &'a Sorter<'a>, number: usize, run: Vec<Block>) -> Result<Option<Self>> {
        let blocks = run.into_iter();
        let mut head = Self { sorter, prefix: 0, number, cells: Vec::new(), fault: None, row: 0, rows: 0, blocks };
        Ok(head.advance()?.then_some(head))
    }

    /// Goes on to the next row, if there is one.
    fn advance(&mut self) -> Result<bool> {
        self.row += 1;
        while self.row >= self.rows {
            let Some(mut block) = self.blocks.next() else { return Ok(false) };
            self.fault = block.fault.take();
            (self.row, self.rows) = (0, block.rows);
            self.cells = block.into_cells(self.sorter.spill)?;
        }
        if let Some(((descending, nulls_first), cells)) =
            self.sorter.directions().zip(self.cells.get(self.sorter.plan.columns.len())).next()
        {
            self.prefix = cells.prefix(self.row, descending, nulls_first);
        }
        Ok(true)
    }
}

/// The greatest is the one whose row comes first.
impl Ord for RunCursor<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.prefix.cmp(&other.prefix).then_with(|| self.sorter.compare(self, other));
        order.then(self.number.cmp(&other.number)).reverse()
    }
}

impl PartialOrd for RunCursor<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RunCursor<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RunCursor<'_> {}

/// The rows of an answer while they are merged.
struct MergeOutput<'a> {
    sorter: &'a Sorter<'a>,
    /// The rows so far, if they are to differ.
    kinds: Option<HashSet<Vec<u8>>>,
    /// How many rows are still to be left out.
    offset: u64,
    /// How many more there may be.
    wanted: u64,
    cells: Vec<Cells>,
    rows: usize,
    blocks: Vec<Block>,
}

impl<'a> MergeOutput<'a> {
    fn new(sorter: &'a Sorter<'a>) -> Self {
        let plan = sorter.plan;
        Self {
            sorter,
            kinds: plan.distinct.then(HashSet::new),
            offset: plan.offset,
            wanted: plan.limit.unwrap_or(u64::MAX),
            cells: no_cells(plan),
            rows: 0,
            blocks: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        self.wanted == 0
    }

    /// Adds a row, or returns why it has no values.
    fn push(&mut self, cells: &[Cells], row: usize, fault: Option<Error>) -> Result<()> {
        if let Some(kinds) = &mut self.kinds
            && !kinds.insert(kind_of(self.sorter.plan, |column| cells[column].get(row)))
        {
            return Ok(());
        }
        if self.offset > 0 {
            self.offset -= 1;
            return Ok(());
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        self.wanted -= 1;
        for (ours, theirs) in self.cells.iter_mut().zip(cells) {
            ours.push(theirs.get(row));
        }
        self.rows += 1;
        if self.rows == BLOCK { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<()> {
        interrupt::check()?;
        if self.rows > 0 {
            let cells = std::mem::replace(&mut self.cells, no_cells(self.sorter.plan));
            let spill = self.sorter.memory.is_short().then_some(self.sorter.spill);
            self.blocks.push(Block::new(self.rows, cells, spill)?);
            self.rows = 0;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Block>> {
        self.end_block()?;
        Ok(self.blocks)
    }
}

/// Columns of an answer, without rows yet.
pub(crate) fn no_cells(plan: &Plan) -> Vec<Cells> {
    plan.columns.iter().map(|it| Cells::new(it.value.logical_type)).collect()
}
