//! Scans row groups for one worker: decides what can be skipped or summarised, and delivers the rest piece by piece.
//!
//! All buffers live as long as the scanner: there is no work for single rows outside the kernels, and no allocation.

use crate::block::Cost;
use crate::integer_buffer::IntegerSlice;
use crate::run_statistics::Detail;
use crate::v1::footer::{Cluster, RowGroup};
use crate::v1::pieces::{for_each_piece, with_slots};
use crate::v1::reader::Reader;
use crate::v1::restore;
use crate::v1::run_decisions::RunDecisions;
use crate::v1::run_table::RunTable;
use crate::v1::scan_column::ScanColumn;
use crate::v1::selection::{Span, Spans, verdicts_by_value};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{
    Batch, Column, Known, Order, ReadAhead, Result, ScanError, ScanOptions, Scanned, Scanner, Sink, Split, Statistics,
    Summary, Verdict,
};
use std::ops::Range;

/// Of no rows.
const NO_SUMMARY: ColumnSummary<'static> =
    ColumnSummary::Numbers(Numbers { min: &[], max: &[], sum: Sums::Narrow(&[]) });

pub(crate) struct BurenScanner<'r> {
    pub(crate) reader: &'r Reader,
    pub(crate) options: ScanOptions,
    /// The columns that the predicate looks at.
    pub(crate) predicate_columns: Vec<usize>,
    pub(crate) columns: Vec<ScanColumn<'r>>,
    pub(crate) runs: RunTable,
    spans: Spans,
    /// For each column that was a cluster key so far, the predicate's verdict for each of its values.
    pub(crate) key_verdicts: Vec<Option<Vec<Verdict>>>,
    pub(crate) cost: Cost,
    pub(crate) ahead: ReadAhead,
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
            ahead: ReadAhead::default(),
        })
    }

    /// What the predicate is for the whole row group.
    pub(crate) fn decide(&self, row_group: &RowGroup) -> Verdict {
        self.options.predicate.as_ref().map_or(Verdict::Always, |predicate| {
            predicate.decide(&|column| row_group.chunks[column].statistics().map_or(Known::NOTHING, Known::from))
        })
    }

    /// Whether statistics may stand for rows, given the column whose value is the same for all of them.
    pub(crate) fn can_summarise(&self, key: Option<usize>) -> bool {
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
            return Ok(self.summarise_row_group(row_group, sink)?);
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
        let mut part = 0..usize::MAX;
        if verdict == Verdict::Maybe && self.predicate_columns.contains(&cluster.key) {
            self.load_key_codes(index, cluster.key)?;
            part = self.runs_that_may_match(cluster.key)?;
            if part.is_empty() {
                scanned.skipped_rows += u64::from(row_group.rows);
                return Ok(());
            }
        } else if self.columns.iter().any(|column| column.column == cluster.key) {
            self.load_key_codes(index, cluster.key)?;
        } else {
            self.runs.codes.clear();
        }
        self.load_runs(index, cluster, verdict, summarise, part)?;
        self.spans.clear();
        if by_run {
            self.select(index, cluster, verdict, summarise, sink, scanned)?;
        } else {
            self.spans.deliver(0, 0, row_group.rows);
        }
        scanned.skipped_rows += self.spans.skipped;
        let spans = std::mem::take(&mut self.spans.spans);
        self.expect_spans(index, cluster.key, &spans);
        let delivered = spans.iter().try_for_each(|&span| self.deliver(index, Some(cluster.key), span, sink, scanned));
        self.spans.spans = spans;
        delivered
    }

    fn load_key_codes(&mut self, index: usize, key: usize) -> Result<()> {
        match self.columns.iter_mut().find(|column| column.column == key) {
            Some(column) => {
                // Nobody else needs it: the key's own chunk is not decoded when it comes as runs.
                std::mem::swap(&mut self.runs.codes, &mut column.map);
                Ok(())
            }
            None => {
                let RunTable { block, codes, .. } = &mut self.runs;
                self.reader.load_map(index, key, block, codes, &mut self.cost)
            }
        }
    }

    /// From the first to the last run that is not ruled out by its key.
    fn runs_that_may_match(&mut self, key: usize) -> Result<Range<usize>> {
        if self.key_verdicts[key].is_none()
            && let Some(predicate) = &self.options.predicate
        {
            self.key_verdicts[key] = Some(verdicts_by_value(predicate, key, self.reader.dictionary(key)?));
        }
        let verdicts = self.key_verdicts[key].as_deref().unwrap_or_default();
        let may_match = |&code: &u32| verdicts.get(code as usize) != Some(&Verdict::Never);
        let first = self.runs.codes.iter().position(may_match);
        let last = self.runs.codes.iter().rposition(may_match);
        Ok(first.zip(last).map_or(0..0, |(first, last)| first..last + 1))
    }

    /// Reads as much of the run index as will be looked at, of the runs `part`.
    fn load_runs(
        &mut self,
        index: usize,
        cluster: Cluster,
        verdict: Verdict,
        summarise: bool,
        part: Range<usize>,
    ) -> Result<()> {
        let detail = if summarise { Detail::All } else { Detail::Min };
        self.runs.want(detail, self.columns.iter().map(|column| column.column));
        self.runs.part = part;
        if verdict == Verdict::Maybe {
            for &column in &self.predicate_columns {
                self.runs.details[column] = self.runs.details[column].max(Detail::Bounds);
            }
        }
        self.runs.load(self.reader, index, cluster, &mut self.cost)
    }

    /// Decides stretches of runs; their summaries are given to the sink at once.
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
        let decisions = RunDecisions::new(self, index, cluster.key, verdict)?;
        let mut first_row = 0;
        for (verdict, stretch) in decisions.stretches() {
            let rows: u32 = self.runs.rows[stretch.clone()].iter().sum();
            match verdict {
                Verdict::Never => spans.skip(rows),
                Verdict::Always if summarise => {
                    spans.summarised();
                    scanned.summarised_rows += u64::from(rows);
                    self.summarise_runs(stretch, sink)?;
                }
                _ => spans.deliver(stretch.start, first_row, rows),
            }
            first_row += rows;
        }
        self.spans = spans;
        Ok(())
    }

    /// Gives the statistics of some runs to the sink; the cluster key is the only string column.
    fn summarise_runs(&self, runs: Range<usize>, sink: &mut dyn Sink) -> Result<()> {
        let of_column = |column: &ScanColumn<'r>| match column.dictionary {
            Some(dictionary) => ColumnSummary::Codes { codes: &self.runs.codes[runs.clone()], dictionary },
            None => ColumnSummary::Numbers(self.runs.statistics[column.column].of_runs(runs.clone())),
        };
        self.summarise(&self.runs.rows[runs.clone()], of_column, sink)
    }

    /// Gives the statistics of a whole row group to the sink; no column is a string.
    fn summarise_row_group(&self, row_group: &RowGroup, sink: &mut dyn Sink) -> Result<()> {
        let of_column = |column: &ScanColumn<'r>| {
            let Some(Statistics { min, max, sum, .. }) = row_group.chunks[column.column].statistics() else {
                return NO_SUMMARY;
            };
            let [min, max] = [min, max].map(std::slice::from_ref);
            ColumnSummary::Numbers(Numbers { min, max, sum: Sums::Wide(std::slice::from_ref(sum)) })
        };
        self.summarise(&[row_group.rows], of_column, sink)
    }

    fn summarise<'s>(
        &'s self,
        rows: &[u32],
        of_column: impl Fn(&'s ScanColumn<'r>) -> ColumnSummary<'s>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        with_slots(self.columns.len(), NO_SUMMARY, |slots| {
            for (slot, column) in slots.iter_mut().zip(&self.columns) {
                *slot = of_column(column);
            }
            sink.summary(&Summary { rows, columns: slots })
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
            with_slots(columns.len(), Column::integers(IntegerSlice::I16(&[]).into()), |slots| {
                for (slot, column) in slots.iter_mut().zip(columns) {
                    *slot = match (column.dictionary, key) {
                        (Some(dictionary), Some(key)) if key == column.column => Column::runs(runs, dictionary),
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
