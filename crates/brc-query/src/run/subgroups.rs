//! Some groups are found faster, or in less memory, by way of smaller ones: rows are grouped by a finer key, for which
//! partitions, all threads and spilling are available, and the subgroups are merged to the groups of the plan.

use crate::accumulate::partial::Partial;
use crate::answer::Answer;
use crate::partitions::WorkerResult;
use crate::partitions::{self, Partitioning};
use crate::plan::Plan;
use crate::values::error::EvalError;
use brc_core::{Progress, Result, Table};
use parking_lot::Mutex;
use std::time::Instant;

/// Memory is not checked before there are this many groups.
const MIN_GROUPS_TO_CHECK: usize = 1 << 14;

/// A plan, and a plan of its subgroups.
pub(crate) struct Subgroups<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) of_subgroups: &'a Plan,
}

impl Subgroups<'_> {
    /// Queries a table: `no_groups` makes an empty partial of the plan, and `merge` merges subgroups into it. `None` if
    /// the plan has so many groups that memory is short.
    pub(crate) fn run(
        &self,
        table: &dyn Table,
        progress: &Progress,
        partitioning: &Partitioning,
        no_groups: impl Fn() -> Partial + Sync,
        merge: impl Fn(&mut Partial, &Partial) -> Result<(), EvalError> + Sync,
    ) -> Result<Option<Answer>> {
        let (threads, memory) = (partitioning.threads, &partitioning.memory);
        let (found, mut totals) =
            self.of_subgroups.scanned(table, || self.of_subgroups.groups(table, progress, partitioning))?;
        let start = Instant::now();
        let merged = Mutex::new(Vec::new());
        let add = |subgroups: Partial| -> Result<bool> {
            let known = merged.lock().pop();
            let mut groups = known.unwrap_or_else(&no_groups);
            merge(&mut groups, &subgroups).map_err(|fault| fault.error(table.path()))?;
            let are_many = groups.groups() > MIN_GROUPS_TO_CHECK;
            merged.lock().push(groups);
            Ok(are_many && memory.is_short())
        };
        if self.each_part(table, found, partitioning, add)? {
            return Ok(None);
        }
        let mut groups = no_groups();
        for other in merged.into_inner() {
            groups.merge(other)?;
        }
        groups.prepare(threads);
        totals.groups = groups.groups_with_rows();
        totals.spilled_bytes = partitioning.spill.bytes();
        totals.merge_time = start.elapsed();
        self.plan.answer_of(vec![groups], threads, totals, start).map(Some)
    }

    /// Calls `add` with all subgroups, a part at a time; returns whether it was ever true.
    fn each_part(
        &self,
        table: &dyn Table,
        found: Vec<WorkerResult<'_>>,
        partitioning: &Partitioning,
        add: impl Fn(Partial) -> Result<bool> + Sync,
    ) -> Result<bool> {
        let (plan, path) = (self.of_subgroups, table.path());
        if partitioning.needs_parts(&found) {
            let parts = plan.parts(path, found, partitioning)?;
            return Ok(partitions::merge_spilled(plan, path, partitioning, parts, add)?.contains(&true));
        }
        let (merged, records) = plan.merged(found)?;
        match partitioning.scatter_plan().filter(|_| !records.is_empty()) {
            Some(scatter_plan) => {
                let threads = partitioning.threads;
                let partitioned = partitioning.partitioned(scatter_plan, merged, records);
                Ok(partitions::merge_partitions(plan, path, &partitioned, threads, add)?.contains(&true))
            }
            None => add(merged),
        }
    }
}
