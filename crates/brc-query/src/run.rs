//! Runs a plan: scans a table with several threads, and merges what they found.

use crate::by_distinct::ByDistinct;
use crate::by_source::BySource;
use crate::first_rows;
use crate::group::{Found, GroupTable};
use crate::grouped::Groups;
use crate::key_order::{KeyOrder, Part};
use crate::long_answer::LongAnswer;
use crate::memory::Memory;
use crate::parallel;
use crate::partial::Partial;
use crate::partitions::spill::Spill;
use crate::partitions::{self, Limits, OwnPart, Partitioning, Parts, Records};
use crate::picked_rows;
use crate::plan::Plan;
use crate::query::Pick;
use crate::result::QueryResult;
use crate::runs::{Block, Sorter};
use crate::sorted_rows::SortedRows;
use crate::totals::ScanTotals;
use brc_core::{Error, Progress, Result, Scanned, Sink, Split, Table, Worker, interrupt, scan_and};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The rows of fewer groups are made before any is looked at.
pub(crate) const MANY: u64 = 1 << 17;

/// An answer, as memory allows.
#[derive(Debug)]
pub enum Answered {
    /// All rows are in memory.
    Held(Box<QueryResult>),
    /// There are many, which are made or read when they are looked at.
    Long(Box<LongAnswer>),
}

impl Answered {
    /// The answer whose rows are in these blocks.
    pub(crate) fn of_blocks(
        plan: &Plan,
        blocks: Vec<Block>,
        spill: Spill,
        memory: &Memory,
        mut totals: ScanTotals,
    ) -> Result<Self> {
        totals.spilled_bytes = spill.bytes();
        if blocks.iter().any(Block::is_spilled) {
            return Ok(Self::Long(Box::new(LongAnswer::of_blocks(plan, blocks, spill, memory, totals)?)));
        }
        let blocks = blocks.into_iter().map(|block| Ok((block.rows, block.into_cells(&spill)?)));
        Ok(Self::held(QueryResult::of_blocks(plan, blocks.collect::<Result<_>>()?, totals)))
    }

    pub(crate) fn held(answer: QueryResult) -> Self {
        Self::Held(Box::new(answer))
    }

    /// Takes note of how long it took to group and sort, since the end of the scan.
    pub(crate) fn sorted_in(mut self, time: Duration) -> Self {
        let totals = self.totals_mut();
        totals.sort_time = time.saturating_sub(totals.regroup_time);
        self
    }

    pub(crate) fn totals_mut(&mut self) -> &mut ScanTotals {
        match self {
            Self::Held(answer) => answer.totals_mut(),
            Self::Long(answer) => answer.totals_mut(),
        }
    }

    /// What was done to find the answer, and so many of its rows as were looked at.
    #[must_use]
    pub fn totals(&self) -> ScanTotals {
        match self {
            Self::Held(answer) => answer.totals().clone(),
            Self::Long(answer) => answer.totals(),
        }
    }

    /// All rows in memory.
    ///
    /// # Errors
    /// As for [`LongAnswer::load`].
    pub fn load(self, threads: usize) -> Result<QueryResult> {
        match self {
            Self::Held(answer) => Ok(*answer),
            Self::Long(answer) => answer.load(threads),
        }
    }
}

