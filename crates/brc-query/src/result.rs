//! What comes out of a question: a table, sorted.

use crate::aggregates::Group;
use crate::cells::Cells;
use crate::partial::Partial;
use crate::plan::Plan;
use crate::totals::ScanTotals;
use brc_core::{Error, LogicalType, Result, Value};
use std::cmp::Ordering;

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
    /// Its name: the key's, or the aggregate as it is written.
    pub name: String,
    /// Its type.
    pub logical_type: LogicalType,
}

impl QueryResult {
    pub(crate) fn new(plan: &Plan, mut partial: Partial, totals: ScanTotals) -> Result<Self> {
        partial.settle();
        let source = Source { plan, columns: plan.columns(), partial: &partial };
        let groups = sorted(&source)?;
        let cells = (0..source.columns.len()).map(|column| source.cells(column, &groups)).collect::<Result<_>>()?;
        Ok(Self { columns: source.columns, cells, rows: groups.len(), totals })
    }

    /// The columns: first the keys, then the aggregates.
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

/// What the columns of an answer are made of.
struct Source<'a> {
    plan: &'a Plan,
    columns: Vec<OutputColumn>,
    partial: &'a Partial,
}

impl Source<'_> {
    /// The values that some groups have in an output column.
    fn cells(&self, column: usize, groups: &[u32]) -> Result<Cells> {
        let OutputColumn { name, logical_type } = &self.columns[column];
        let mut cells = Cells::new(*logical_type);
        let keys = self.plan.keys().len();
        let Some(output) = column.checked_sub(keys).map(|output| &self.plan.outputs()[output]) else {
            for &group in groups {
                cells.push(self.partial.key(column, group as usize));
            }
            return Ok(cells);
        };
        let bound = output.bound(self.plan.schema())?;
        let state = bound.state.and_then(|kind| {
            let wanted = (output.column?, kind);
            let index = self.plan.states().into_iter().position(|state| state == wanted)?;
            Some(self.partial.state(index))
        });
        let (scale, fraction) = (output.scale(self.plan.schema()), output.fraction());
        for &group in groups {
            let group = group as usize;
            let value = (bound.value)(&Group::new(group, self.partial.rows(group), state, scale, fraction));
            if !cells.push(value) {
                return Err(Error::Overflow { what: name.clone(), expected: *logical_type });
            }
        }
        Ok(cells)
    }
}

/// The groups that the answer has, in its order.
fn sorted(source: &Source<'_>) -> Result<Vec<u32>> {
    let (plan, partial) = (source.plan, source.partial);
    let groups: Vec<u32> = (0..partial.groups() as u32).filter(|&group| partial.has_rows(group as usize)).collect();
    let orders = plan.order_by().iter().map(|order| (order.column, order.descending));
    let keys = (0..plan.keys().len()).map(|key| (key, false));
    let columns = orders.chain(keys).map(|(column, descending)| Ok((source.cells(column, &groups)?, descending)));
    let columns: Vec<(Cells, bool)> = columns.collect::<Result<_>>()?;
    let compare = |one: &(u64, u32), other: &(u64, u32)| {
        one.0.cmp(&other.0).then_with(|| {
            let (one, other) = (one.1 as usize, other.1 as usize);
            let mut orders = columns.iter().map(|(cells, descending)| cells.compare(one, other, *descending));
            orders.find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
        })
    };
    let prefix = |row: usize| columns.first().map_or(0, |(cells, descending)| cells.prefix(row, *descending));
    let mut order: Vec<(u64, u32)> = (0..groups.len()).map(|row| (prefix(row), row as u32)).collect();
    let wanted = plan.limit().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if wanted < order.len() {
        // Only those that are wanted need to be sorted.
        if wanted > 0 {
            order.select_nth_unstable_by(wanted - 1, compare);
        }
        order.truncate(wanted);
    }
    order.sort_unstable_by(compare);
    Ok(order.into_iter().map(|(_, row)| groups[row as usize]).collect())
}
