//! Runs a plan: scans a table with several threads, and merges what they found.

use crate::group::GroupTable;
use crate::inputs::RowPlace;
use crate::parallel;
use crate::partial::Partial;
use crate::partitions::{self, Limits, Partitioning, Records};
use crate::plan::Plan;
use crate::result::QueryResult;
use crate::rows;
use crate::totals::ScanTotals;
use brc_core::{Error, Progress, Result, Scanned, Sink, Split, Table, Worker, scan};
use std::sync::{Mutex, PoisonError};

impl Plan {
    /// Asks a table.
    ///
    /// # Errors
    /// If the table has other columns than the plan is for, or what goes wrong while scanning it.
    pub fn run(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<QueryResult> {
        self.run_within(table, threads, progress, Limits::default())
    }

    /// The same with other limits.
    pub(crate) fn run_within(
        &self,
        table: &dyn Table,
        threads: usize,
        progress: &Progress,
        limits: Limits,
    ) -> Result<QueryResult> {
        if !self.grouped {
            return self.scanned(table, || rows::select(self, table, threads, progress));
        }
        let (partials, totals) = self.scanned(table, || self.groups(table, threads, progress, limits))?;
        QueryResult::of_groups(self, partials, threads, totals)
    }

    /// Scans a table and groups its rows: the first half of [`Plan::run`].
    ///
    /// # Errors
    /// As for [`Plan::run`]; [`Error::Usage`] if the plan groups nothing; [`Error::Widened`] if the table turns out to be of
    /// other columns while it is scanned: a plan for those is needed ([`crate::Query::ask`]).
    pub fn partial(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Partial, ScanTotals)> {
        if !self.grouped {
            return Err(Error::Usage("a question that groups nothing has no partial answers".to_owned()));
        }
        let (mut partials, totals) = self.scanned(table, || self.groups(table, threads, progress, Limits::NONE))?;
        Ok((partials.pop().unwrap_or_else(|| self.no_groups()), totals))
    }

    /// Scans a table and groups its rows, perhaps by partition: no two partials have a group in common.
    fn groups(
        &self,
        table: &dyn Table,
        threads: usize,
        progress: &Progress,
        limits: Limits,
    ) -> Result<(Vec<Partial>, ScanTotals)> {
        let partitioning = Partitioning::new(self, limits);
        let new_worker = || {
            let groups = GroupTable::new(self, table.path()).with_partitions(&partitioning);
            QueryWorker { groups, totals: ScanTotals::default() }
        };
        let workers = scan(table, &self.scan_options(), threads, progress, new_worker)?;
        let workers: Vec<_> = workers.into_iter().map(|worker| Mutex::new(Some(worker))).collect();
        let finish = |number: usize| {
            let worker = workers[number].lock().unwrap_or_else(PoisonError::into_inner).take();
            Ok::<_, Error>(worker.map(QueryWorker::finish))
        };
        let mut totals = ScanTotals::default();
        let (mut merged, mut all_records) = (self.no_groups(), Vec::new());
        for (partial, records, of_worker) in parallel::map(workers.len(), threads, finish)?.into_iter().flatten() {
            totals.add(&of_worker);
            merged.merge(partial)?;
            all_records.extend(records);
        }
        let partials = match partitioning.packing() {
            Some(packing) => partitions::regroup(self, table.path(), merged, all_records, packing, threads)?,
            None => {
                merged.settle(threads);
                vec![merged]
            }
        };
        Ok((partials, totals))
    }

    /// Merges the partials of several scans and sorts: the second half of [`Plan::run`].
    ///
    /// # Errors
    /// [`Error::Usage`] if a partial is not of this plan.
    pub fn answer(&self, partials: impl IntoIterator<Item = Partial>, totals: ScanTotals) -> Result<QueryResult> {
        self.check()?;
        let mut merged = self.no_groups();
        for partial in partials {
            merged.merge(partial)?;
        }
        merged.settle(1);
        QueryResult::of_groups(self, vec![merged], 1, totals)
    }

    /// Scans a table of the plan's columns.
    pub(crate) fn scanned<T>(&self, table: &dyn Table, scan: impl FnOnce() -> Result<T>) -> Result<T> {
        self.check()?;
        let inferred = table.inferred();
        let schema = inferred.as_deref().unwrap_or(table.schema());
        if !self.is_for(schema) {
            return Err(match inferred {
                Some(_) => Error::Widened,
                None => {
                    let expected = &self.schema;
                    Error::Usage(format!("the table's columns are {schema}, but the plan is for {expected}"))
                }
            });
        }
        scan()
    }
}

struct QueryWorker<'a> {
    groups: GroupTable<'a>,
    totals: ScanTotals,
}

impl<'a> QueryWorker<'a> {
    fn finish(mut self) -> (Partial, Option<Records<'a>>, ScanTotals) {
        self.totals.aggregate_time = self.groups.time();
        let (partial, records) = self.groups.finish();
        (partial, records, self.totals)
    }
}

impl Worker for QueryWorker<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.groups.split_begins(RowPlace::of_split(split.index));
    }

    fn sink(&mut self) -> &mut dyn Sink {
        &mut self.groups
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.totals.add(&ScanTotals::from(&scanned));
        Ok(())
    }
}