impl Plan {
    /// Asks a table.
    ///
    /// # Errors
    /// If the table has other columns than the plan is for, or what goes wrong while scanning it.
    pub fn run(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<QueryResult> {
        self.run_within(table, threads, &Memory::unlimited(), progress)?.load(threads)
    }

    /// The same with no more memory than that. What is more is kept in a temporary file.
    ///
    /// # Errors
    /// As for [`Plan::run`]; what goes wrong with the temporary file; [`Error::Memory`] if what is kept of a single group is
    /// too much.
    pub fn run_within(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
    ) -> Result<Answered> {
        let answer = self.clone().within(memory).run_limited(table, threads, memory, progress, Limits::default())?;
        // What was told to end may be anything.
        interrupt::check()?;
        Ok(answer)
    }

    /// The same with other limits.
    pub(crate) fn run_limited(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
        limits: Limits,
    ) -> Result<Answered> {
        if !self.grouped {
            return self.scanned(table, || match self.limit {
                Some(limit) if self.pick != Pick::First && self.order_by.is_empty() => {
                    picked_rows::picked(self, limit, table, threads, progress).map(Answered::held)
                }
                Some(limit) if self.order_by.is_empty() => {
                    let most = limit.saturating_add(self.offset);
                    first_rows::first(self, most, table, threads, progress).map(Answered::held)
                }
                _ => SortedRows { table, threads, memory, progress }.answer(self),
            });
        }
        if let Some(by_source) = BySource::of(self, table)
            && let Some(answer) = by_source.run(table, threads, memory, progress, limits)?
        {
            return Ok(answer);
        }
        let in_groups = |limits| self.answer_in_groups(table, threads, memory, progress, limits);
        let counted = Limits { distinct: usize::MAX, ..limits };
        let Some(by_distinct) = ByDistinct::of(self) else { return in_groups(counted) };
        match in_groups(if by_distinct.is_small() { limits } else { counted }) {
            Err(error @ (Error::Stopped | Error::Memory { .. })) => {
                progress.restart();
                match (by_distinct.run(table, threads, memory, progress, limits)?, error) {
                    (Some(answer), _) => Ok(answer),
                    (None, Error::Stopped) => {
                        progress.restart();
                        in_groups(counted)
                    }
                    (None, error) => Err(error),
                }
            }
            answer => answer,
        }
    }

    /// The answer of a plan that groups rows, by the groups that it asks for.
    ///
    /// # Errors
    /// [`Error::Stopped`] if there are more distinct values to count than the limits allow.
    fn answer_in_groups(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
        limits: Limits,
    ) -> Result<Answered> {
        let partitioning = Partitioning::new(self, limits, memory, threads).with_splits_of(table, self);
        let (mut found, mut totals) = self.scanned(table, || self.groups(table, progress, &partitioning))?;
        let start = Instant::now();
        let mut own: Vec<OwnPart> = found.iter_mut().flat_map(|found| std::mem::take(&mut found.own)).collect();
        own.sort_unstable_by_key(|part| part.rank);
        totals.groups = own.iter().map(|part| part.groups).sum();
        if partitioning.needs_parts(&found) {
            let parts = self.parts(table.path(), found, &partitioning)?;
            return self.answer_in_parts(table.path(), parts, own, partitioning, totals);
        }
        let (mut merged, records) = self.merged(found)?;
        let Some(dealing) = partitioning.dealing().filter(|_| !records.is_empty()) else {
            merged.settle(threads);
            totals.groups += merged.groups_with_rows();
            if self.is_in_key_order() && partitioning.splits_are_in_order() && !own.is_empty() {
                let parts = Part::of_splits(self, own, merged, threads)?;
                totals.regroup_time = start.elapsed();
                return self.answer_of_parts(parts, threads, totals, start);
            }
            totals.regroup_time = start.elapsed();
            let partials = own.into_iter().map(|part| part.partial).chain([merged]).collect();
            return self.answer_of(partials, threads, totals, start);
        };
        let dealt = partitioning.dealt(dealing, merged, records);
        if self.is_in_key_order() && own.is_empty() {
            return self.in_key_order(KeyOrder::new(table.path(), dealt, threads), threads, totals, start);
        }
        let groups = AtomicU64::new(0);
        let in_order = |partial: Partial| {
            groups.fetch_add(partial.groups_with_rows(), Relaxed);
            partitions::in_order(self, partial)
        };
        let mut partials = partitions::regroup(self, table.path(), &dealt, threads, in_order)?;
        totals.groups += groups.into_inner();
        totals.regroup_time = start.elapsed();
        partials.extend(own.into_iter().map(|part| part.partial));
        self.answer_of(partials, threads, totals, start)
    }

    /// Whether an answer has all groups, or all that `having` wants, and in the order of their keys.
    fn is_in_key_order(&self) -> bool {
        (self.order_by.is_empty(), self.limit, self.offset, self.distinct) == (true, None, 0, false)
    }

    /// The answer that groups give in the order of their keys, which began to be made at `start`.
    fn in_key_order(
        &self,
        order: KeyOrder,
        threads: usize,
        mut totals: ScanTotals,
        start: Instant,
    ) -> Result<Answered> {
        let first = order.first_parts(self, MANY, threads)?;
        totals.groups = order.groups();
        totals.regroup_time = start.elapsed();
        if totals.groups >= MANY {
            return Ok(Answered::Long(Box::new(LongAnswer::in_key_order(self, order, first, totals)?)));
        }
        self.answer_of_blocks(&first, threads, totals, start)
    }

    /// The answer that groups give in the order of their keys, which began to be made at `start`.
    fn answer_of_parts(
        &self,
        parts: Vec<Part>,
        threads: usize,
        totals: ScanTotals,
        start: Instant,
    ) -> Result<Answered> {
        match totals.groups >= MANY {
            true => Ok(Answered::Long(Box::new(LongAnswer::of_parts(self, parts, totals)?))),
            false => self.answer_of_blocks(&parts, threads, totals, start),
        }
    }

    /// The same where they are few.
    fn answer_of_blocks(&self, parts: &[Part], threads: usize, totals: ScanTotals, start: Instant) -> Result<Answered> {
        let blocks =
            parallel::try_map(parts.len(), threads, |part| parts[part].blocks(self).collect::<Result<Vec<_>>>())?;
        let answer = QueryResult::of_blocks(self, blocks.into_iter().flatten().collect(), totals);
        Ok(Answered::held(answer).sorted_in(start.elapsed()))
    }

    /// The answer that groups give: settled partials that have no group in common. They began to be grouped at `start`.
    pub(crate) fn answer_of(
        &self,
        partials: Vec<Partial>,
        threads: usize,
        totals: ScanTotals,
        start: Instant,
    ) -> Result<Answered> {
        if totals.groups < MANY || self.distinct {
            let answer = Answered::held(QueryResult::of_groups(self, partials, threads, totals)?);
            return Ok(answer.sorted_in(start.elapsed()));
        }
        let sorted = Groups::new(self, &partials).in_order(threads)?;
        let answer = Answered::Long(Box::new(LongAnswer::of_groups(self, partials, sorted, totals)?));
        Ok(answer.sorted_in(start.elapsed()))
    }

    /// The groups that workers have themselves, and the records of all.
    pub(crate) fn merged<'a>(&self, found: Vec<Found<'a>>) -> Result<(Partial, Vec<Records<'a>>)> {
        let (mut merged, mut all_records) = (self.no_groups(), Vec::new());
        for Found { groups, records, .. } in found {
            merged.merge(groups)?;
            all_records.extend(records);
        }
        Ok((merged, all_records))
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
        let partitioning = Partitioning::new(self, Limits::NONE, &Memory::unlimited(), threads);
        let (found, totals) = self.scanned(table, || self.groups(table, progress, &partitioning))?;
        let mut merged = self.no_groups();
        found.into_iter().try_for_each(|found| merged.merge(found.groups))?;
        merged.settle(threads);
        interrupt::check()?;
        Ok((merged, totals))
    }

