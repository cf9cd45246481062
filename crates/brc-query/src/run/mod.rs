//! A query can be executed in several ways, and the fastest depends on the plan, the table's statistics and memory.
//! This folder chooses one and executes it.
//!
//! In: a plan (or a query), a table, threads and a memory limit. Out: an answer.
//!
//! Groups are made directly, or by one of two rewrites: by the column that all keys are computed of, if it has few
//! values, or by the key and the value whose distinct values are counted. Where memory is short, partitions are
//! grouped part by part.
//!
//! Where to look:
//!
//! - the choice, and `Plan::run`, `Plan::partial`, `Plan::answer`: `mod.rs`
//! - a query on a table whose types are inferred: `ask.rs`
//! - the rewrites: grouping by pre-images, distinct values by `group by`: `pre_image.rs`, `distinct_to_group_by.rs`
//! - what both have in common: subgroups that are merged to groups: `subgroups.rs`

mod ask;
mod distinct_to_group_by;
pub(crate) mod pre_image;
mod subgroups;

use crate::accumulate::partial::Partial;
use crate::answer::Answer;
use crate::answer::key_order::{KeyOrder, Part};
use crate::answer::sorted_runs::Sorter;
use crate::partitions::{self, Limits, Partitioning, Parts, SplitGroups};
use crate::plan::Plan;
use crate::rows::first;
use crate::rows::picked;
use crate::rows::sorted::SortedRows;
use crate::run::distinct_to_group_by::DistinctToGroupBy;
use crate::run::pre_image::PreImageGrouping;
use crate::runtime::memory::Memory;
use crate::scan::totals::ScanTotals;
use crate::sql::query::Pick;
use brc_core::{Error, Progress, Result, Table, interrupt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

impl Plan {
    /// Runs the plan on a table. All rows of the answer are in memory.
    ///
    /// # Errors
    /// If the table has other columns than the plan is for, or what goes wrong while scanning it.
    pub fn run(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<Answer> {
        self.run_within(table, threads, &Memory::unlimited(), progress)?.load(threads)
    }

    /// The same within a memory limit. Beyond it, rows and groups spill to a temporary file.
    ///
    /// # Errors
    /// As for [`Plan::run`]; what goes wrong with the temporary file; [`Error::Memory`] if what is kept of a single
    /// group is too much.
    pub fn run_within(
        &self,
        table: &dyn Table,
        threads: usize,
        memory: &Memory,
        progress: &Progress,
    ) -> Result<Answer> {
        let answer = self.clone().within(memory).run_limited(table, threads, memory, progress, Limits::default())?;
        // The answer of an interrupted query may be anything.
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
    ) -> Result<Answer> {
        if !self.grouped {
            return self.scanned(table, || match self.limit {
                Some(limit) if self.pick != Pick::First && self.order_by.is_empty() => {
                    picked::picked(self, limit, table, threads, progress)
                }
                Some(limit) if self.order_by.is_empty() => {
                    let most = limit.saturating_add(self.offset);
                    first::first(self, most, table, threads, progress)
                }
                _ => SortedRows { table, threads, memory, progress }.answer(self),
            });
        }
        if let Some(pre_image) = PreImageGrouping::of(self, table)
            && let Some(answer) = pre_image.run(table, threads, memory, progress, limits)?
        {
            return Ok(answer);
        }
        let in_groups = |limits| self.answer_in_groups(table, threads, memory, progress, limits);
        let counted = Limits { distinct: usize::MAX, ..limits };
        let Some(distinct_to_group_by) = DistinctToGroupBy::of(self) else { return in_groups(counted) };
        if table.is_read_once() {
            return in_groups(counted);
        }
        match in_groups(if distinct_to_group_by.is_small() { limits } else { counted }) {
            Err(error @ (Error::Stopped | Error::Memory { .. })) => {
                progress.restart();
                match (distinct_to_group_by.run(table, threads, memory, progress, limits)?, error) {
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

    /// The answer of a plan that groups rows, found without a rewrite.
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
    ) -> Result<Answer> {
        let partitioning = Partitioning::new(self, limits, memory, threads).with_splits_of(table, self);
        let (mut found, mut totals) = self.scanned(table, || self.groups(table, progress, &partitioning))?;
        let start = Instant::now();
        let mut own: Vec<SplitGroups> = found.iter_mut().flat_map(|found| std::mem::take(&mut found.own)).collect();
        own.sort_unstable_by_key(|part| part.rank);
        totals.groups = own.iter().map(|part| part.groups).sum();
        if partitioning.needs_parts(&found) {
            let parts = self.parts(table.path(), found, &partitioning)?;
            return self.answer_in_parts(table.path(), parts, own, partitioning, totals);
        }
        let (mut merged, records) = self.merged(found)?;
        let Some(scatter_plan) = partitioning.scatter_plan().filter(|_| !records.is_empty()) else {
            merged.prepare(threads);
            totals.groups += merged.groups_with_rows();
            if self.is_in_key_order() && partitioning.splits_are_in_order() && !own.is_empty() {
                let parts = Part::of_splits(self, own, merged, threads)?;
                totals.merge_time = start.elapsed();
                return self.answer_of_parts(parts, None, threads, totals, start);
            }
            totals.merge_time = start.elapsed();
            let partials = own.into_iter().map(|part| part.partial).chain([merged]).collect();
            return self.answer_of(partials, threads, totals, start);
        };
        let partitioned = partitioning.partitioned(scatter_plan, merged, records);
        if self.is_in_key_order() && own.is_empty() {
            return self.in_key_order(KeyOrder::new(table.path(), partitioned, threads), threads, totals, start);
        }
        let groups = AtomicU64::new(0);
        let in_order = |partial: Partial| {
            groups.fetch_add(partial.groups_with_rows(), Relaxed);
            partitions::in_order(self, partial)
        };
        let mut partials = partitions::merge_partitions(self, table.path(), &partitioned, threads, in_order)?;
        totals.groups += groups.into_inner();
        totals.merge_time = start.elapsed();
        partials.extend(own.into_iter().map(|part| part.partial));
        self.answer_of(partials, threads, totals, start)
    }

    /// Whether an answer has all groups, or all that `having` wants, and in the order of their keys.
    fn is_in_key_order(&self) -> bool {
        (self.order_by.is_empty(), self.limit, self.offset, self.distinct) == (true, None, 0, false)
    }

    /// Scans a table and groups its rows: the first half of [`Plan::run`].
    ///
    /// # Errors
    /// As for [`Plan::run`]; [`Error::Usage`] if the plan groups nothing; [`Error::Widened`] if the table turns out to
    /// be of other columns while it is scanned: a plan for those is needed ([`crate::Query::ask`]).
    pub fn partial(&self, table: &dyn Table, threads: usize, progress: &Progress) -> Result<(Partial, ScanTotals)> {
        if !self.grouped {
            return Err(Error::Usage("a question that groups nothing has no partial answers".to_owned()));
        }
        let partitioning = Partitioning::new(self, Limits::NONE, &Memory::unlimited(), threads);
        let (found, totals) = self.scanned(table, || self.groups(table, progress, &partitioning))?;
        let mut merged = self.no_groups();
        found.into_iter().try_for_each(|found| merged.merge(found.groups))?;
        merged.prepare(threads);
        interrupt::check()?;
        Ok((merged, totals))
    }

    /// Groups part after part, and merges the answers that they give.
    fn answer_in_parts(
        &self,
        path: &Path,
        parts: Parts,
        own: Vec<SplitGroups>,
        partitioning: Partitioning,
        mut totals: ScanTotals,
    ) -> Result<Answer> {
        let memory = &partitioning.memory;
        let sorter = Sorter::of_groups(self, &partitioning.spill, memory);
        let of_run = sorter.plan_of_run();
        let (start, groups) = (Instant::now(), AtomicU64::new(0));
        let run = |partial: Partial| {
            groups.fetch_add(partial.groups_with_rows(), Relaxed);
            sorter.run_of_groups(&of_run, partial)
        };
        let mut runs = partitions::merge_spilled(self, path, &partitioning, parts, run)?;
        for part in own {
            runs.push(sorter.run_of_groups(&of_run, part.partial)?);
        }
        totals.merge_time = start.elapsed();
        let blocks = sorter.merge(runs)?;
        totals.sort_time = start.elapsed() - totals.merge_time;
        totals.groups += groups.into_inner();
        let Partitioning { spill, memory, .. } = partitioning;
        Answer::of_blocks(self, blocks, spill, &memory, totals)
    }

    /// Merges the partials of several scans and sorts: the second half of [`Plan::run`]. Many rows are computed while the
    /// answer is read.
    ///
    /// # Errors
    /// [`Error::Usage`] if a partial is not of this plan.
    pub fn answer(
        &self,
        partials: impl IntoIterator<Item = Partial>,
        threads: usize,
        mut totals: ScanTotals,
    ) -> Result<Answer> {
        let start = Instant::now();
        self.check()?;
        let mut merged = self.no_groups();
        for partial in partials {
            merged.merge(partial)?;
        }
        merged.prepare(threads);
        totals.groups = merged.groups_with_rows();
        self.answer_of(vec![merged], threads, totals, start)
    }
}
