//! Answers questions that group nothing: each row of the table that is wanted gives one of the answer, in the table's order
//! unless another one is asked for.
//!
//! Such an answer is a table itself, [`SelectedRows`], whose rows are computed while it is scanned: who writes it to a file or
//! prints it needs no memory for all of it. Only what is sorted or limited is collected.

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
use brc_core::{
    Batch, Column, Error, LogicalType, Progress, Result, ScanError, ScanOptions, Scanned, Scanner, Schema, Sink, Split,
    Summary, Table, TableFile, Worker, scan,
};
use brc_kernels::cpu::Level;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Nothing but an error stops a scan; nobody sees this one.
const ENOUGH: &str = "there are enough rows";

/// The rows that a question selects of a table, in the table's order.
pub struct SelectedRows<'a> {
    plan: &'a Plan,
    table: &'a dyn Table,
    schema: Schema,
    totals: Mutex<ScanTotals>,
}

impl Plan {
    /// Whether the answer is the rows of a table in its order, so that [`Plan::selected`] has them without collecting them.
    #[must_use]
    pub fn is_row_by_row(&self) -> bool {
        !self.grouped && self.order_by.is_empty() && self.limit.is_none() && self.offset == 0
    }

    /// The answer as a table that is computed while it is scanned. A scan ends with [`Error::Widened`] if the table's inferred
    /// types turn out wider than those that the plan is for.
    ///
    /// # Errors
    /// [`Error::Usage`] if rows have to be collected first ([`Plan::is_row_by_row`]), or the table has other columns than the
    /// plan is for; [`Error::Widened`] if its types are wider by now.
    pub fn selected<'a>(&'a self, table: &'a dyn Table) -> Result<SelectedRows<'a>> {
        if !self.is_row_by_row() {
            return Err(Error::Usage("rows that are grouped, sorted or limited do not come one by one".to_owned()));
        }
        self.scanned(table, || {
            let (schema, totals) = (self.answer_schema()?, Mutex::default());
            Ok(SelectedRows { plan: self, table, schema, totals })
        })
    }
}

impl SelectedRows<'_> {
    /// What all scans so far did.
    #[must_use]
    pub fn totals(&self) -> ScanTotals {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Table for SelectedRows<'_> {
    fn path(&self) -> &Path {
        self.table.path()
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The plan's types: they stay the same, but who writes rows in them may have to begin again.
    fn inferred(&self) -> Option<Arc<Schema>> {
        self.table.inferred().map(|_| Arc::new(self.schema.clone()))
    }

    fn rows(&self) -> Option<u64> {
        self.table.rows()
    }

    fn bytes(&self) -> Option<u64> {
        self.table.bytes()
    }

    fn split(&self, index: u64) -> Option<Split> {
        self.table.split(index)
    }

    fn file_of(&self, split: u64) -> Option<TableFile<'_>> {
        self.table.file_of(split).or(Some(TableFile { table: self.table, first_split: 0 }))
    }

    fn scanner(&self, options: &ScanOptions) -> Result<Box<dyn Scanner + '_>> {
        let values = options.projection.iter().map(|&column| &self.plan.columns[column].value);
        let selector = Selector::new(self.plan, self.table, values);
        Ok(Box::new(SelectedScanner {
            scanner: self.table.scanner(&self.plan.scan_options())?,
            selector,
            totals: &self.totals,
        }))
    }
}

struct SelectedScanner<'a> {
    scanner: Box<dyn Scanner + 'a>,
    selector: Selector<'a>,
    totals: &'a Mutex<ScanTotals>,
}

impl Scanner for SelectedScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let mut selecting = Selecting { selector: &mut self.selector, rows: 0, left_out: 0, sink };
        let scanned = match self.scanner.scan(split, &mut selecting) {
            Err(ScanError::Widened) => return Err(Error::Widened.into()),
            scanned => scanned?,
        };
        let Selecting { rows, left_out, .. } = selecting;
        Ok(scanned.map(|mut scanned| {
            self.totals.lock().unwrap_or_else(PoisonError::into_inner).add(&ScanTotals::from(&scanned));
            scanned.rows = rows;
            scanned.skipped_rows += left_out;
            scanned
        }))
    }
}