    /// Scans a table and groups its rows: what each worker found.
    pub(crate) fn groups<'a>(
        &'a self,
        table: &'a dyn Table,
        progress: &Progress,
        partitioning: &'a Partitioning,
    ) -> Result<(Vec<Found<'a>>, ScanTotals)> {
        let start = Instant::now();
        let new_worker = || {
            let groups = GroupTable::new(self, table.path()).with_partitions(partitioning);
            QueryWorker { groups, totals: ScanTotals::default() }
        };
        let (options, threads) = (self.scan_options(), partitioning.threads);
        let (mut totals, mut found, mut in_lanes) = (ScanTotals::default(), Vec::new(), Vec::<GroupTable<'a>>::new());
        for (of_worker, its_totals) in scan_and(table, &options, threads, progress, new_worker, QueryWorker::finish)? {
            totals.add(&its_totals);
            match of_worker {
                Finished::Whole(of_worker) => found.push(*of_worker),
                Finished::InLanes(mut groups) => match in_lanes.iter_mut().any(|kept| kept.absorb(&mut groups)) {
                    true => found.push(groups.finish(1)),
                    false => in_lanes.push(*groups),
                },
            }
        }
        if partitioning.is_given_up() {
            return Err(Error::Stopped);
        }
        found.extend(finish_all(in_lanes, threads));
        totals.scan_time = start.elapsed();
        Ok((found, totals))
    }

    /// All that was found, part by part.
    pub(crate) fn parts(&self, path: &Path, found: Vec<Found<'_>>, partitioning: &Partitioning) -> Result<Parts> {
        let (dealing, spill) = (partitioning.dealing(), &partitioning.spill);
        let mut parts = Parts::default();
        for Found { groups, records, spilled, .. } in found {
            spilled.into_iter().for_each(|spilled| parts.append(spilled));
            parts.spill_groups(&groups, dealing, spill)?;
            records.into_iter().for_each(|records| parts.add(records));
        }
        partitioning.spill_tables(self, path, &mut parts)?;
        Ok(parts)
    }

    /// Groups part after part, and merges the answers that they give.
    fn answer_in_parts(
        &self,
        path: &Path,
        parts: Parts,
        own: Vec<OwnPart>,
        partitioning: Partitioning,
        mut totals: ScanTotals,
    ) -> Result<Answered> {
        let memory = &partitioning.memory;
        let sorter = Sorter::of_groups(self, &partitioning.spill, memory);
        let of_run = sorter.plan_of_run();
        let (start, groups) = (Instant::now(), AtomicU64::new(0));
        let run = |partial: Partial| {
            groups.fetch_add(partial.groups_with_rows(), Relaxed);
            sorter.run_of_groups(&of_run, partial)
        };
        let mut runs = partitions::regroup_parts(self, path, &partitioning, parts, run)?;
        for part in own {
            runs.push(sorter.run_of_groups(&of_run, part.partial)?);
        }
        totals.regroup_time = start.elapsed();
        let blocks = sorter.merge(runs)?;
        totals.sort_time = start.elapsed() - totals.regroup_time;
        totals.groups += groups.into_inner();
        let Partitioning { spill, memory, .. } = partitioning;
        Answered::of_blocks(self, blocks, spill, &memory, totals)
    }

    /// Merges the partials of several scans and sorts: the second half of [`Plan::run`].
    ///
    /// # Errors
    /// [`Error::Usage`] if a partial is not of this plan.
    pub fn answer(&self, partials: impl IntoIterator<Item = Partial>, totals: ScanTotals) -> Result<QueryResult> {
        QueryResult::of_groups(self, vec![self.all_merged(partials, 1)?], 1, totals)
    }

    /// The same by several threads; where there are many groups, their rows are made when they are looked at.
    ///
    /// # Errors
    /// As for [`Plan::answer`].
    pub fn answer_with(
        &self,
        partials: impl IntoIterator<Item = Partial>,
        threads: usize,
        mut totals: ScanTotals,
    ) -> Result<Answered> {
        let start = Instant::now();
        let merged = self.all_merged(partials, threads)?;
        totals.groups = merged.groups_with_rows();
        self.answer_of(vec![merged], threads, totals, start)
    }

    fn all_merged(&self, partials: impl IntoIterator<Item = Partial>, threads: usize) -> Result<Partial> {
        self.check()?;
        let mut merged = self.no_groups();
        for partial in partials {
            merged.merge(partial)?;
        }
        merged.settle(threads);
        Ok(merged)
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

/// Finishes the tables of several workers side by side.
fn finish_all<'a>(groups: Vec<GroupTable<'a>>, threads: usize) -> impl Iterator<Item = Found<'a>> {
    let of_each = threads.div_ceil(groups.len().max(1));
    let mut all: Vec<_> = groups.into_iter().map(|groups| (Some(groups), None)).collect();
    parallel::for_each(&mut all, threads, |(groups, found)| {
        *found = groups.take().map(|groups| groups.finish(of_each));
    });
    all.into_iter().filter_map(|(_, found)| found)
}

/// What a worker found.
enum Finished<'a> {
    Whole(Box<Found<'a>>),
    /// Groups that are still in lanes, to which those of others may be added.
    InLanes(Box<GroupTable<'a>>),
}

impl<'a> QueryWorker<'a> {
    fn finish(mut self) -> (Finished<'a>, ScanTotals) {
        self.totals.aggregate_time = self.groups.time();
        self.totals.lanes = self.groups.lanes();
        let finished = match self.groups.are_in_lanes() {
            true => Finished::InLanes(Box::new(self.groups)),
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
