//! Sorted rows of a table. If only the first are wanted, no worker keeps more than a few times as many, and nothing but
//! the first sort key is computed of rows that come too late for that. Where memory is short, workers spill sorted
//! runs, which are merged at the end.

use crate::answer::sorted_runs::{Block, Sorter, no_cells};
use crate::answer::source::Source;
use crate::answer::{Answer, MIN_ROWS_FOR_LAZY_RESULT};
use crate::evaluate::Columns;
use crate::evaluate::computed::{computed, push_all};
use crate::finish::groups::BLOCK;
use crate::finish::order;
use crate::finish::order::{OrderKey, SortedPart};
use crate::functions::typed::{Typed, columns_of};
use crate::partitions::spill::Spill;
use crate::plan::{OutputExpression, Plan, SortKey};
use crate::rows::top_k_prefilter;
use crate::runtime::memory::{Gauge, Memory};
use crate::runtime::parallel;
use crate::scan::computed::RowPosition;
use crate::scan::selector::{Selector, Values, takes_wanted_rows};
use crate::scan::totals::ScanTotals;
use crate::values::cells::{Cells, prefix_of};
use crate::values::error::EvalError;
use crate::values::view::View;
use brc_core::{
    Batch, Error, LogicalType, PhysicalType, Progress, Result, Scanned, Sink, Split, Table, Value, Worker, scan,
};
use parking_lot::Mutex;
use std::time::Instant;

/// A worker keeps at least this many rows before it drops some of them.
const MIN_ROWS_BEFORE_CUT: usize = 1 << 12;

/// A table whose rows are to be sorted, and the resources for it.
#[derive(Clone, Copy)]
pub(crate) struct SortedRows<'a> {
    pub(crate) table: &'a dyn Table,
    pub(crate) threads: usize,
    pub(crate) memory: &'a Memory,
    pub(crate) progress: &'a Progress,
}

impl SortedRows<'_> {
    /// Sorts the rows of a plan that groups nothing.
    ///
    /// An expression may fail for a row, and which rows are left out early depends on chance. So if few rows are
    /// wanted, expressions are computed at the end, for these rows alone, and errors do not depend on the number of
    /// threads.
    pub(crate) fn answer(self, plan: &Plan) -> Result<Answer> {
        let is_small = plan.limit.is_some_and(|limit| limit.saturating_add(plan.offset) < top_k_prefilter::MAX_ROWS);
        let used = columns_of(plan.columns.iter().map(|answer| &answer.value));
        if !is_small || shows_columns(plan) || used.is_empty() {
            return self.prefiltered(plan);
        }
        let fields = plan.fields();
        let column = |&column: &usize| {
            let value = Typed::column(column, fields[column].logical_type, fields[column].nullable);
            OutputExpression { name: format!("column {column}"), value }
        };
        let of_columns = Plan { columns: used.iter().map(column).collect(), ..plan.clone() };
        let rows = self.prefiltered(&of_columns)?;
        let totals = rows.totals();
        let columns = Columns { fields: &fields, projection: &used, allowance: plan.allowance };
        let compute = |(rows, cells): (usize, Vec<Cells>)| {
            let shown = plan.columns.iter().map(|answer| computed(&answer.value, columns, &cells, rows));
            Ok((rows, shown.collect::<std::result::Result<_, EvalError>>()?))
        };
        let blocks =
            rows.into_blocks(self.threads)?.into_iter().map(compute).collect::<std::result::Result<_, EvalError>>();
        let blocks = blocks.map_err(|fault| fault.error(self.table.path()))?;
        Answer::new(plan, Source::in_memory(blocks), totals)
    }

    /// Sorts rows, after a first scan for the sort key alone if that spares most of them.
    fn prefiltered(self, plan: &Plan) -> Result<Answer> {
        let Some(of_key) = top_k_prefilter::of_first_key(plan, self.table) else { return self.of_one_scan(plan) };
        let keys = self.of_one_scan(&of_key)?;
        self.progress.restart();
        let prefiltered = top_k_prefilter::to_first_keys(plan, of_key.limit.unwrap_or(0), &keys)?;
        let mut answer = self.of_one_scan(prefiltered.as_ref().unwrap_or(plan))?;
        let ScanTotals { bytes, scan_time, .. } = keys.totals();
        answer.totals_mut().bytes += bytes;
        answer.totals_mut().scan_time += scan_time;
        Ok(answer)
    }

    /// Sorts rows by one scan.
    fn of_one_scan(self, plan: &Plan) -> Result<Answer> {
        let Self { table, threads, memory, progress } = self;
        let spill = Spill::new(memory);
        let sorter = Sorter::of_rows(plan, &spill, memory);
        let (start, mut totals) = (Instant::now(), ScanTotals::default());
        let (mut runs, mut parts) = (Vec::new(), Vec::new());
        if plan.limit != Some(0) {
            let new_worker = || Sorting::new(plan, table, &sorter, memory.of_scan(threads));
            for worker in scan(table, &plan.scan_options(), threads, progress, new_worker)? {
                totals.add(&worker.totals);
                runs.extend(worker.runs);
                parts.push(worker.rows);
            }
        }
        totals.scan_time = start.elapsed();
        let start = Instant::now();
        let answer = if runs.is_empty() && !memory.is_scarce() {
            in_memory(plan, parts, threads, totals.clone())?
        } else {
            let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
            let run = |number: usize| {
                let part = parts[number].lock().take();
                part.map_or(Ok(Vec::new()), |part| part.into_run(&sorter))
            };
            runs.extend(parallel::try_map(parts.len(), threads, run)?);
            let blocks = sorter.merge(runs)?;
            Answer::of_blocks(plan, blocks, spill, memory, totals)?
        };
        Ok(answer.sorted_in(start.elapsed()))
    }
}

