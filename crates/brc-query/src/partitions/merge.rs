//! The merge phase: the records of each partition become groups.

use super::partitioned::Partitioned;
use crate::accumulate::partial::Partial;
use crate::finish::groups::foremost;
use crate::plan::Plan;
use crate::runtime::parallel;
use brc_core::Result;
use std::path::Path;

/// Calls `each` with the groups of each partition, no two of which have one in common, by several threads.
pub(crate) fn merge_partitions<T: Send>(
    plan: &Plan,
    path: &Path,
    partitioned: &Partitioned,
    threads: usize,
    each: impl Fn(Partial) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let one = |number: usize| each(partitioned.group(plan, number).map_err(|error| error.error(path))?);
    let mut found = parallel::try_map(partitioned.len(), threads, one)?;
    if let Some(others) = partitioned.others() {
        found.push(each(others)?);
    }
    Ok(found)
}

/// The groups of a partition that the answer needs: those that may be among its first rows, or all in the order of
/// their keys. So memory of other groups is freed, and the answer reads groups in sequence.
pub(crate) fn in_order(plan: &Plan, partial: Partial) -> Result<Partial> {
    match (plan.limit, plan.order_by.is_empty()) {
        (Some(_), _) => Ok(match foremost(plan, &partial)? {
            Some(order) => partial.prepared(&order),
            None => partial,
        }),
        (None, true) => Ok(partial.in_key_order()),
        (None, false) => Ok(partial),
    }
}
