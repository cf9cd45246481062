//! Scans row groups: prunes those that statistics exclude, replaces rows by statistics where allowed, and delivers the
//! rest.

use super::bounds::Bounds;
use super::column::ScanColumn;
use super::decoded_rows::DecodedRows;
use super::delivery::RowRange;
use super::footer::Chunk;
use super::reader::Reader;
use super::run_selection::CurrentRuns;
use super::value_counts::ValueCounts;
use crate::block::Cost;
use brc_core::predicate::{ColumnStatistics, ValueBounds};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{
    Conjunct, Order, PruneResult, ReadAhead, Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Summary,
};

pub(super) struct FileScanner<'r> {
    pub(super) reader: &'r Reader,
    pub(super) options: ScanOptions,
    pub(super) columns: Vec<ScanColumn<'r>>,
    /// The value counts of the only column, if they replace its rows.
    pub(super) counts: Option<ValueCounts<'r>>,
    /// For each conjunct, the positions of its columns among `columns`.
    pub(super) tested: Vec<Vec<usize>>,
    /// The number of rows in all row groups that are not pruned; `None` before it is first needed.
    possible_rows: Option<u64>,
    /// The runs of the current clustered row group.
    pub(super) runs: CurrentRuns,
    /// Reads the lengths of runs.
    pub(super) lengths: Option<Box<(ScanColumn<'r>, DecodedRows)>>,
    /// A bit for each stored row that satisfies all conjuncts; used if rows are tested before they are put back in
    /// order.
    pub(super) met: Option<Vec<u64>>,
    /// Buffers for columns of clustered row groups whose rows are put back in order.
    pub(super) clustered: Vec<DecodedRows>,
    pub(super) cost: Cost,
    pub(super) ahead: ReadAhead,
}

impl<'r> FileScanner<'r> {
    pub(super) fn new(reader: &'r Reader, options: ScanOptions) -> Result<Self> {
        let column = |&column: &usize| Ok(ScanColumn::new(reader, reader.column(column)?));
        let columns = options.projection.iter().map(column).collect::<Result<_>>()?;
        let position = |column: &usize| options.projection.iter().position(|projected| projected == column);
        let positions = |conjunct: &Conjunct| conjunct.columns.iter().filter_map(position).collect();
        let tested = options.conjuncts.iter().map(positions).collect();
        let (counts, possible_rows, runs, cost) = (None, None, CurrentRuns::default(), Cost::default());
        let (lengths, met, clustered, ahead) = (None, None, Vec::new(), ReadAhead::default());
        let mut scanner = Self {
            reader,
            options,
            columns,
            counts,
            tested,
            possible_rows,
            runs,
            lengths,
            met,
            clustered,
            cost,
            ahead,
        };
        scanner.counts = scanner.worthwhile_counts()?;
        Ok(scanner)
    }

