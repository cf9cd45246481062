//! The second half of grouping by partitions: each becomes groups of its own, with those that were found before there were
//! partitions.

use super::chunks::Chunks;
use super::packing::{PackedKeys, Packing};
use super::reader::Reader;
use super::records::{PARTITIONS, Records, partition_hasher, partition_of};
use crate::accumulators::Accumulators;
use crate::grouped::foremost;
use crate::parallel;
use crate::partial::{GroupKeys, Partial};
use crate::plan::Plan;
use crate::vector::Fault;
use brc_core::Result;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Room is made for so many groups of a partition before they come, if it has as many records.
const MOST_EXPECTED: usize = 1 << 16;

/// Groups the records of all workers, of which there are some. `before` has the groups that workers had themselves. Calls `each`
/// with groups, no two of which have one in common, by several threads.
pub(crate) fn regroup<T: Send>(
    plan: &Plan,
    path: &Path,
    before: Partial,
    records: Vec<Records<'_>>,
    packing: &Arc<Packing>,
    threads: usize,
    each: impl Fn(Partial) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let Some(layout) = records.first().map(|records| records.layout) else { return Ok(vec![each(before)?]) };
    let early = EarlyGroups::new(before, packing);
    let mut partitions: Vec<Mutex<Vec<Chunks>>> = Vec::new();
    partitions.resize_with(PARTITIONS, Mutex::default);
    for worker in records {
        for (chunks, partition) in worker.into_partitions().zip(&mut partitions) {
            partition.get_mut().unwrap_or_else(PoisonError::into_inner).push(chunks);
        }
    }
    let one = |number: usize| {
        let chunks = std::mem::take(&mut *partitions[number].lock().unwrap_or_else(PoisonError::into_inner));
        let found = group(plan, packing, chunks, Reader::new(packing.width(), layout), (&early, number));
        each(found.map_err(|fault| fault.error(path))?)
    };
    let mut found = parallel::map(PARTITIONS, threads, one)?;
    if let Some(left) = early.left() {
        found.push(each(left)?);
    }
    Ok(found)
}

/// Groups one partition.
fn group(
    plan: &Plan,
    packing: &Arc<Packing>,
    chunks: Vec<Chunks>,
    mut reader: Reader<'_>,
    (early, number): (&EarlyGroups, usize),
) -> std::result::Result<Partial, Fault> {
    let records: usize = chunks.iter().map(|chunks| chunks.words() / reader.words()).sum();
    let mut keys = PackedKeys::new(Arc::clone(packing), records.min(MOST_EXPECTED));
    let mut accumulators = Accumulators::new(plan);
    let mut numbers = Vec::new();
    for chunk in chunks.iter().flat_map(Chunks::iter) {
        reader.take(chunk);
        keys.number(&reader.tuples, &mut numbers);
        reader.add_to(&mut accumulators, &numbers, keys.len())?;
    }
    keys.number(&early.tuples[number], &mut numbers);
    keys.settle();
    let mut partial = accumulators.finish(Some(GroupKeys::Packed(keys)));
    partial.absorb(&early.groups, &early.members[number], &numbers);
    partial.settle(1);
    Ok(partial)
}

/// The groups of a partition as they will be wanted: those only that may be among the first of an answer, or all in the order
/// of their keys. So what is not needed is given back, and what is needed lies where it is looked for.
pub(crate) fn in_order(plan: &Plan, partial: Partial) -> Result<Partial> {
    let order = match (plan.limit, plan.order_by.is_empty()) {
        (Some(_), _) => foremost(plan, &partial)?,
        (None, true) => partial.packed_keys().map(PackedKeys::order),
        (None, false) => None,
    };
    let Some(order) = order else { return Ok(partial) };
    let mut partial = partial.take(&order);
    partial.settle(1);
    Ok(partial)
}

/// The groups that there were before there were partitions, by partition.
struct EarlyGroups {
    groups: Partial,
    tuples: Vec<Vec<u64>>,
    members: Vec<Vec<u32>>,
    /// Those whose keys cannot be packed.
    others: Vec<u32>,
}

impl EarlyGroups {
    fn new(groups: Partial, packing: &Packing) -> Self {
        let (mut tuples, mut members) = (vec![Vec::new(); PARTITIONS], vec![Vec::new(); PARTITIONS]);
        let (mut others, mut text) = (Vec::new(), Vec::new());
        let hasher = partition_hasher();
        for group in (0..groups.groups()).filter(|&group| groups.has_rows(group)) {
            let mut tuple = vec![0; packing.width()];
            let mut pack = |key| packing.pack_value(key, groups.key(key, group, &mut text), &mut tuple);
            if (0..packing.keys()).all(&mut pack) {
                let partition = partition_of(&hasher, &tuple);
                tuples[partition].extend_from_slice(&tuple);
                members[partition].push(group as u32);
            } else {
                others.push(group as u32);
            }
        }
        Self { groups, tuples, members, others }
    }

    fn left(self) -> Option<Partial> {
        let mut left = (!self.others.is_empty()).then(|| self.groups.take(&self.others));
        left.iter_mut().for_each(|left| left.settle(1));
        left
    }
}
