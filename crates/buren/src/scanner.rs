//! Scans row groups for one worker: decides what can be skipped or summarised, and delivers the rest piece by piece.
//!
//! A piece is small enough that what is decoded is still in the first-level cache when the sink folds it. All buffers
//! live as long as the scanner; per piece there is one call of the sink and a little work for each run, and nothing a row.

use crate::block::{BlockBuffer, Cost};
use crate::footer::{Cluster, RowGroup};
use crate::place::Place;
use crate::reader::Reader;
use crate::restore;
use crate::run_index::{self, Detail, RunStatistics};
use crate::runs::RunWalk;
use crate::scan_column::ScanColumn;
use crate::schemes::Frames;
use crate::selection::{Span, Spans, verdicts_by_value};
use brc_core::table::ColumnSummary;
use brc_core::{
    Batch, Column, Known, Order, Result, Run, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Statistics,
    Summary, Values, Verdict,
};
use std::time::Instant;

/// Rows of a piece.
pub(crate) const PIECE: usize = 4096;

pub(crate) struct BurenScanner<'r> {
    pub(crate) reader: &'r Reader,
    options: ScanOptions,
    /// The columns that the predicate looks at.
    predicate_columns: Vec<usize>,
    pub(crate) columns: Vec<ScanColumn<'r>>,
    pub(crate) runs: RunTable,
    spans: Spans,
    /// For each column that was a cluster key so far, the predicate's verdict for each of its values.
    key_verdicts: Vec<Option<Vec<Verdict>>>,
    pub(crate) cost: Cost,
}

/// The runs of the row group that is being scanned.
#[derive(Default)]
pub(crate) struct RunTable {
    pub(crate) rows: Vec<u32>,
    /// The dictionary's code of each run, if that was asked for; else 0.
    codes: Vec<u32>,
    /// For each column of the schema, what was asked for.
    pub(crate) statistics: Vec<RunStatistics>,
    details: Vec<Detail>,
    block: BlockBuffer,
    /// The runs of the piece at hand.
    piece: Vec<Run>,
}

impl<'r> BurenScanner<'r> {
    pub(crate) fn new(reader: &'r Reader, options: ScanOptions) -> Result<Self> {
        let columns =
            options.projection.iter().map(|&column| ScanColumn::new(reader, column)).collect::<Result<_>>()?;
        let schema_columns = reader.footer().schema.fields().len();
        let runs = RunTable::new(schema_columns);
        let key_verdicts = vec![None; schema_columns];
        let mut predicate_columns = Vec::new();
        if let Some(predicate) = &options.predicate {
            predicate.columns(&mut predicate_columns);
        }
        Ok(Self {
            reader,
            options,
            predicate_columns,
            columns,
            runs,
            spans: Spans::default(),
            key_verdicts,
            cost: Cost::default(),
        })
    }

    /// What the predicate is for the whole row group.
    fn decide(&self, row_group: &RowGroup) -> Verdict {
        self.options.predicate.as_ref().map_or(Verdict::Always, |predicate| {
            predicate.decide(&|column| row_group.chunks[column].statistics().map_or(Known::Nothing, Known::from))
        })
    }

    /// Whether statistics may stand for rows, given the column whose value is the same for all of them.
    fn can_summarise(&self, key: Option<usize>) -> bool {
        let known = |column: &ScanColumn<'_>| column.dictionary.is_none() || Some(column.column) == key;
        self.options.statistics && self.options.order == Order::Any && self.columns.iter().all(known)
    }

    fn scan_row_group(&mut self, index: usize, sink: &mut dyn Sink, scanned: &mut Scanned) -> Result<(), ScanError> {
        let row_group = self.reader.row_group(index);
        let verdict = self.decide(row_group);
        if verdict == Verdict::Never {
            scanned.skipped_rows += u64::from(row_group.rows);
            return Ok(());
        }
        if verdict == Verdict::Always && self.can_summarise(None) {
            scanned.summarised_rows += u64::from(row_group.rows);
            return self.summarise(row_group, sink);
        }
        match (row_group.cluster, self.options.order) {
            (Some(cluster), Order::Any) => self.scan_clustered(index, cluster, verdict, sink, scanned),
            (Some(cluster), Order::Original) => restore::scan(self, index, cluster, sink, scanned),
            (None, _) => {
                for column in &mut self.columns {
                    column.start(index, &mut self.cost)?;
                }
                let span = Span { first_run: 0, first_row: 0, rows: row_group.rows };
                self.deliver(index, None, span, sink, scanned)
            }
        }
    }

