//! Restores the original row order of a clustered row group.
//!
//! The order stream has the run of each row in original order. The rows of a run keep their order, so one walk over the
//! order stream yields the stored position of each row, and every column is gathered from these positions. Conjuncts
//! are tested on the stored rows first, so that only matching rows are gathered.

use super::column::{BATCH_ROWS, ScanColumn};
use super::decoded_rows::DecodedRows;
use super::decoder::DecodedStrings;
use super::footer::Cluster;
use super::reader::Reader;
use super::runs::Runs;
use super::scanner::FileScanner;
use crate::block::Cost;
use crate::integers::BLOCK_ROWS;
use crate::location::Location;
use brc_core::{Batch, Column, Data, PruneResult, Result, Scanned, Sink};
use brc_kernels::cpu::Level;
use brc_kernels::filter::{valid_bits, words};
use brc_kernels::runs::{self, Found};
use std::time::Instant;

impl FileScanner<'_> {
    /// Delivers the rows of a clustered row group that satisfy all conjuncts, in original order.
    pub(super) fn restore(
        &mut self,
        index: usize,
        cluster: Cluster,
        prune_result: PruneResult,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<()> {
        // A conjunct without columns may depend on the row order. For remote files, testing stored rows would require
        // fetching run statistics.
        let is_remote = self.reader.source().file.is_remote();
        let all = 0..self.options.conjuncts.len();
        let (in_order, on_stored): (Vec<_>, Vec<_>) =
            all.partition(|&test| is_remote || self.options.conjuncts[test].columns.is_empty());
        let mut met = None;
        self.clustered.resize_with(self.columns.len(), DecodedRows::default);
        self.clustered.iter_mut().for_each(DecodedRows::clear);
        if on_stored.is_empty() {
            let all = self.reader.row_group(index).rows;
            // Row counts must be known before dictionaries are read.
            self.expected_rows(all as usize, all as usize);
            self.load_runs(index)?;
            scanned.rows += u64::from(all);
        } else {
            self.met = Some(vec![0; words(self.reader.row_group(index).rows as usize)]);
            let tested = self.scan_runs(index, cluster, prune_result, sink, scanned);
            met = self.met.take();
            tested?;
            if met.iter().flatten().all(|&word| word == 0) {
                return Ok(());
            }
        }
        let are_tested = !self.options.conjuncts.is_empty();
        let with_memory = self.columns.iter_mut().zip(&mut self.clustered);
        let mut columns: Vec<_> =
            with_memory.map(|(column, memory)| RestoredColumn::new(column, memory, cluster.key)).collect();
        if are_tested {
            columns.iter_mut().enumerate().for_each(|(position, column)| column.is_wanted = sink.wants(position));
        }
        let tests: Vec<(usize, &[usize])> = in_order.iter().map(|&test| (test, &self.tested[test][..])).collect();
        let walked = walk(self.reader, index, &self.runs.runs, met.as_deref(), &mut self.cost, |at, cost| {
            deliver(&mut columns, at, are_tested.then_some(&tests[..]), sink, cost)
        });
        if !are_tested {
            // This memory is as large as what a consumer of all rows holds by now.
            self.clustered.clear();
        }
        walked
    }
}

/// Delivers the rows at some positions that satisfy the given conjuncts, each with the positions of its columns.
fn deliver(
    columns: &mut [RestoredColumn<'_, '_>],
    at: &RowPositions<'_>,
    tests: Option<&[(usize, &[usize])]>,
    sink: &mut dyn Sink,
    cost: &mut Cost,
) -> Result<()> {
    let rows = at.positions.len();
    let is_tested = tests.is_some_and(|tests| !tests.is_empty());
    let mut bits = if is_tested { (0..words(rows)).map(|word| valid_bits(rows, word)).collect() } else { Vec::new() };
    let mut left = rows;
    columns.iter_mut().for_each(|column| column.is_current = false);
    for &(test, tested) in tests.into_iter().flatten() {
        tested.iter().try_for_each(|&position| columns[position].ensure_gathered(at, cost))?;
        let batch_columns: Vec<_> = tested.iter().map(|&position| columns[position].as_column()).collect();
        left = sink.test(test, &Batch { rows, columns: &batch_columns }, &mut bits)?;
        if left == 0 {
            return Ok(());
        }
    }
    columns.iter_mut().filter(|column| column.is_wanted).try_for_each(|column| column.ensure_gathered(at, cost))?;
    let batch_columns: Vec<_> = columns.iter().map(RestoredColumn::as_column).collect();
    let batch = Batch { rows, columns: &batch_columns };
    if tests.is_some() { sink.tested(&batch, (left < rows).then_some(&bits)) } else { sink.batch(&batch) }
}

