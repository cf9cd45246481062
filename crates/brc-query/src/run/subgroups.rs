//! Answers from finer groups than those that are asked for: rows are grouped by something else, for which there are partitions,
//! all threads and files, and the groups found are folded to those asked for.

use crate::accumulate::partial::Partial;
use crate::answer::Answered;
use crate::partitions::Found;
use crate::partitions::{self, Partitioning};
use crate::plan::Plan;
use crate::values::fault::Fault;
use brc_core::{Progress, Result, Table};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Memory is never short because of fewer groups.
const MANY_GROUPS: usize = 1 << 14;

/// A plan, and one of finer groups.
pub(crate) struct Finer<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) finer: &'a Plan,
}

impl Finer<'_> {
    /// Asks a table: `no_groups` begins with none of those that are asked for, and `fold` adds finer ones to them. `None` if
    /// there are so many of the former that memory is short.
    pub(crate) fn run(
        &self,
        table: &dyn Table,
        progress: &Progress,
        partitioning: &Partitioning,
        no_groups: impl Fn() -> Partial + Sync,
        fold: impl Fn(&mut Partial, &Partial) -> Result<(), Fault> + Sync,
    ) -> Result<Option<Answered>> {
        let (threads, memory) = (partitioning.threads, &partitioning.memory);
        let (found, mut totals) = self.finer.scanned(table, || self.finer.groups(table, progress, partitioning))?;
        let start = Instant::now();
        let folded = Mutex::new(Vec::new());
        let add = |finer: Partial| -> Result<bool> {
            let known = folded.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut groups = known.unwrap_or_else(&no_groups);
            fold(&mut groups, &finer).map_err(|fault| fault.error(table.path()))?;
            let are_many = groups.groups() > MANY_GROUPS;
            folded.lock().unwrap_or_else(PoisonError::into_inner).push(groups);
            Ok(are_many && memory.is_short())
        };
        if self.each_part(table, found, partitioning, add)? {
            return Ok(None);
        }
        let mut groups = no_groups();
        for folded in folded.into_inner().unwrap_or_else(PoisonError::into_inner) {
            groups.merge(folded)?;
        }
        groups.settle(threads);
        totals.groups = groups.groups_with_rows();
        totals.spilled_bytes = partitioning.spill.bytes();
        totals.regroup_time = start.elapsed();
        self.plan.answer_of(vec![groups], threads, totals, start).map(Some)
    }

    /// Calls `add` with all finer groups, some after the other; returns whether it ever said so.
    fn each_part(
        &self,
        table: &dyn Table,
        found: Vec<Found<'_>>,
        partitioning: &Partitioning,
        add: impl Fn(Partial) -> Result<bool> + Sync,
    ) -> Result<bool> {
        let (plan, path) = (self.finer, table.path());
        if partitioning.needs_parts(&found) {
            let parts = plan.parts(path, found, partitioning)?;
            return Ok(partitions::regroup_parts(plan, path, partitioning, parts, add)?.contains(&true));
        }
        let (merged, records) = plan.merged(found)?;
        match partitioning.dealing().filter(|_| !records.is_empty()) {
            Some(dealing) => {
                let threads = partitioning.threads;
                let dealt = partitioning.dealt(dealing, merged, records);
                Ok(partitions::regroup(plan, path, &dealt, threads, add)?.contains(&true))
            }
            None => add(merged),
        }
    }
}
