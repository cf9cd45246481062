//! Decides for each run of a clustered row group whether it is skipped, replaced by its statistics, or delivered.
//!
//! A table may have a million runs. If the key alone decides, which is evaluated once per key value, a run costs one
//! table lookup. Adjacent runs with the same action are handled together.

use super::column::ScanColumn;
use super::decoded_rows::DecodedRows;
use super::delivery::RowRange;
use super::footer::Cluster;
use super::run_key::RunKey;
use super::runs::Runs;
use super::scanner::FileScanner;
use crate::run_statistics::{Detail, RunNumbers};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{
    ColumnStatistics, Dictionary, Order, Predicate, PruneResult, Result, Scanned, Sink, Summary, ValueBounds,
};
use std::ops::Range;

/// The runs of the current row group.
#[derive(Default)]
pub(super) struct CurrentRuns {
    pub(super) runs: Runs,
    /// The position of the cluster key among the scanned columns, if it is scanned.
    pub(super) key_position: Option<usize>,
    /// The key's values, if it is scanned.
    pub(super) key: RunKey,
    /// The result of the predicate for each value of the key, as far as the key alone determines it.
    prune_results: KeyPruneResults,
}

/// Results by code in the scanner's dictionary of a column.
#[derive(Default)]
struct KeyPruneResults {
    column: usize,
    of_codes: Vec<PruneResult>,
}

/// What happens to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunAction {
    Skipped,
    Summarised,
    Delivered { needs_filter: bool },
}