/// Hands the rows that are wanted over.
struct Selecting<'s, 'a> {
    selector: &'s mut Selector<'a>,
    rows: u64,
    left_out: u64,
    sink: &'s mut dyn Sink,
}

impl Sink for Selecting<'_, '_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.selector.plan.is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let wanted = self.selector.select(batch, usize::MAX, |selected| self.sink.batch(selected))?;
        self.rows += wanted as u64;
        self.left_out += (batch.rows - wanted) as u64;
        Ok(())
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

/// Computes values of those rows that a question wants.
struct Selector<'a> {
    plan: &'a Plan,
    path: &'a Path,
    level: Level,
    filter: Option<Filter>,
    conditions: Stage,
    programs: Vec<Program>,
    /// The types of the columns that are scanned.
    types: Vec<LogicalType>,
}

impl<'a> Selector<'a> {
    fn new<'v>(plan: &'a Plan, table: &'a dyn Table, values: impl Iterator<Item = &'v Typed>) -> Self {
        let (scanned, projection, fields) = (plan.projection(), plan.batch_columns(), plan.fields());
        let of_table = Columns { fields: &fields, projection: &scanned };
        Self {
            plan,
            path: table.path(),
            level: Level::best(),
            filter: plan.predicate.as_ref().map(|predicate| Filter::new(predicate, &fields, &projection)),
            conditions: Stage::new(&plan.computed, of_table),
            programs: values.map(|value| Program::new(value, of_table)).collect(),
            types: scanned.iter().map(|&column| fields[column].logical_type).collect(),
        }
    }

    /// Hands the values of the rows that are wanted over, of at most the first `most` of them. Returns how many they are.
    fn select(
        &mut self,
        batch: &Batch<'_>,
        most: usize,
        deliver: impl FnOnce(&Batch<'_>) -> Result<()>,
    ) -> Result<usize> {
        let path = self.path;
        let fault = |fault: Fault| fault.error(path);
        let wanted = self.wanted(batch).map_err(fault)?;
        let wanted = wanted.map(|rows| rows.into_iter().take(most).collect::<Vec<_>>());
        let wanted = wanted.or_else(|| (batch.rows > most).then(|| (0..most as u32).collect()));
        let gathered = wanted.as_ref().map(|rows| {
            let columns = batch.columns.iter().zip(&self.types);
            columns.map(|(column, of_type)| Vector::gather(*of_type, column, rows)).collect::<Result<Vec<_>, _>>()
        });
        let gathered = gathered.transpose().map_err(fault)?;
        let columns: Option<Vec<Column<'_>>> = gathered.as_ref().map(|it| it.iter().map(Vector::column).collect());
        let batch = match (&wanted, &columns) {
            (Some(rows), Some(columns)) => Batch { rows: rows.len(), columns },
            _ => *batch,
        };
        if batch.rows == 0 {
            return Ok(0);
        }
        let found = self.programs.iter_mut().map(|program| program.run(self.level, &batch));
        let found = found.collect::<Result<Vec<_>, _>>().map_err(fault)?;
        let columns: Vec<Column<'_>> = found.iter().map(Lent::column).collect();
        deliver(&Batch { rows: batch.rows, columns: &columns })?;
        Ok(batch.rows)
    }

    /// The rows that are wanted; `None` is all of them.
    fn wanted(&mut self, batch: &Batch<'_>) -> Result<Option<Vec<u32>>, Fault> {
        check_lengths(batch.rows, batch.columns)?;
        let Some(filter) = &mut self.filter else { return Ok(None) };
        let conditions = self.conditions.run(self.level, batch, None, RowPlace::default())?;
        let mut columns = batch.columns.to_vec();
        columns.extend(conditions.iter().map(Lent::column));
        Ok(match filter.select(self.level, &Batch { rows: batch.rows, columns: &columns })? {
            Selection::All => None,
            Selection::Some(mask, _) => {
                let is_wanted = |row: &u32| mask[*row as usize / 64] >> (row % 64) & 1 == 1;
                Some((0..batch.rows as u32).filter(is_wanted).collect())
            }
        })
    }
}

