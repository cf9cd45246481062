//! The merge phase where memory is short: parts are grouped one by one. The groups of a part are passed on before the
//! next part begins, and a part with too many groups is split.

use super::parts::{Part, Parts};
use super::reader::Reader;
use super::tables::PartitionTable;
use super::{Partitioning, ScatterPlan};
use crate::accumulate::partial::Partial;
use crate::plan::Plan;
use crate::runtime::memory::Gauge;
use crate::runtime::parallel;
use crate::values::error::EvalError;
use brc_core::{Error, Result};
use parking_lot::Mutex;
use std::path::Path;

/// What a part came to.
enum Grouped {
    Whole(Box<Partial>),
    /// Memory became short at this number of groups.
    TooLarge(usize),
}

/// Calls `each` with the groups of each part, by several threads. No two of them have a group in common.
pub(crate) fn merge_spilled<T: Send>(
    plan: &Plan,
    path: &Path,
    partitioning: &Partitioning,
    parts: Parts,
    each: impl Fn(Partial) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let parts: Vec<_> = parts.into_vec().into_iter().map(Mutex::new).collect();
    let one = |number: usize| -> Result<Vec<T>> {
        let mut part = parts[number].lock();
        let (part, is_encoded) = (std::mem::take(&mut part.0), part.1);
        let scatter_plan = if is_encoded { partitioning.scatter_plan() } else { None };
        let mut found = Vec::new();
        let each = |groups| {
            found.push(each(groups)?);
            Ok(())
        };
        let mut work = SpilledMerge { plan, path, partitioning, scatter_plan, each };
        work.group(part, 0)?;
        Ok(found)
    };
    let found = parallel::try_map(parts.len(), partitioning.threads, one)?;
    let mut found: Vec<T> = found.into_iter().flatten().collect();
    if found.is_empty() {
        let mut none = plan.no_groups();
        none.prepare(1);
        found.push(each(none)?);
    }
    Ok(found)
}

struct SpilledMerge<'a, F> {
    plan: &'a Plan,
    path: &'a Path,
    partitioning: &'a Partitioning,
    /// Of the part, if it is one of keys that are encoded.
    scatter_plan: Option<&'a ScatterPlan>,
    each: F,
}

impl<F: FnMut(Partial) -> Result<()>> SpilledMerge<'_, F> {
    fn group(&mut self, part: Part, depth: u32) -> Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        match self.attempt(&part)? {
            Grouped::Whole(mut groups) => {
                drop(part);
                groups.prepare(1);
                (self.each)(*groups)
            }
            Grouped::TooLarge(2..) if Part::may_split(depth) => {
                let parts = part.split(&self.partitioning.spill, self.scatter_plan, depth)?;
                parts.into_iter().try_for_each(|part| self.group(part, depth + 1))
            }
            Grouped::TooLarge(_) => Err(self.one_group_is_too_large()),
        }
    }

    fn attempt(&self, part: &Part) -> Result<Grouped> {
        let gauge = self.partitioning.memory.of_partition(self.partitioning.threads);
        let spill = &self.partitioning.spill;
        let (mut groups, encoding) = match self.scatter_plan {
            Some(scatter_plan) => match self.of_records(part, scatter_plan, &gauge)? {
                Grouped::Whole(groups) => (*groups, Some(&scatter_plan.encoding)),
                too_large => return Ok(too_large),
            },
            None => (self.plan.no_groups(), None),
        };
        for frame in &part.groups {
            if self.is_too_large(&gauge, groups.groups()) {
                return Ok(Grouped::TooLarge(groups.groups()));
            }
            let more: Partial = spill.read_value(frame)?;
            match encoding {
                Some(encoding) => {
                    let (tuples, fits) = more.encode_keys(encoding);
                    if fits.contains(&false) {
                        return Err(self.is_of_another_part());
                    }
                    groups.merge_encoded(more, &tuples);
                }
                None => groups.merge(more)?,
            }
        }
        Ok(Grouped::Whole(Box::new(groups)))
    }

    /// Groups the records of a part.
    fn of_records(&self, part: &Part, scatter_plan: &ScatterPlan, gauge: &Gauge) -> Result<Grouped> {
        let ScatterPlan { encoding, layout, .. } = scatter_plan;
        let mut reader = Reader::new(layout);
        let mut table = PartitionTable::new(self.plan, encoding, 0);
        let whole = part.each_chunk(&self.partitioning.spill, layout.words(), |chunk| {
            if self.is_too_large(gauge, table.groups()) {
                return Ok(false);
            }
            let added = table.add(chunk, &mut reader);
            added.map_err(|error| EvalError::from(error).error(self.path))?;
            Ok(true)
        })?;
        Ok(match whole {
            true => Grouped::Whole(Box::new(table.finish())),
            false => Grouped::TooLarge(table.groups()),
        })
    }

    fn is_too_large(&self, gauge: &Gauge, groups: usize) -> bool {
        gauge.is_short() || groups > self.partitioning.limits.partition
    }

    /// What was written for a part comes back with keys that cannot be encoded, though only such as can be were.
    fn is_of_another_part(&self) -> Error {
        Error::corrupt(self.path, "the temporary file", "a group is not of the part that it was written for")
    }

    fn one_group_is_too_large(&self) -> Error {
        let keeping = self.plan.keeping();
        let what = if keeping.is_empty() { "the state".to_owned() } else { keeping.join(", ") };
        Error::Memory { limit: self.partitioning.memory.limit, what: format!("{what} of one group") }
    }
}
