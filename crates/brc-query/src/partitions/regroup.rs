//! The second half of grouping by partitions: each becomes groups of its own, with those that were found before there were
//! partitions.

use super::packing::{PackedKeys, Packing};
use super::records::{Chunks, PARTITIONS, Reader, Records, partition_hasher, partition_of};
use crate::accumulators::Accumulators;
use crate::filter::Selection;
use crate::parallel;
use crate::partial::{GroupKeys, Partial};
use crate::plan::Plan;
use crate::states::GroupIds;
use crate::vector::Fault;
use brc_core::{Batch, Result};
use brc_kernels::cpu::Level;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Groups the records of all workers, of which there are some. `before` has the groups that workers had themselves. No two
/// of the partials that come out have a group in common.
pub(crate) fn regroup(
    plan: &Plan,
    path: &Path,
    before: Partial,
    records: Vec<Records<'_>>,
    packing: &Arc<Packing>,
    threads: usize,
) -> Result<Vec<Partial>> {
    let Some(layout) = records.first().map(|records| records.layout) else { return Ok(vec![before]) };
    let early = EarlyGroups::new(before, packing);
    let mut partitions: Vec<Mutex<Vec<Chunks>>> = Vec::new();
    partitions.resize_with(PARTITIONS, Mutex::default);
    for worker in records {
        for (chunks, partition) in worker.partitions.into_iter().zip(&mut partitions) {
            partition.get_mut().unwrap_or_else(PoisonError::into_inner).push(chunks);
        }
    }
    let one = |number: usize| {
        let chunks = std::mem::take(&mut *partitions[number].lock().unwrap_or_else(PoisonError::into_inner));
        group(plan, packing, chunks, Reader::new(packing.width(), layout), (&early, number))
    };
    let found = parallel::map(PARTITIONS, threads, one).map_err(|fault| fault.error(path))?;
    Ok(found.into_iter().chain(early.left()).collect())
}

/// Groups one partition.
fn group(
    plan: &Plan,
    packing: &Arc<Packing>,
    chunks: Vec<Chunks>,
    mut reader: Reader<'_>,
    (early, number): (&EarlyGroups, usize),
) -> std::result::Result<Partial, Fault> {
    let mut keys = PackedKeys::new(Arc::clone(packing));
    let mut accumulators = Accumulators::new(plan);
    let mut numbers = Vec::new();
    for chunk in chunks.into_iter().flat_map(Chunks::into_iter) {
        reader.take(&chunk);
        keys.number(&reader.tuples, &mut numbers);
        let (rows, columns) = reader.columns();
        let batch = Batch { rows, columns: &columns };
        accumulators.update(Level::best(), &batch, Selection::All, GroupIds::Rows(&numbers), keys.len())?;
    }
    keys.number(&early.tuples[number], &mut numbers);
    keys.settle();
    let mut partial = accumulators.finish(Some(GroupKeys::Packed(keys)));
    partial.absorb(&early.groups, &early.members[number], &numbers);
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