/// Scans a table for the rows of an answer, and collects them.
pub(crate) fn select(plan: &Plan, table: &dyn Table, threads: usize, progress: &Progress) -> Result<QueryResult> {
    let found = Mutex::new(Found::default());
    let new_worker = || Collector::new(plan, table, &found);
    let outcome = if plan.limit == Some(0) {
        Ok(())
    } else {
        scan(table, &plan.scan_options(), threads, progress, new_worker).map(drop)
    };
    match outcome {
        Err(Error::Usage(reason)) if reason == ENOUGH => {}
        outcome => outcome?,
    }
    let Found { chunks, totals } = found.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    let part = SortedPart { rows: all.rows, keys: keys.collect(), groups: None };
    let rows: Vec<u32> = order::sorted(&[part], plan.offset, plan.limit, 1).map(|(_, row)| row).collect();
    let cells = all.cells.iter().map(|cells| cells.take(&rows));
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

    /// Adds rows, of which the batch has the values and then what they are sorted by.
    fn push(&mut self, batch: &Batch<'_>) -> std::result::Result<(), Fault> {
        for (cells, column) in self.cells.iter_mut().chain(&mut self.order).zip(batch.columns) {
            push_all(column, batch.rows, cells)?;
        }
        self.rows += batch.rows;
        Ok(())
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
struct Collector<'a> {
    plan: &'a Plan,
    found: &'a Mutex<Found>,
    /// Computes the output columns, then what is sorted by.
    selector: Selector<'a>,
    chunk: Chunk,
    /// How many rows of a split are wanted at most.
    most: usize,
    split: u64,
}

impl<'a> Collector<'a> {
    fn new(plan: &'a Plan, table: &'a dyn Table, found: &'a Mutex<Found>) -> Self {
        let values = plan.columns.iter().map(|answer| &answer.value).chain(plan.order_by.iter().map(|key| &key.value));
        let most = plan.limit.map_or(u64::MAX, |limit| limit.saturating_add(plan.offset));
        Self {
            plan,
            found,
            selector: Selector::new(plan, table, values),
            chunk: Chunk::new(plan),
            most: if plan.order_by.is_empty() { usize::try_from(most).unwrap_or(usize::MAX) } else { usize::MAX },
            split: 0,
        }
    }

    /// Hands over the rows of the split. Returns whether there are enough by now.
    fn hand_over(&mut self) -> bool {
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.plan));
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.chunks.entry(self.split).or_insert(chunk);
        self.most < usize::MAX && found.first_rows() >= self.most
    }
}

impl Sink for Collector<'_> {
    fn schema(&mut self, schema: &Arc<Schema>) -> Result<()> {
        if self.plan.is_for(schema) { Ok(()) } else { Err(Error::Widened) }
    }

    fn batch(&mut self, batch: &Batch<'_>) -> Result<()> {
        let Self { selector, chunk, most, .. } = self;
        let path = selector.path;
        selector
            .select(batch, *most - chunk.rows, |selected| chunk.push(selected).map_err(|fault| fault.error(path)))?;
        if chunk.rows >= *most { Err(Error::Usage(ENOUGH.to_owned())) } else { Ok(()) }
    }

    fn summary(&mut self, _: &Summary<'_>) -> Result<()> {
        unreachable!("nobody asked for summaries")
    }
}

impl Worker for Collector<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.split = split.index;
        self.chunk = Chunk::new(self.plan);
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