    fn scan_clustered(
        &mut self,
        index: usize,
        cluster: Cluster,
        verdict: Verdict,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<(), ScanError> {
        let row_group = self.reader.row_group(index);
        for column in &mut self.columns {
            column.start(index, &mut self.cost)?;
        }
        let summarise = self.can_summarise(Some(cluster.key));
        let by_run = verdict == Verdict::Maybe || summarise;
        if verdict == Verdict::Maybe && self.predicate_columns.contains(&cluster.key) {
            self.load_key_codes(index, cluster.key)?;
            if self.no_key_matches(cluster.key)? {
                scanned.skipped_rows += u64::from(row_group.rows);
                return Ok(());
            }
        } else if self.columns.iter().any(|column| column.column == cluster.key) {
            self.load_key_codes(index, cluster.key)?;
        } else {
            self.runs.codes.clear();
        }
        self.load_runs(index, cluster, verdict, summarise)?;
        self.spans.clear();
        if by_run {
            self.select(index, cluster, verdict, summarise, sink, scanned)?;
        } else {
            self.spans.deliver(0, 0, row_group.rows);
        }
        scanned.skipped_rows += self.spans.skipped;
        let spans = std::mem::take(&mut self.spans.spans);
        let delivered = spans.iter().try_for_each(|&span| self.deliver(index, Some(cluster.key), span, sink, scanned));
        self.spans.spans = spans;
        delivered
    }

    fn load_key_codes(&mut self, index: usize, key: usize) -> Result<()> {
        match self.columns.iter().find(|column| column.column == key) {
            Some(column) => {
                self.runs.codes.clone_from(&column.map);
                Ok(())
            }
            None => {
                let RunTable { block, codes, .. } = &mut self.runs;
                self.reader.load_map(index, key, block, codes, &mut self.cost)
            }
        }
    }

    /// Whether the keys of all runs rule them out.
    fn no_key_matches(&mut self, key: usize) -> Result<bool> {
        if self.key_verdicts[key].is_none()
            && let Some(predicate) = &self.options.predicate
        {
            self.key_verdicts[key] = Some(verdicts_by_value(predicate, key, self.reader.dictionary(key)?));
        }
        let verdicts = self.key_verdicts[key].as_deref().unwrap_or_default();
        Ok(self.runs.codes.iter().all(|&code| verdicts.get(code as usize) == Some(&Verdict::Never)))
    }

    /// Reads as much of the run index as will be looked at.
    fn load_runs(&mut self, index: usize, cluster: Cluster, verdict: Verdict, summarise: bool) -> Result<()> {
        let detail = if summarise { Detail::All } else { Detail::Min };
        self.runs.want(detail, self.columns.iter().map(|column| column.column));
        if verdict == Verdict::Maybe {
            for &column in &self.predicate_columns {
                self.runs.details[column] = self.runs.details[column].max(Detail::Bounds);
            }
        }
        self.runs.load(self.reader, index, cluster, &mut self.cost)
    }

    /// Decides run by run; summaries are given to the sink at once.
    fn select(
        &mut self,
        index: usize,
        cluster: Cluster,
        verdict: Verdict,
        summarise: bool,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<(), ScanError> {
        let mut spans = std::mem::take(&mut self.spans);
        let mut first_row = 0;
        self.with_summary(|scanner, columns| {
            for (run, &rows) in scanner.runs.rows.iter().enumerate() {
                match if verdict == Verdict::Always { verdict } else { scanner.decide_run(index, cluster.key, run)? } {
                    Verdict::Never => spans.skip(rows),
                    Verdict::Always if summarise => {
                        spans.summarised();
                        scanned.summarised_rows += u64::from(rows);
                        for (summary, column) in columns.iter_mut().zip(&scanner.columns) {
                            match summary {
                                ColumnSummary::Code { code, .. } => *code = scanner.runs.codes[run],
                                ColumnSummary::Numbers(statistics) => {
                                    *statistics = scanner.runs.statistics[column.column].get(run, rows);
                                }
                            }
                        }
                        sink.summary(&Summary { rows: u64::from(rows), columns })?;
                    }
                    _ => spans.deliver(run, first_row, rows),
                }
                first_row += rows;
            }
            Ok::<_, ScanError>(())
        })?;
        self.spans = spans;
        Ok(())
    }

    fn decide_run(&self, index: usize, key: usize, run: usize) -> Result<Verdict> {
        let Some(predicate) = &self.options.predicate else { return Ok(Verdict::Always) };
        let mut value = Known::Nothing;
        if self.predicate_columns.contains(&key) {
            let code = self.runs.codes[run];
            let by_key = self.key_verdicts[key].as_ref().and_then(|verdicts| verdicts.get(code as usize));
            if let Some(verdict @ (Verdict::Always | Verdict::Never)) = by_key {
                return Ok(*verdict);
            }
            value = Known::Text(self.reader.dictionary(key)?.get(code));
        }
        let row_group = self.reader.row_group(index);
        Ok(predicate.decide(&|column| {
            if column == key {
                value
            } else if row_group.chunks[column].statistics().is_some() {
                let (min, max) = self.runs.statistics[column].bounds(run);
                Known::Numbers { min, max }
            } else {
                Known::Nothing
            }
        }))
    }

    /// Gives the statistics of a whole row group to the sink; no column is a string.
    fn summarise(&self, row_group: &RowGroup, sink: &mut dyn Sink) -> Result<(), ScanError> {
        self.with_summary(|scanner, columns| {
            for (summary, column) in columns.iter_mut().zip(&scanner.columns) {
                let statistics = row_group.chunks[column.column].statistics();
                *summary = ColumnSummary::Numbers(statistics.copied().unwrap_or_default());
            }
            Ok(sink.summary(&Summary { rows: u64::from(row_group.rows), columns })?)
        })
    }

    /// Lends a summary of all projected columns to be filled in.
    fn with_summary<R>(&self, then: impl FnOnce(&Self, &mut [ColumnSummary<'r>]) -> R) -> R {
        with_slots(self.columns.len(), ColumnSummary::Numbers(Statistics::EMPTY), |slots| {
            for (slot, column) in slots.iter_mut().zip(&self.columns) {
                if let Some(dictionary) = column.dictionary {
                    *slot = ColumnSummary::Code { code: 0, dictionary };
                }
            }
            then(self, slots)
        })
    }

    /// Delivers the rows of a span; `key` is the column that comes as runs.
    fn deliver(
        &mut self,
        index: usize,
        key: Option<usize>,
        span: Span,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<(), ScanError> {
        scanned.rows += u64::from(span.rows);
        let Self { reader, columns, runs, cost, .. } = self;
        for_each_piece(reader, index, columns, key, runs, span, cost, |columns, runs, rows| {
            with_slots(columns.len(), Column::Values(Values::I16(&[])), |slots| {
                for (slot, column) in slots.iter_mut().zip(columns) {
                    *slot = match (column.dictionary, key) {
                        (Some(dictionary), Some(key)) if key == column.column => Column::Runs { runs, dictionary },
                        _ => column.as_column(),
                    };
                }
                Ok(sink.batch(&Batch { rows, columns: slots })?)
            })
        })
    }
}

impl Scanner for BurenScanner<'_> {
    fn scan(&mut self, split: &Split, sink: &mut dyn Sink) -> Result<Option<Scanned>, ScanError> {
        let index = usize::try_from(split.index).unwrap_or(usize::MAX);
        if index >= self.reader.footer().row_groups.len() {
            return Ok(None);
        }
        self.cost = Cost::default();
        let mut scanned = Scanned::default();
        self.scan_row_group(index, sink, &mut scanned)?;
        scanned.bytes = self.cost.bytes;
        scanned.read_time = self.cost.read_time;
        scanned.decode_time = self.cost.decode_time;
        Ok(Some(scanned))
    }
}

impl RunTable {
    pub(crate) fn new(columns: usize) -> Self {
        Self { statistics: (0..columns).map(|_| RunStatistics::default()).collect(), ..Self::default() }
    }

    /// Asks for the statistics of these columns only.
    pub(crate) fn want(&mut self, detail: Detail, columns: impl Iterator<Item = usize>) {
        self.details.clear();
        self.details.resize(self.statistics.len(), Detail::Nothing);
        columns.for_each(|column| self.details[column] = detail);
    }

    /// Lets the code of each run be its number.
    pub(crate) fn number(&mut self) {
        self.codes.clear();
        self.codes.extend(0..self.rows.len() as u32);
    }

    /// Reads what was asked for of a run index.
    pub(crate) fn load(&mut self, reader: &Reader, index: usize, cluster: Cluster, cost: &mut Cost) -> Result<()> {
        let row_group = reader.row_group(index);
        let place = Place::RunIndex { row_group: index };
        self.block.load(reader.source(), &cluster.run_index, place, cost)?;
        let runs = row_group.chunks[cluster.key].cardinality() as usize;
        let decimals = self.statistics.iter_mut().zip(&self.details).zip(&row_group.chunks);
        let wanted = decimals.filter_map(|((statistics, detail), chunk)| {
            statistics.clear();
            chunk.statistics().map(|_| (*detail, statistics))
        });
        run_index::read(self.block.bytes(), runs, row_group.rows, &mut self.rows, wanted)
            .map_err(|reason| reader.corrupt(place, reason))?;
        self.codes.resize(runs, 0);
        Ok(())
    }
}

/// Decodes a span piece by piece and hands the columns, the runs and the number of rows of each piece on. The column
/// `key` is not decoded: it has one value a run. Without a key all rows are one run.
#[allow(clippy::too_many_arguments)]
pub(crate) fn for_each_piece<'r>(
    reader: &Reader,
    index: usize,
    columns: &mut [ScanColumn<'r>],
    key: Option<usize>,
    runs: &mut RunTable,
    span: Span,
    cost: &mut Cost,
    mut on_piece: impl FnMut(&[ScanColumn<'r>], &[Run], usize) -> Result<(), ScanError>,
) -> Result<(), ScanError> {
    let row_group = reader.row_group(index);
    let rows_per_block = reader.footer().rows_per_block as usize;
    let mut walk = key.map(|_| RunWalk::new(&runs.codes, &runs.rows, span.first_run));
    let mut row = span.first_row as usize;
    let end = row + span.rows as usize;
    while row < end {
        let block = row / rows_per_block;
        let block_start = block * rows_per_block;
        let block_end = end.min(block_start + rows_per_block);
        for column in columns.iter_mut().filter(|column| Some(column.column) != key) {
            column.load(block, cost)?;
        }
        let mut sampled = Some(Instant::now());
        let rows_of_block = block_end - row;
        while row < block_end {
            let first = row - block_start;
            let rows = (PIECE - first % PIECE).min(block_end - row);
            let of_piece = match &mut walk {
                Some(walk) => walk.take(rows, &mut runs.piece),
                None => {
                    runs.piece.clear();
                    runs.piece.push(Run { code: 0, rows: rows as u32 });
                    0..0
                }
            };
            for column in columns.iter_mut().filter(|column| Some(column.column) != key) {
                let bases = if row_group.has_run_statistics(column.column) {
                    &runs.statistics[column.column].min[of_piece.clone()]
                } else {
                    &[]
                };
                column.decode(first, rows, Frames { chunk: 0, runs: &runs.piece, bases });
                column.translate()?;
            }
            // The clock is read for the first piece of a block only, and the others are taken to be like it.
            if let Some(started) = sampled.take() {
                cost.decode_time += started.elapsed() * rows_of_block as u32 / rows as u32;
            }
            on_piece(columns, &runs.piece, rows)?;
            row += rows;
        }
    }
    Ok(())
}

/// Lends a slice of `count` slots that costs no allocation as long as they are few.
pub(crate) fn with_slots<T: Copy, R>(count: usize, empty: T, then: impl FnOnce(&mut [T]) -> R) -> R {
    const FEW: usize = 8;
    if count <= FEW { then(&mut [empty; FEW][..count]) } else { then(&mut vec![empty; count]) }
}