/// Whether a plan computes nothing of the rows that it shows.
fn shows_columns(plan: &Plan) -> bool {
    plan.columns.iter().all(|answer| answer.value.is_column())
}

/// The answer that parts give which memory has room for.
fn in_memory(plan: &Plan, parts: Vec<Rows>, threads: usize, totals: ScanTotals) -> Result<Answer> {
    let (cells, sorted): (Vec<_>, Vec<_>) = parts.into_iter().map(Rows::into_sorted_part).unzip();
    let order: Vec<_> = match sorted.is_empty() {
        true => Vec::new(),
        false => order::sorted(&sorted, plan.offset, plan.limit, threads)?,
    };
    drop(sorted);
    let is_long = order.len() as u64 >= MIN_ROWS_FOR_LAZY_RESULT;
    let answer = Answer::new(plan, Source::Rows { parts: cells, order }, totals)?;
    if is_long { Ok(answer) } else { answer.load(threads) }
}

/// Some rows.
struct Rows {
    rows: usize,
    /// The columns of the answer.
    cells: Vec<Cells>,
    /// The sort keys of the query, then the row numbers in the table.
    keys: Vec<OrderKey>,
}

impl Rows {
    fn new(plan: &Plan) -> Self {
        let cells = |logical_type: LogicalType| Cells::new(logical_type);
        let key = |SortKey { value, descending, nulls_first }: &SortKey| OrderKey {
            cells: cells(value.logical_type),
            descending: *descending,
            nulls_first: *nulls_first,
        };
        let place = OrderKey { cells: cells(LogicalType::Int64), descending: false, nulls_first: false };
        Self { rows: 0, cells: no_cells(plan), keys: plan.order_by.iter().map(key).chain([place]).collect() }
    }

    /// Adds rows. The batch has the columns of the answer, then the sort keys; `places` are the row numbers.
    fn push(&mut self, batch: &Batch<'_>, places: impl Iterator<Item = i64>) -> std::result::Result<(), EvalError> {
        let keys = self.keys.iter_mut().map(|key| &mut key.cells);
        // Only the row numbers are not in the batch.
        for (cells, column) in self.cells.iter_mut().chain(keys).zip(batch.columns) {
            push_all(column, batch.rows, cells)?;
        }
        for place in places {
            self.places().push(Some(Value::Integer(place.into())));
        }
        self.rows += batch.rows;
        Ok(())
    }

    fn places(&mut self) -> &mut Cells {
        let last = self.keys.len() - 1;
        &mut self.keys[last].cells
    }

    fn into_sorted_part(self) -> (Vec<Cells>, SortedPart<'static>) {
        (self.cells, SortedPart { rows: self.rows, keys: self.keys, groups: None })
    }

    /// The columns and keys as they are, and the order of the first rows, no more than `most`.
    fn in_order(self, most: Option<u64>) -> Result<(Vec<Cells>, Vec<OrderKey>, Vec<u32>)> {
        let (cells, part) = self.into_sorted_part();
        let part = [part];
        let rows = order::sorted(&part, 0, most, 1)?.into_iter().map(|(_, row)| row).collect();
        let [SortedPart { keys, .. }] = part;
        Ok((cells, keys, rows))
    }

    /// The first rows in order, no more than `most`.
    fn sorted(self, most: Option<u64>) -> Result<Self> {
        let (cells, keys, rows) = self.in_order(most)?;
        let key = |key: OrderKey| OrderKey { cells: key.cells.take(&rows), ..key };
        Ok(Self {
            rows: rows.len(),
            cells: cells.iter().map(|cells| cells.take(&rows)).collect(),
            keys: keys.into_iter().map(key).collect(),
        })
    }

    /// The run of all rows.
    fn into_run(self, sorter: &Sorter<'_>) -> Result<Vec<Block>> {
        let (cells, keys, rows) = self.in_order(None)?;
        let all: Vec<&Cells> = cells.iter().chain(keys.iter().map(|key| &key.cells)).collect();
        let blocks = rows.chunks(BLOCK);
        sorter.run(blocks.map(|rows| (rows.len(), all.iter().map(|cells| cells.take(rows)).collect())))
    }
}

