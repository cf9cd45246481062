//! What comes out of a question: a table, sorted.

use crate::aggregates::Group;
use crate::cells::Cells;
use crate::evaluate::{Columns, Program};
use crate::node::{Node, Typed};
use crate::order::{self, OrderKey, SortedPart};
use crate::parallel;
use crate::partial::Partial;
use crate::plan::{Plan, SortKey};
use crate::totals::ScanTotals;
use crate::vector::{Fault, Vector, View};
use brc_core::{Batch, Column, Error, Field, LogicalType, Result, Value};
use brc_kernels::cpu::Level;
use std::collections::HashSet;

/// The sorted rows of an answer.
#[derive(Debug, Clone)]
pub struct QueryResult {
    columns: Vec<OutputColumn>,
    /// The columns' values, some rows after the other.
    blocks: Vec<Vec<Cells>>,
    /// The rows of each block but the last.
    block_rows: usize,
    rows: usize,
    totals: ScanTotals,
}

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputColumn {
    /// Its name: that of a column or the one it was given, else the expression as it is written.
    pub name: String,
    /// Its type.
    pub logical_type: LogicalType,
    /// Whether it may have nulls.
    pub nullable: bool,
}

impl QueryResult {
    /// The answer that groups give: settled partials that have no group in common.
    pub(crate) fn of_groups(plan: &Plan, partials: Vec<Partial>, threads: usize, totals: ScanTotals) -> Result<Self> {
        let source = Groups::new(plan, &partials);
        let places = source.sorted(threads)?;
        let blocks = source.blocks(&places, threads)?;
        let answer = Self { columns: plan.columns(), blocks, block_rows: BLOCK, rows: places.len(), totals };
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
        Self { columns: plan.columns(), blocks: vec![cells], block_rows: rows.max(1), rows, totals }
    }

    /// The value of a row; `None` if it is null.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<Value<'_>> {
        self.blocks[row / self.block_rows][column].get(row % self.block_rows)
    }

    /// The columns of the block in which a row lies, the place of the row in it, and how many rows there are from there on.
    pub(crate) fn block(&self, row: usize) -> (&[Cells], usize, usize) {
        let (block, place) = (row / self.block_rows, row % self.block_rows);
        (&self.blocks[block], place, (self.rows - row).min(self.block_rows - place))
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

/// The groups that an answer is made of.
struct Groups<'a> {
    plan: &'a Plan,
    partials: &'a [Partial],
    /// The columns of the aggregates, and those that groups have.
    inputs: Vec<Field>,
    fields: Vec<Field>,
}

/// A group of one of the partials.
#[derive(Clone, Copy)]
struct Place {
    partial: u32,
    group: u32,
}

/// How many groups an expression is computed for at a time.
const AT_A_TIME: usize = 4096;

/// How many rows of an answer are made at a time.
const BLOCK: usize = 1 << 14;

impl<'a> Groups<'a> {
    fn new(plan: &'a Plan, partials: &'a [Partial]) -> Self {
        Self { plan, partials, inputs: plan.fields(), fields: plan.group_fields() }
    }

    /// What some groups have in a column.
    fn column(&self, column: usize, places: &[Place]) -> Result<Cells> {
        let Field { name, logical_type, .. } = &self.fields[column];
        let mut cells = Cells::new(*logical_type);
        let mut text = Vec::new();
        let partial = |place: &Place| &self.partials[place.partial as usize];
        let Some(output) = column.checked_sub(self.plan.keys.len()) else {
            for place in places {
                cells.push(partial(place).key(column, place.group as usize, &mut text));
            }
            return Ok(cells);
        };
        let output = &self.plan.outputs[output];
        let bound = output.bind(&self.inputs).map_err(|needed| Error::Usage(format!("{name} needs {needed}")))?;
        let state = bound.state.and_then(|kind| self.plan.state_of(&output.columns, kind));
        for place in places {
            let (partial, group) = (partial(place), place.group as usize);
            let state = state.map(|state| partial.state(state));
            let group = Group::new(group, partial.rows(group), state, output, &self.inputs);
            text.clear();
            let value = match bound.text {
                Some(write) => write(&group, &mut text).map(|()| Value::Bytes(&text)),
                None => (bound.value)(&group),
            };
            if !cells.push(value) {
                return Err(Error::Overflow { what: name.clone(), expected: *logical_type });
            }
        }
        Ok(cells)
    }