impl FileScanner<'_> {
    /// Scans a clustered row group that is not pruned, in any order.
    pub(super) fn scan_runs(
        &mut self,
        index: usize,
        cluster: Cluster,
        prune_result: PruneResult,
        sink: &mut dyn Sink,
        scanned: &mut Scanned,
    ) -> Result<()> {
        // Row counts must be known before the key's dictionary is read.
        let all = self.reader.row_group(index).rows as usize;
        self.expected_rows(all, all);
        self.load_runs(index)?;
        self.runs.key_position = self.options.projection.iter().position(|&column| column == cluster.key);
        if let Some(position) = self.runs.key_position {
            self.runs.key.read(&mut self.columns[position], index, &mut self.cost)?;
        }
        let summarise = self.may_summarise_runs(index);
        if prune_result == PruneResult::Always && !summarise {
            let range = RowRange { rows: 0..all, needs_filter: false };
            return self.deliver(index, Some(cluster.key), &[range], sink, scanned);
        }
        let part = match prune_result {
            PruneResult::Maybe => self.runs_that_may_match(cluster.key),
            PruneResult::Always | PruneResult::Never => 0..self.runs.runs.len(),
        };
        self.read_run_indexes(index, part.clone(), summarise)?;
        let actions = self.actions(index, cluster.key, prune_result, summarise, part)?;
        let mut ranges: Vec<RowRange> = Vec::new();
        for (action, runs) in actions {
            let rows = self.runs.runs.rows_of(runs.clone());
            match action {
                RunAction::Skipped => scanned.skipped_rows += rows.len() as u64,
                RunAction::Summarised => {
                    scanned.summarised_rows += rows.len() as u64;
                    self.summarise_runs(runs, sink)?;
                }
                RunAction::Delivered { needs_filter } => ranges.push(RowRange { rows, needs_filter }),
            }
        }
        self.deliver(index, Some(cluster.key), &ranges, sink, scanned)
    }

    /// Reads the run lengths of a clustered row group.
    pub(super) fn load_runs(&mut self, index: usize) -> Result<()> {
        let lengths = match &mut self.lengths {
            Some(lengths) => lengths,
            None => {
                let column = self.reader.column(self.reader.footer.run_lengths())?;
                self.lengths.insert(Box::new((ScanColumn::new(self.reader, column), DecodedRows::default())))
            }
        };
        self.runs.runs.replace((&mut lengths.0, &mut lengths.1), self.reader, index, &mut self.cost)
    }

    /// Whether scanning a row group that is not pruned requires its runs. For remote files, runs are not read if they
    /// would not reduce the bytes to fetch.
    pub(super) fn needs_runs(&self, index: usize, key: usize, prune_result: PruneResult) -> bool {
        let is_of_runs = |column: &ScanColumn<'_>| column.column == key || column.chunk_of(index).is_in_runs();
        !self.reader.source().file.is_remote()
            || self.columns.iter().any(is_of_runs)
            || self.predicate_has(key)
            || prune_result == PruneResult::Always && self.may_summarise_runs(index)
    }

    /// Whether run statistics may replace rows: all columns except the key must have them.
    pub(super) fn may_summarise_runs(&self, index: usize) -> bool {
        let has_statistics = |column: &ScanColumn<'_>| column.chunk_of(index).run_index.length > 0;
        let mut columns = self.columns.iter().enumerate();
        self.options.statistics
            && self.options.order == Order::Any
            && columns.all(|(position, column)| self.key_of(position).is_some() || has_statistics(column))
    }

    /// The column with the values of the cluster key, if the column at that position is the key.
    pub(super) fn key_of(&self, position: usize) -> Option<&ScanColumn<'_>> {
        let key = &self.columns[self.runs.key_position?];
        (key.column == self.columns[position].column).then_some(key)
    }

    /// The range from the first to the last run that the key's values do not prune.
    fn runs_that_may_match(&mut self, key: usize) -> Range<usize> {
        let CurrentRuns { runs, key_position, key: values, prune_results } = &mut self.runs;
        let codes = values.values().codes();
        let (Some(position), Some(predicate), false) = (*key_position, &self.options.predicate, codes.is_empty())
        else {
            return 0..runs.len();
        };
        prune_results.find(predicate, key, self.columns[position].dictionary());
        let may_match = |&code: &u32| prune_results.of_codes[code as usize] != PruneResult::Never;
        if values.values().has_nulls() {
            let may_match = |&run: &usize| !values.values().is_valid(run) || may_match(&codes[run]);
            let first = (0..runs.len()).find(may_match);
            let last = (0..runs.len()).rfind(may_match);
            return first.zip(last).map_or(0..0, |(first, last)| first..last + 1);
        }
        let first = codes.iter().position(may_match);
        let last = codes.iter().rposition(may_match);
        first.zip(last).map_or(0..0, |(first, last)| first..last + 1)
    }

    /// Reads the required statistics of some runs.
    fn read_run_indexes(&mut self, index: usize, part: Range<usize>, summarise: bool) -> Result<()> {
        let mut of_predicate = Vec::new();
        if let Some(predicate) = &self.options.predicate {
            predicate.columns(&mut of_predicate);
        }
        let Self { columns, runs, cost, .. } = self;
        for column in columns.iter_mut().filter(|column| column.chunk_of(index).run_index.length > 0) {
            let wanted = match (summarise, of_predicate.contains(&column.column)) {
                (true, _) => Detail::All,
                (false, true) => Detail::Bounds,
                (false, false) => continue,
            };
            column.turn_to(index);
            column.read_run_index(&runs.runs, part.clone(), wanted, cost)?;
        }
        Ok(())
    }

    /// The actions for all runs, in order, as few ranges as possible.
    fn actions(
        &mut self,
        index: usize,
        key: usize,
        prune_result: PruneResult,
        summarise: bool,
        part: Range<usize>,
    ) -> Result<Vec<(RunAction, Range<usize>)>> {
        let runs = self.runs.runs.len();
        let has_nulls = |column: &ScanColumn<'_>| column.column != key && column.chunk_of(index).nulls > 0;
        let keys_are_there = self.runs.key_position.is_none() || !self.runs.key.values().has_nulls();
        if prune_result == PruneResult::Always && summarise && keys_are_there && !self.columns.iter().any(has_nulls) {
            return Ok(vec![(RunAction::Summarised, 0..runs)]);
        }
        let nullable: Vec<&RunNumbers> =
            self.columns.iter().filter(|column| has_nulls(column)).map(|column| &column.run_index).collect();
        let is_whole = |run: usize| {
            let key_is_there = self.runs.key_position.is_none() || self.runs.key.values().is_valid(run);
            key_is_there && nullable.iter().all(|numbers| numbers.nulls_of(run) == 0)
        };
        let pruner = RunPruner::new(self, index, key, prune_result);
        let action = |run: usize| match pruner.of_run(run) {
            PruneResult::Never => RunAction::Skipped,
            PruneResult::Always if summarise && is_whole(run) => RunAction::Summarised,
            prune_result => RunAction::Delivered { needs_filter: prune_result == PruneResult::Maybe },
        };
        let mut all: Vec<(RunAction, Range<usize>)> = Vec::new();
        let mut push = |action, runs: Range<usize>| match all.last_mut() {
            _ if runs.is_empty() => {}
            Some((before, of_action)) if *before == action => of_action.end = runs.end,
            _ => all.push((action, runs)),
        };
        // Runs outside `part` were pruned by their key.
        push(RunAction::Skipped, 0..part.start);
        part.clone().for_each(|run| push(action(run), run..run + 1));
        push(RunAction::Skipped, part.end..runs);
        Ok(all)
    }

    /// Delivers the statistics of some runs.
    fn summarise_runs(&self, part: Range<usize>, sink: &mut dyn Sink) -> Result<()> {
        let lengths = &self.runs.runs.lengths[part.clone()];
        let (codes, numbers) = (self.runs.key.values().codes(), self.runs.key.values().integers(part.clone()));
        let products = numbers.iter().zip(lengths).map(|(&number, &rows)| i128::from(number) * i128::from(rows));
        let sums: Vec<i128> = products.collect();
        let mut columns = Vec::with_capacity(self.columns.len());
        for (position, column) in self.columns.iter().enumerate() {
            columns.push(match self.key_of(position) {
                None => ColumnSummary::Numbers(column.run_index.of_runs(part.clone())),
                Some(_) if codes.is_empty() => {
                    ColumnSummary::Numbers(Numbers { min: &numbers, max: &numbers, sum: Sums::Wide(&sums) })
                }
                Some(key) => ColumnSummary::Codes { codes: &codes[part.clone()], dictionary: key.dictionary() },
            });
        }
        sink.summary(&Summary { rows: lengths, columns: &columns })
    }
}