    /// The value counts, if they may replace all rows; `None` if reading the rows that are not pruned is cheaper.
    fn worthwhile_counts(&mut self) -> Result<Option<ValueCounts<'r>>> {
        let mut used = self.options.projection.clone();
        if let Some(predicate) = &self.options.predicate {
            predicate.columns(&mut used);
        }
        used.dedup();
        let [column] = used[..] else { return Ok(None) };
        if !self.options.counts || self.options.order != Order::Any {
            return Ok(None);
        }
        let counts = ValueCounts::of(self.reader, self.reader.column(column)?);
        Ok(counts.filter(|counts| counts.values as u64 <= self.look_ahead()))
    }

    pub(super) fn decide<'a>(&self, known: impl Fn(usize) -> ColumnStatistics<'a>) -> PruneResult {
        self.options.predicate.as_ref().map_or(PruneResult::Always, |predicate| predicate.decide(&known))
    }

    pub(super) fn prune_result(&self, row_group: usize) -> PruneResult {
        self.decide(|column| self.reader.statistics_of(row_group, column))
    }

    /// The expected number of rows that the scan reads, assuming that it selects `wanted` of `all` rows in each row
    /// group.
    pub(super) fn expected_rows(&mut self, wanted: usize, all: usize) -> usize {
        let possible = match self.possible_rows {
            Some(rows) => rows,
            None => self.look_ahead(),
        };
        (possible as f64 * wanted as f64 / all as f64) as usize
    }

    /// Counts the rows of all row groups that scanners will read, and informs the columns which codes of their
    /// dictionaries these may have.
    fn look_ahead(&mut self) -> u64 {
        let row_groups = 0..self.reader.footer.row_groups.len();
        let possible: Vec<_> =
            row_groups.filter(|&row_group| self.prune_result(row_group) != PruneResult::Never).collect();
        for column in &mut self.columns {
            let codes = possible.iter().map(|&row_group| column.chunk_of(row_group).codes);
            column.values.expect_codes(codes.max().unwrap_or(0) as usize);
        }
        let rows = possible.iter().map(|&row_group| u64::from(self.reader.row_group(row_group).rows)).sum();
        self.possible_rows = Some(rows);
        rows
    }

    fn scan_row_group(&mut self, index: usize, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<()> {
        let rows = self.reader.row_group(index).rows;
        if let (Some(counts), [column]) = (&mut self.counts, &mut self.columns[..]) {
            scanned.summarised_rows += u64::from(rows);
            return counts.deliver(index, column, sink, &mut self.cost);
        }
        match (self.prune_result(index), self.reader.row_group(index).cluster) {
            (PruneResult::Never, _) => scanned.skipped_rows += u64::from(rows),
            (PruneResult::Always, _) if self.summarise(index, sink)? => scanned.summarised_rows += u64::from(rows),
            (prune_result, Some(cluster)) if self.options.order == Order::Original => {
                self.restore(index, cluster, prune_result, sink, scanned)?;
            }
            (prune_result, Some(cluster)) if self.needs_runs(index, cluster.key, prune_result) => {
                self.scan_runs(index, cluster, prune_result, sink, scanned)?;
            }
            (prune_result, _) => {
                self.runs.key_position = None;
                let needs_filter = prune_result == PruneResult::Maybe;
                let all = RowRange { rows: 0..rows as usize, needs_filter };
                self.deliver(index, None, &[all], sink, scanned)?;
            }
        }
        Ok(())
    }

    /// Minimum, maximum and sum of each column in a row group, if they may replace its rows.
    pub(super) fn statistics_of(&self, index: usize) -> Option<Vec<(i64, i64, i128)>> {
        if !self.options.statistics || self.options.order != Order::Any {
            return None;
        }
        self.columns.iter().map(|column| statistics(column.chunk_of(index))).collect()
    }

    /// Delivers the statistics of a row group, if they may replace its rows.
    fn summarise(&self, index: usize, sink: &mut dyn Sink) -> Result<bool> {
        let Some(statistics) = self.statistics_of(index) else { return Ok(false) };
        let columns: Vec<_> = statistics.iter().map(summary_of).collect();
        sink.summary(&Summary { rows: &[self.reader.row_group(index).rows], columns: &columns })?;
        Ok(true)
    }
}

impl Reader {
    /// The statistics of a column in a row group.
    pub(super) fn statistics_of(&self, row_group: usize, column: usize) -> ColumnStatistics<'_> {
        match (self.footer.row_groups.get(row_group), self.chunk(row_group, column)) {
            (Some(row_group), Some(chunk)) => {
                column_statistics(chunk.bounds.as_ref().map(Bounds::value_bounds), chunk.nulls, row_group.rows)
            }
            _ => ColumnStatistics::UNKNOWN,
        }
    }
}

/// Whether statistics prove that all rows satisfy a conjunct.
pub(super) fn is_met<'a>(conjunct: &Conjunct, known: impl Fn(usize) -> ColumnStatistics<'a>) -> bool {
    conjunct.predicate.as_ref().is_some_and(|predicate| predicate.decide(&known) == PruneResult::Always)
}

/// Combines value bounds and null count to statistics.
pub(super) fn column_statistics(values: Option<ValueBounds<'_>>, nulls: u32, rows: u32) -> ColumnStatistics<'_> {
    let values = match values {
        Some(values) => values,
        None if nulls == rows => ValueBounds::None,
        None => ValueBounds::Unknown,
    };
    ColumnStatistics { values, nulls: nulls > 0 }
}

/// Minimum, maximum and sum of an integer chunk without nulls.
pub(super) fn statistics(chunk: &Chunk) -> Option<(i64, i64, i128)> {
    let of_64_bits = chunk.is_of_integers() && chunk.nulls == 0;
    match (&chunk.bounds, chunk.sum) {
        (Some(Bounds::Numbers { min, max }), Some(sum)) if of_64_bits => {
            Some((i64::try_from(*min).ok()?, i64::try_from(*max).ok()?, sum))
        }
        _ => None,
    }
}

fn summary_of((min, max, sum): &(i64, i64, i128)) -> ColumnSummary<'_> {
    let [min, max] = [min, max].map(std::slice::from_ref);
    ColumnSummary::Numbers(Numbers { min, max, sum: Sums::Wide(std::slice::from_ref(sum)) })
}

impl Scanner for FileScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let index = usize::try_from(split.index).unwrap_or(usize::MAX);
        if index >= self.reader.footer.row_groups.len() {
            return Ok(None);
        }
        self.cost = Cost::default();
        self.read_ahead(split);
        let mut scanned = Scanned::default();
        self.scan_row_group(index, sink, &mut scanned)?;
        self.end_reading(index);
        scanned.bytes = self.cost.bytes;
        scanned.read_time = self.cost.read_time;
        scanned.decompress_time = self.cost.decompress_time;
        scanned.decode_time = self.cost.decode_time;
        Ok(Some(scanned))
    }
}
