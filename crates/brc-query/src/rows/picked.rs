//! The last rows of a table, or a random sample of them, in the order of the table: one scan, with memory for a few
//! times as many rows as are wanted.

use crate::answer::Answer;
use crate::answer::sorted_runs::no_cells;
use crate::answer::source::Source;
use crate::evaluate::computed::push_all;
use crate::plan::Plan;
use crate::scan::computed::RowPosition;
use crate::scan::selector::{Selector, takes_wanted_rows};
use crate::scan::totals::ScanTotals;
use crate::sql::query::Pick;
use crate::values::cells::Cells;
use crate::values::split_mix::mixed;
use brc_core::{Batch, Progress, Result, Scanned, Sink, Split, Table, Worker, scan};

/// A worker keeps at least this many rows before it drops some of them.
const MIN_ROWS_BEFORE_CUT: usize = 1 << 12;

/// The answer to a query that neither groups nor sorts, and wants this many rows at most.
pub(crate) fn picked(plan: &Plan, most: u64, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Answer> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let first_split = match plan.pick {
        Pick::Last => first_split_of_last(most, plan, table),
        Pick::First | Pick::Random { .. } => 0,
    };
    let new_worker = || Picker::new(plan, most, table, first_split);
    let (mut totals, mut all) = (ScanTotals::default(), Picked::new(plan));
    if most > 0 {
        for worker in scan(table, &plan.scan_options(), threads, progress, new_worker)? {
            totals.add(&worker.totals);
            all.append(&worker.picked);
        }
    }
    all.cut(most);
    // Workers take splits as they come.
    let mut order: Vec<u32> = (0..all.rows.len() as u32).collect();
    order.sort_unstable_by_key(|&row| all.rows[row as usize].place);
    let cells = all.cells.iter().map(|cells| cells.take(&order)).collect();
    Answer::new(plan, Source::in_memory(vec![(order.len(), cells)]), totals)
}

/// The first split that has one of the last rows, as far as splits know how many rows they have.
fn first_split_of_last(most: usize, plan: &Plan, table: &dyn Table) -> u64 {
    if plan.predicate.is_some() {
        return 0;
    }
    let rows: Vec<u64> = (0..).map_while(|split| table.rows_of(split)).collect();
    if table.rows() != Some(rows.iter().sum()) {
        return 0;
    }
    let mut found = 0;
    let is_enough = |rows: &u64| {
        found += rows;
        found >= most as u64
    };
    rows.iter().rev().position(is_enough).map_or(0, |after| (rows.len() - 1 - after) as u64)
}

impl Pick {
    /// The rows with the smallest ranks are picked.
    fn rank(self, place: i64) -> u64 {
        match self {
            Self::First => place as u64,
            Self::Last => u64::MAX - place as u64,
            Self::Random { seed } => mixed(mixed(seed) ^ place as u64),
        }
    }
}

#[derive(Clone, Copy)]
struct PickedRow {
    rank: u64,
    place: i64,
}

/// Rows that may be picked.
struct Picked {
    rows: Vec<PickedRow>,
    /// The columns of the answer.
    cells: Vec<Cells>,
}

impl Picked {
    fn new(plan: &Plan) -> Self {
        Self { rows: Vec::new(), cells: no_cells(plan) }
    }

    fn append(&mut self, other: &Self) {
        for (cells, others) in self.cells.iter_mut().zip(&other.cells) {
            (0..other.rows.len()).for_each(|row| {
                cells.push(others.get(row));
            });
        }
        self.rows.extend(&other.rows);
    }

    /// Keeps only `most` rows. Returns the largest rank that a row may have to be picked.
    fn cut(&mut self, most: usize) -> u64 {
        if self.rows.len() <= most {
            return u64::MAX;
        }
        let mut kept: Vec<u32> = (0..self.rows.len() as u32).collect();
        let (_, last, _) = kept.select_nth_unstable_by_key(most - 1, |&row| self.rows[row as usize].rank);
        let bound = self.rows[*last as usize].rank;
        kept.truncate(most);
        self.rows = kept.iter().map(|&row| self.rows[row as usize]).collect();
        self.cells = self.cells.iter().map(|cells| cells.take(&kept)).collect();
        bound
    }
}

/// One worker's share.
struct Picker<'a> {
    selector: Selector<'a>,
    most: usize,
    table: &'a dyn Table,
    /// The splits before it have no row that is wanted.
    first_split: u64,
    /// There are enough rows whose rank is no larger.
    bound: u64,
    place: RowPosition,
    picked: Picked,
    totals: ScanTotals,
}

impl<'a> Picker<'a> {
    fn new(plan: &'a Plan, most: usize, table: &'a dyn Table, first_split: u64) -> Self {
        Self {
            selector: Selector::new(plan, table, plan.columns.iter().map(|answer| &answer.value)),
            most,
            table,
            first_split,
            bound: u64::MAX,
            place: RowPosition::default(),
            picked: Picked::new(plan),
            totals: ScanTotals::default(),
        }
    }

    fn take(&mut self, batch: &Batch<'_>, wanted: Option<Vec<u32>>) -> Result<()> {
        let first = self.place.number();
        self.place.advance(batch.rows);
        let pick = self.selector.plan().pick;
        let row = |row: u32| {
            let place = first + i64::from(row);
            PickedRow { rank: pick.rank(place), place }
        };
        let is_early = |number: &u32| row(*number).rank <= self.bound;
        let mut wanted: Vec<u32> = match wanted {
            Some(wanted) => wanted.into_iter().filter(is_early).collect(),
            None => (0..batch.rows as u32).filter(is_early).collect(),
        };
        if pick == Pick::Last {
            wanted.drain(..wanted.len().saturating_sub(self.most));
        }
        let Self { selector, picked, .. } = self;
        picked.rows.extend(wanted.iter().map(|&number| row(number)));
        let path = selector.path();
        selector.select(batch, Some(wanted), usize::MAX, |selected| {
            for (cells, column) in picked.cells.iter_mut().zip(selected.columns) {
                push_all(column, selected.rows, cells).map_err(|fault| fault.error(path))?;
            }
            Ok(())
        })?;
        if picked.rows.len() >= self.most.saturating_mul(2).max(MIN_ROWS_BEFORE_CUT) {
            self.bound = self.bound.min(picked.cut(self.most));
        }
        Ok(())
    }
}

takes_wanted_rows!(Picker<'_>);

impl Worker for Picker<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.place = RowPosition::of_split(split.index);
    }

    fn skips(&mut self, split: &Split) -> Option<u64> {
        if split.index < self.first_split { self.table.rows_of(split.index) } else { None }
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.totals.add(&ScanTotals::from(&scanned));
        Ok(())
    }
}