const _: () = assert!(BATCH_ROWS <= runs::MAX_ROWS, "one call restores a batch");

/// The stored positions of some rows of a clustered row group.
pub(super) struct RowPositions<'a> {
    row_group: usize,
    runs: &'a Runs,
    /// The run of each row.
    codes: &'a [u32],
    positions: &'a [u32],
}

/// A column with some rows in original order.
struct RestoredColumn<'a, 'r> {
    column: &'a mut ScanColumn<'r>,
    is_key: bool,
    /// Whether it is delivered, not only tested.
    is_wanted: bool,
    /// All rows in stored order if they have been read; otherwise none, or the first ones.
    clustered: &'a mut DecodedRows,
    rows: DecodedRows,
    strings: DecodedStrings,
    /// Whether `rows` are the current rows.
    is_current: bool,
}

impl<'a, 'r> RestoredColumn<'a, 'r> {
    fn new(column: &'a mut ScanColumn<'r>, clustered: &'a mut DecodedRows, key: usize) -> Self {
        let (is_key, rows, strings) = (column.column == key, DecodedRows::default(), DecodedStrings::default());
        Self { column, is_key, is_wanted: true, clustered, rows, strings, is_current: false }
    }

    /// Gathers the rows at some positions, unless they are current.
    fn ensure_gathered(&mut self, at: &RowPositions<'_>, cost: &mut Cost) -> Result<()> {
        if self.is_current {
            return Ok(());
        }
        if self.clustered.len() < self.column.values_in(at.row_group) {
            self.clustered.replace(self.column, at.row_group, Some(at.runs), cost)?;
        }
        // The key has one value per run.
        let positions = if self.is_key { at.codes } else { at.positions };
        self.is_current = true;
        let gathered = self.rows.gather(self.clustered, positions, &mut self.strings);
        gathered.map_err(|reason| self.column.corrupt_at(at.row_group, reason))
    }

    fn as_column(&self) -> Column<'_> {
        self.rows.as_column(&self.strings, self.column.dictionary())
    }
}

/// Calls `each` with the stored positions of rows, batch by batch in original order: of all rows, or of those whose
/// bits in `met`, in stored order, are set.
///
/// # Errors
/// If the order stream does not match the runs; errors of `each`.
pub(super) fn walk(
    reader: &Reader,
    index: usize,
    runs: &Runs,
    met: Option<&[u64]>,
    cost: &mut Cost,
    mut each: impl FnMut(&RowPositions<'_>, &mut Cost) -> Result<()>,
) -> Result<()> {
    let number = reader.footer.order_streams();
    let mut order = ScanColumn::new(reader, reader.column(number)?);
    order.start(index, 0, None, cost)?;
    let (mut cursors, mut found) = (runs.cursors(), Found::default());
    let rows = reader.row_group(index).rows as usize;
    for (block, start) in (0..rows).step_by(BLOCK_ROWS).enumerate() {
        let of_block = BLOCK_ROWS.min(rows - start);
        order.load(block, of_block, cost)?;
        for first in (0..of_block).step_by(BATCH_ROWS) {
            let started = Instant::now();
            order.decode(first..of_block.min(first + BATCH_ROWS), None)?;
            let Data::Integers(decoded) = order.as_column().data else { continue };
            if !found.find(Level::best(), decoded, &mut cursors, met) {
                let location = Location::Data { row_group: index, column: reader.footer.name(number), block };
                return Err(reader.corrupt(location, "the order of rows is not that of the runs"));
            }
            cost.decode_time += started.elapsed();
            if !found.places().is_empty() {
                each(&RowPositions { row_group: index, runs, codes: found.runs(), positions: found.places() }, cost)?;
            }
        }
    }
    Ok(())
}
