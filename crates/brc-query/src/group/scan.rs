//! Scans a table with several threads and groups its rows: each worker has a [`GroupTable`], and some can be merged
//! while their aggregates are still in accumulator slots.

use super::table::GroupTable;
use crate::accumulate::partial::Partial;
use crate::partitions::{Partitioning, Parts, Records, WorkerResult};
use crate::plan::Plan;
use crate::runtime::parallel;
use crate::scan::totals::ScanTotals;
use brc_core::{Error, Progress, Result, Scanned, Sink, Split, Table, Worker, scan_and};
use std::path::Path;
use std::time::Instant;

impl Plan {
    /// Scans a table and groups its rows: what each worker found.
    pub(crate) fn groups<'a>(
        &'a self,
        table: &'a dyn Table,
        progress: &Progress,
        partitioning: &'a Partitioning,
    ) -> Result<(Vec<WorkerResult<'a>>, ScanTotals)> {
        let start = Instant::now();
        let new_worker = || {
            let groups = GroupTable::new(self, table.path()).with_partitions(partitioning);
            QueryWorker { groups, totals: ScanTotals::default() }
        };
        let (options, threads) = (self.scan_options(), partitioning.threads);
        let (mut totals, mut found, mut in_slots) = (ScanTotals::default(), Vec::new(), Vec::<GroupTable<'a>>::new());
        for (of_worker, its_totals) in scan_and(table, &options, threads, progress, new_worker, QueryWorker::finish)? {
            totals.add(&its_totals);
            match of_worker {
                Finished::Whole(of_worker) => found.push(*of_worker),
                Finished::InSlots(mut groups) => match in_slots.iter_mut().any(|kept| kept.merge_slots(&mut groups)) {
                    true => found.push(groups.finish(1)),
                    false => in_slots.push(*groups),
                },
            }
        }
        if partitioning.is_given_up() {
            return Err(Error::Stopped);
        }
        found.extend(finish_all(in_slots, threads));
        totals.scan_time = start.elapsed();
        Ok((found, totals))
    }

    /// The groups that workers have themselves, and the records of all.
    pub(crate) fn merged<'a>(&self, found: Vec<WorkerResult<'a>>) -> Result<(Partial, Vec<Records<'a>>)> {
        let (mut merged, mut all_records) = (self.no_groups(), Vec::new());
        for WorkerResult { groups, records, .. } in found {
            merged.merge(groups)?;
            all_records.extend(records);
        }
        Ok((merged, all_records))
    }

    /// All that was found, part by part.
    pub(crate) fn parts(
        &self,
        path: &Path,
        found: Vec<WorkerResult<'_>>,
        partitioning: &Partitioning,
    ) -> Result<Parts> {
        let (scatter_plan, spill) = (partitioning.scatter_plan(), &partitioning.spill);
        let mut parts = Parts::default();
        for WorkerResult { groups, records, spilled, .. } in found {
            spilled.into_iter().for_each(|spilled| parts.append(spilled));
            parts.spill_groups(&groups, scatter_plan, spill)?;
            records.into_iter().for_each(|records| parts.add(records));
        }
        partitioning.spill_tables(self, path, &mut parts)?;
        Ok(parts)
    }
}

struct QueryWorker<'a> {
    groups: GroupTable<'a>,
    totals: ScanTotals,
}

/// Finishes the tables of several workers side by side.
fn finish_all<'a>(groups: Vec<GroupTable<'a>>, threads: usize) -> impl Iterator<Item = WorkerResult<'a>> {
    let of_each = threads.div_ceil(groups.len().max(1));
    let mut all: Vec<_> = groups.into_iter().map(|groups| (Some(groups), None)).collect();
    parallel::for_each(&mut all, threads, |(groups, found)| {
        *found = groups.take().map(|groups| groups.finish(of_each));
    });
    all.into_iter().filter_map(|(_, found)| found)
}

/// What a worker found.
enum Finished<'a> {
    Whole(Box<WorkerResult<'a>>),
    /// Groups that are still in slots, to which those of others may be added.
    InSlots(Box<GroupTable<'a>>),
}

impl<'a> QueryWorker<'a> {
    fn finish(mut self) -> (Finished<'a>, ScanTotals) {
        self.totals.aggregate_time = self.groups.time();
        self.totals.access_paths = self.groups.access_paths();
        let finished = match self.groups.are_in_slots() {
            true => Finished::InSlots(Box::new(self.groups)),
            false => Finished::Whole(Box::new(self.groups.finish(1))),
        };
        (finished, self.totals)
    }
}

impl Worker for QueryWorker<'_> {
    fn split_begins(&mut self, split: &Split) {
        self.groups.split_begins(split.index);
    }

    fn sink(&mut self) -> &mut dyn Sink {
        &mut self.groups
    }

    fn split_done(&mut self, _: &Split, scanned: Scanned) -> Result<()> {
        self.totals.add(&ScanTotals::from(&scanned));
        self.groups.split_done()
    }
}
