//! What comes out of a question: a table, sorted.

use crate::aggregates::Group;
use crate::cells::Cells;
use crate::evaluate::{Columns, Program};
use crate::node::{Node, Typed};
use crate::order::{self, OrderKey};
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
    cells: Vec<Cells>,
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
    /// The answer that groups give.
    pub(crate) fn of_groups(plan: &Plan, mut partial: Partial, totals: ScanTotals) -> Result<Self> {
        partial.settle();
        let source = Groups::new(plan, &partial)?;
        let groups = source.sorted()?;
        let cells = plan.columns.iter().map(|answer| source.cells(&answer.name, &answer.value, &groups));
        let cells = cells.collect::<Result<Vec<_>>>()?;
        let rows = groups.len();
        if !plan.distinct {
            return Ok(Self::of_cells(plan, cells, rows, totals));
        }
        let kept = first_of_their_kind(plan, &cells, rows);
        let kept_cells = cells.iter().zip(&plan.columns).map(|(cells, it)| cells.take(it.value.logical_type, &kept));
        Ok(Self::of_cells(plan, kept_cells.collect(), kept.len(), totals))
    }

    /// The answer of which these are the columns.
    pub(crate) fn of_cells(plan: &Plan, cells: Vec<Cells>, rows: usize, totals: ScanTotals) -> Self {
        Self { columns: plan.columns(), cells, rows, totals }
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

    /// The values of a column.
    pub(crate) fn cells(&self, column: usize) -> &Cells {
        &self.cells[column]
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
        self.answer.cells[column].get(self.row)
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
    partial: &'a Partial,
    /// The columns of the aggregates, and those that groups have.
    inputs: Vec<Field>,
    fields: Vec<Field>,
    /// All groups that have rows, or those of them that `having` wants.
    groups: Vec<u32>,
}

/// How many groups an expression is computed for at a time.
const AT_A_TIME: usize = 4096;

impl<'a> Groups<'a> {
    fn new(plan: &'a Plan, partial: &'a Partial) -> Result<Self> {
        let groups = (0..partial.groups() as u32).filter(|&group| partial.has_rows(group as usize)).collect();
        let mut all = Self { plan, partial, inputs: plan.fields(), fields: plan.group_fields(), groups };
        if let Some(having) = &plan.having {
            let holds = all.cells("having", having, &all.groups)?;
            let is_wanted = |place: &usize| holds.get(*place) == Some(Value::Integer(1));
            all.groups = (0..all.groups.len()).filter(is_wanted).map(|place| all.groups[place]).collect();
        }
        Ok(all)
    }

    /// What some groups have in a column.
    fn column(&self, column: usize, groups: &[u32]) -> Result<Cells> {
        let Field { name, logical_type, .. } = &self.fields[column];
        let mut cells = Cells::new(*logical_type);
        let Some(place) = column.checked_sub(self.plan.keys.len()) else {
            for &group in groups {
                cells.push(self.partial.key(column, group as usize));
            }
            return Ok(cells);
        };
        let output = &self.plan.outputs[place];
        let bound = output.bind(&self.inputs).map_err(|needed| Error::Usage(format!("{name} needs {needed}")))?;
        let state = bound.state.and_then(|kind| {
            let wanted = (output.columns.clone(), kind);
            let index = self.plan.states().into_iter().position(|state| state == wanted)?;
            Some(self.partial.state(index))
        });
        for &group in groups {
            let group = group as usize;
            let group = Group::new(group, self.partial.rows(group), state, output, &self.inputs);
            let mut text = Vec::new();
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
    fn cells(&self, name: &str, typed: &Typed, groups: &[u32]) -> Result<Cells> {
        if let Node::Column(column) = typed.node {
            return self.column(column, groups);
        }
        let mut used = Vec::new();
        typed.columns(&mut used);
        used.sort_unstable();
        used.dedup();
        let inputs = used.iter().map(|&column| self.column(column, groups)).collect::<Result<Vec<_>>>()?;
        let mut program = Program::new(typed, Columns { fields: &self.fields, projection: &used });
        let mut cells = Cells::new(typed.logical_type);
        let fault = |fault: Fault| match fault {
            Fault::Value(message) => Error::Expression(format!("{name}: {message}")),
            Fault::Malformed(message) => Error::Expression(format!("{name}: {message}")),
        };
        for start in (0..groups.len()).step_by(AT_A_TIME) {
            let rows = start..groups.len().min(start + AT_A_TIME);
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

    /// The groups of the answer, in its order.
    fn sorted(&self) -> Result<Vec<u32>> {
        let plan = self.plan;
        let mut keys = Vec::new();
        for SortKey { value, descending, nulls_first } in &plan.order_by {
            let cells = self.cells("order by", value, &self.groups)?;
            keys.push(OrderKey { cells, descending: *descending, nulls_first: *nulls_first });
        }
        for key in 0..plan.keys.len() {
            let cells = self.column(key, &self.groups)?;
            keys.push(OrderKey { cells, descending: false, nulls_first: false });
        }
        let (offset, limit) = if plan.distinct { (0, None) } else { (plan.offset, plan.limit) };
        let order = order::sorted(self.groups.len(), &keys, offset, limit);
        Ok(order.into_iter().map(|row| self.groups[row as usize]).collect())
    }
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
fn first_of_their_kind(plan: &Plan, cells: &[Cells], rows: usize) -> Vec<u32> {
    let mut known = HashSet::new();
    let is_new = |&row: &u32| {
        let mut kind = Vec::new();
        for (cells, answer) in cells.iter().zip(&plan.columns) {
            let mut text = Vec::new();
            let value = cells.get(row as usize);
            kind.push(u8::from(value.is_some()));
            value.into_iter().for_each(|value| value.write(answer.value.logical_type, &mut text));
            kind.extend_from_slice(&(text.len() as u64).to_le_bytes());
            kind.extend_from_slice(&text);
        }
        known.insert(kind)
    };
    let skipped = usize::try_from(plan.offset).unwrap_or(usize::MAX);
    let wanted = plan.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    (0..rows as u32).filter(is_new).skip(skipped).take(wanted).collect()
}