impl KeyPruneResults {
    /// Evaluates the predicate for each value in the key's dictionary.
    fn find(&mut self, predicate: &Predicate, key: usize, dictionary: &Dictionary) {
        if self.column != key {
            *self = Self { column: key, of_codes: Vec::new() };
        }
        let prune_result = |code: u32| {
            let known = |column| {
                if column == key { ColumnStatistics::string(dictionary.get(code)) } else { ColumnStatistics::UNKNOWN }
            };
            predicate.decide(&known)
        };
        let known = self.of_codes.len() as u32;
        self.of_codes.extend((known..dictionary.len() as u32).map(prune_result));
    }
}

/// Evaluates the predicate on the statistics of runs.
struct RunPruner<'a> {
    scanner: &'a FileScanner<'a>,
    index: usize,
    key: usize,
    /// `None` if the predicate is known to be true.
    predicate: Option<&'a Predicate>,
    /// The statistics of the column, if the predicate is a single range on a column of numbers without nulls.
    only_numbers: Option<&'a RunNumbers>,
}

impl<'a> RunPruner<'a> {
    fn new(scanner: &'a FileScanner<'_>, index: usize, key: usize, prune_result: PruneResult) -> Self {
        let predicate = scanner.options.predicate.as_ref().filter(|_| prune_result != PruneResult::Always);
        let numbers = |column: usize| {
            let position = scanner.options.projection.iter().position(|&other| other == column)?;
            let column = &scanner.columns[position];
            let is_there = column.column != key && column.chunk_of(index).run_index.length > 0;
            is_there.then_some(&column.run_index)
        };
        let only_numbers = match predicate {
            Some(Predicate::Range { column, low, high }) if low <= high => {
                numbers(*column).filter(|numbers| numbers.nulls.is_empty())
            }
            _ => None,
        };
        Self { scanner, index, key, predicate, only_numbers }
    }

    fn of_run(&self, run: usize) -> PruneResult {
        let Some(predicate) = self.predicate else { return PruneResult::Always };
        if let (Some(numbers), Predicate::Range { low, high, .. }) = (self.only_numbers, predicate) {
            return numbers.decide_range(run, *low, *high);
        }
        let CurrentRuns { key, key_position: Some(_), prune_results, .. } = &self.scanner.runs else {
            return self.evaluate(predicate, run);
        };
        if let Some(&code) = key.values().codes().get(run)
            && key.values().is_valid(run)
            && let Some(prune_result @ (PruneResult::Always | PruneResult::Never)) =
                prune_results.of_codes.get(code as usize)
        {
            return *prune_result;
        }
        self.evaluate(predicate, run)
    }

    /// Evaluates the predicate in general, which is slow.
    #[inline(never)]
    fn evaluate(&self, predicate: &Predicate, run: usize) -> PruneResult {
        let FileScanner { reader, columns, options, runs, .. } = self.scanner;
        predicate.decide(&|column| {
            let Some(position) = options.projection.iter().position(|&other| other == column) else {
                return reader.statistics_of(self.index, column);
            };
            let scanned = &columns[position];
            if column == self.key {
                runs.key.values().statistics(run, scanned.dictionary())
            } else if scanned.chunk_of(self.index).run_index.length > 0 {
                let (numbers, rows) = (&scanned.run_index, runs.runs.lengths[run]);
                match numbers.nulls_of(run) {
                    nulls if nulls == rows => ColumnStatistics { values: ValueBounds::None, nulls: true },
                    nulls => ColumnStatistics {
                        nulls: nulls > 0,
                        ..ColumnStatistics::numbers(numbers.min[run], numbers.max[run])
                    },
                }
            } else {
                reader.statistics_of(self.index, column)
            }
        })
    }
}