/// One worker's share.
struct Sorting<'a> {
    sorter: &'a Sorter<'a>,
    /// Computes the columns of the answer, then what is sorted by.
    selector: Selector<'a>,
    /// Computes what is sorted by first, if no more than `most` rows are wanted; and whatever else may be an error.
    first: Option<(Values, &'a SortKey)>,
    most: Option<u64>,
    /// There are enough rows whose first prefix is no larger.
    bound: u128,
    place: RowPosition,
    rows: Rows,
    runs: Vec<Vec<Block>>,
    gauge: Gauge,
    totals: ScanTotals,
}

impl<'a> Sorting<'a> {
    fn new(plan: &'a Plan, table: &'a dyn Table, sorter: &'a Sorter<'a>, gauge: Gauge) -> Self {
        let values = plan.columns.iter().map(|answer| &answer.value).chain(plan.order_by.iter().map(|key| &key.value));
        let most = plan.limit.map(|limit| limit.saturating_add(plan.offset));
        let first = plan.order_by.first().filter(|_| most.is_some() && shows_columns(plan));
        let others = plan.order_by.iter().skip(1).map(|key| &key.value);
        let expressions = others.filter(|value| !value.is_column());
        Self {
            sorter,
            selector: Selector::new(plan, table, values),
            first: first.map(|key| (Values::new(plan, std::iter::once(&key.value).chain(expressions)), key)),
            most,
            bound: u128::MAX,
            place: RowPosition::default(),
            rows: Rows::new(plan),
            runs: Vec::new(),
            gauge,
            totals: ScanTotals::default(),
        }
    }

    fn take(&mut self, batch: &Batch<'_>, wanted: Option<Vec<u32>>) -> Result<()> {
        let path = self.selector.path();
        self.keep(batch, wanted).map_err(|fault| fault.error(path))?;
        let many = self.most.map_or(u64::MAX, |most| most.saturating_mul(2)).max(MIN_ROWS_BEFORE_CUT as u64);
        if self.rows.rows as u64 >= many {
            self.cut()?;
        }
        self.relieve()
    }

    /// Keeps those of the wanted rows that may be among the first.
    fn keep(&mut self, batch: &Batch<'_>, wanted: Option<Vec<u32>>) -> std::result::Result<(), EvalError> {
        let place = self.place.number();
        self.place.advance(batch.rows);
        let wanted = self.early(batch, wanted)?;
        if wanted.as_ref().map_or(batch.rows, Vec::len) == 0 {
            return Ok(());
        }
        let rows = &mut self.rows;
        self.selector.values(batch, wanted.as_deref(), &mut |selected, wanted| match wanted {
            Some(wanted) => rows.push(selected, wanted.iter().map(|&row| place + i64::from(row))),
            None => rows.push(selected, (0..).map(|row| place + row).take(selected.rows)),
        })?
    }

    /// Those of the wanted rows that may be among the first.
    fn early(
        &mut self,
        batch: &Batch<'_>,
        wanted: Option<Vec<u32>>,
    ) -> std::result::Result<Option<Vec<u32>>, EvalError> {
        let Some((values, key)) = self.first.as_mut().filter(|_| self.bound < u128::MAX) else { return Ok(wanted) };
        let logical_type = key.value.logical_type;
        let is_wide = logical_type.physical() == PhysicalType::Integers && !logical_type.fits_64_bits();
        let (bound, descending, nulls_first) = (self.bound, key.descending, key.nulls_first);
        values.of(batch, wanted.as_deref(), |keys| {
            let view = View::of(&keys.columns[0])?;
            let is_early = |&row: &usize| prefix_of(view.get(row), is_wide, descending, nulls_first) <= bound;
            let row = |row: usize| wanted.as_ref().map_or(row as u32, |wanted| wanted[row]);
            Ok(Some((0..keys.rows).filter(is_early).map(row).collect()))
        })?
    }

    /// Leaves out rows that come too late.
    fn cut(&mut self) -> Result<()> {
        let Some(most) = self.most.filter(|&most| self.rows.rows as u64 > most) else { return Ok(()) };
        let rows = std::mem::replace(&mut self.rows, Rows::new(self.selector.plan()));
        self.rows = rows.sorted(Some(most))?;
        if let (Some(last), Some(key)) = (self.rows.rows.checked_sub(1), self.rows.keys.first()) {
            self.bound = self.bound.min(key.cells.prefix(last, key.descending, key.nulls_first));
        }
        Ok(())
    }

    /// Sorts what there is to a file, if memory is short because of it.
    fn relieve(&mut self) -> Result<()> {
        if self.gauge.is_short() && self.rows.rows > 0 {
            self.cut()?;
            let rows = std::mem::replace(&mut self.rows, Rows::new(self.selector.plan()));
            self.runs.push(rows.into_run(self.sorter)?);
            self.gauge.restart();
        }
        Ok(())
    }
}

takes_wanted_rows!(Sorting<'_>);

impl Worker for Sorting<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.place = RowPosition::of_split(split.index);
    }

    fn sink(&mut self) -> &mut dyn Sink {
        self
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.totals.add(&ScanTotals::from(&scanned));
        Ok(())
    }

    fn split_restarts(&mut self, _: &Split) -> Result<()> {
        Err(Error::Widened)
    }
}