    /// What an expression comes to for some groups.
    fn cells(&self, name: &str, typed: &Typed, places: &[Place]) -> Result<Cells> {
        if let Node::Column(column) = typed.node {
            return self.column(column, places);
        }
        let mut used = Vec::new();
        typed.columns(&mut used);
        used.sort_unstable();
        used.dedup();
        let inputs = used.iter().map(|&column| self.column(column, places)).collect::<Result<Vec<_>>>()?;
        let mut program = Program::new(typed, Columns { fields: &self.fields, projection: &used });
        let mut cells = Cells::new(typed.logical_type);
        let fault = |fault: Fault| match fault {
            Fault::Value(message) => Error::Expression(format!("{name}: {message}")),
            Fault::Malformed(message) => Error::Expression(format!("{name}: {message}")),
        };
        for start in (0..places.len()).step_by(AT_A_TIME) {
            let rows = start..places.len().min(start + AT_A_TIME);
            let vectors = used.iter().zip(&inputs).map(|(&column, cells)| {
                Vector::of(self.fields[column].logical_type, rows.clone().map(|row| cells.get(row)))
            });
            let vectors = vectors.collect::<std::result::Result<Vec<_>, _>>().map_err(fault)?;
            let columns: Vec<_> = vectors.iter().map(Vector::column).collect();
            let batch = Batch { rows: rows.len(), columns: &columns };
            let found = program.run(Level::best(), &batch).map_err(fault)?;
            push_all(&found.column(), rows.len(), &mut cells).map_err(fault)?;
        }
        Ok(cells)
    }

    /// All groups of a partial that have rows, or those of them that `having` wants.
    fn wanted(&self, partial: usize) -> Result<Vec<u32>> {
        let groups = &self.partials[partial];
        let groups: Vec<u32> = (0..groups.groups() as u32).filter(|&group| groups.has_rows(group as usize)).collect();
        let Some(having) = &self.plan.having else { return Ok(groups) };
        let holds = self.cells("having", having, &places(partial, &groups))?;
        let is_wanted = |(place, _): &(usize, &u32)| holds.get(*place) == Some(Value::Integer(1));
        Ok(groups.iter().enumerate().filter(is_wanted).map(|(_, &group)| group).collect())
    }

    /// The groups of the answer, in its order.
    fn sorted(&self, threads: usize) -> Result<Vec<Place>> {
        let plan = self.plan;
        let wanted = parallel::map(self.partials.len(), threads, |partial| self.wanted(partial))?;
        // Packed keys order by themselves, if all are.
        let packed: Option<Vec<_>> = self.partials.iter().map(Partial::packed_keys).collect();
        let part = |partial: usize| {
            let places = places(partial, &wanted[partial]);
            let mut keys = Vec::new();
            for SortKey { value, descending, nulls_first } in &plan.order_by {
                let cells = self.cells("order by", value, &places)?;
                keys.push(OrderKey { cells, descending: *descending, nulls_first: *nulls_first });
            }
            if packed.is_none() {
                for key in 0..plan.keys.len() {
                    let cells = self.column(key, &places)?;
                    keys.push(OrderKey { cells, descending: false, nulls_first: false });
                }
            }
            let packed = packed.as_ref().map(|packed| (packed[partial], wanted[partial].as_slice()));
            Ok::<_, Error>(SortedPart { rows: places.len(), keys, packed })
        };
        let parts = parallel::map(self.partials.len(), threads, part)?;
        let (offset, limit) = if plan.distinct { (0, None) } else { (plan.offset, plan.limit) };
        let place = |(partial, row): (u32, u32)| Place { partial, group: wanted[partial as usize][row as usize] };
        Ok(order::sorted(&parts, offset, limit, threads).map(place).collect())
    }

    /// The values of the answer's columns for these groups, [`BLOCK`] rows at a time.
    fn blocks(&self, places: &[Place], threads: usize) -> Result<Vec<Vec<Cells>>> {
        let block = |number: usize| {
            let rows = &places[number * BLOCK..places.len().min((number + 1) * BLOCK)];
            let cells = self.plan.columns.iter().map(|answer| self.cells(&answer.name, &answer.value, rows));
            cells.collect::<Result<Vec<_>>>()
        };
        parallel::map(places.len().div_ceil(BLOCK), threads, block)
    }
}

fn places(partial: usize, groups: &[u32]) -> Vec<Place> {
    groups.iter().map(|&group| Place { partial: partial as u32, group }).collect()
}

/// Appends the rows of a column.
pub(crate) fn push_all(column: &Column<'_>, rows: usize, cells: &mut Cells) -> std::result::Result<(), Fault> {
    let view = View::of(column)?;
    for row in 0..rows {
        cells.push(view.get(row));
    }
    Ok(())
}

/// The rows that are the first of their kind, as far as they are wanted.
fn first_of_their_kind(plan: &Plan, answer: &QueryResult) -> Vec<usize> {
    let mut known = HashSet::new();
    let is_new = |&row: &usize| {
        let mut kind = Vec::new();
        for (column, shown) in plan.columns.iter().enumerate() {
            let mut text = Vec::new();
            let value = answer.value(row, column);
            kind.push(u8::from(value.is_some()));
            value.into_iter().for_each(|value| value.write(shown.value.logical_type, &mut text));
            kind.extend_from_slice(&(text.len() as u64).to_le_bytes());
            kind.extend_from_slice(&text);
        }
        known.insert(kind)
    };
    let skipped = usize::try_from(plan.offset).unwrap_or(usize::MAX);
    let wanted = plan.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    (0..answer.rows).filter(is_new).skip(skipped).take(wanted).collect()
}
