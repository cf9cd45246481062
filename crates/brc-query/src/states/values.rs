//! All values of each group, for what depends on their order.

use super::{Accumulator, GroupIds, TOO_LARGE, Values, places};
use crate::group::Malformed;
use crate::keys::layout::{float_key, float_of_key};
use brc_core::{LogicalType, PhysicalType, Value, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// Fewer values are sorted by one thread.
const FEW: usize = 1 << 14;

/// Values in the order in which they came, each with its group. Settled, they lie group by group, sorted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AllValues {
    groups: Vec<u32>,
    numbers: Numbers,
    /// Where the values of each group begin, and behind them all where the last end; empty until they are sorted.
    #[serde(skip)]
    starts: Vec<usize>,
    len: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Numbers {
    Integers(Vec<i64>),
    /// Integers of a type that needs more than 64 bits.
    Wide(Vec<i128>),
    /// Floats as their [keys](float_key).
    Floats(Vec<u64>),
}

impl AllValues {
    pub(super) fn new(logical_type: LogicalType) -> Self {
        let numbers = match logical_type.physical() {
            PhysicalType::Floats => Numbers::Floats(Vec::new()),
            PhysicalType::Integers | PhysicalType::Bytes if logical_type.fits_64_bits() => {
                Numbers::Integers(Vec::new())
            }
            PhysicalType::Integers | PhysicalType::Bytes => Numbers::Wide(Vec::new()),
        };
        Self { groups: Vec::new(), numbers, starts: Vec::new(), len: 0 }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.numbers) == std::mem::discriminant(&other.numbers)
    }

    /// The value at a place among the sorted values of a group, which `place` finds for their number.
    pub(super) fn ranked(&self, group: usize, place: impl FnOnce(usize) -> usize) -> Option<Value<'_>> {
        let (start, end) = (*self.starts.get(group)?, *self.starts.get(group + 1)?);
        if start == end {
            return None;
        }
        let index = start + place(end - start).min(end - start - 1);
        Some(match &self.numbers {
            Numbers::Integers(values) => Value::Integer((*values.get(index)?).into()),
            Numbers::Wide(values) => Value::Integer(*values.get(index)?),
            Numbers::Floats(values) => Value::Float(float_of_key(*values.get(index)?)),
        })
    }

    /// Puts the values group by group, and sorts those of each.
    fn sort(&mut self, threads: usize) {
        let mut starts = vec![0; self.len + 1];
        self.groups.iter().for_each(|&group| starts[group as usize + 1] += 1);
        for group in 0..self.len {
            starts[group + 1] += starts[group];
        }
        match &mut self.numbers {
            Numbers::Integers(values) => sort(values, &self.groups, &starts, threads),
            Numbers::Wide(values) => sort(values, &self.groups, &starts, threads),
            Numbers::Floats(values) => sort(values, &self.groups, &starts, threads),
        }
        for (group, ends) in starts.windows(2).enumerate() {
            self.groups[ends[0]..ends[1]].fill(group as u32);
        }
        self.starts = starts;
    }
}

fn extend<S: Copy, T: TryFrom<S>>(all: &mut Vec<T>, values: &[S]) -> Result<(), Malformed> {
    for &value in values {
        all.push(value.try_into().map_err(|_| TOO_LARGE)?);
    }
    Ok(())
}

fn sort<T: Copy + Ord + Default + Send>(values: &mut Vec<T>, groups: &[u32], starts: &[usize], threads: usize) {
    if values.is_empty() {
        return;
    }
    let mut next = starts.to_vec();
    let mut by_group = vec![T::default(); values.len()];
    for (&value, &group) in values.iter().zip(groups) {
        by_group[next[group as usize]] = value;
        next[group as usize] += 1;
    }
    sort_groups(&mut by_group, starts, threads);
    *values = by_group;
}

/// Sorts the values of each group, of which `starts` tells where they begin and the last end.
fn sort_groups<T: Ord + Send>(values: &mut [T], starts: &[usize], threads: usize) {
    let (first, groups) = (starts[0], starts.len() - 1);
    // Half of the values, as nearly as groups allow.
    let half = starts.partition_point(|&start| start - first < values.len() / 2).min(groups);
    if threads < 2 || half == 0 || half == groups || values.len() < FEW {
        starts.windows(2).for_each(|ends| values[ends[0] - first..ends[1] - first].sort_unstable());
        return;
    }
    let (left, right) = values.split_at_mut(starts[half] - first);
    std::thread::scope(|scope| {
        scope.spawn(|| sort_groups(left, &starts[..=half], threads / 2));
        sort_groups(right, &starts[half..], threads - threads / 2);
    });
}

impl Accumulator for AllValues {
    fn len(&self) -> usize {
        self.len
    }

    fn grow(&mut self, groups: usize) {
        self.len = groups.max(self.len);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        let known = self.len;
        groups.each(values.len(), |group, _| {
            self.groups.push(if group < known { group as u32 } else { return Err(UnknownGroup.into()) });
            Ok(())
        })?;
        match &mut self.numbers {
            Numbers::Floats(all) => all.extend(values.floats()?.iter().map(|&value| float_key(value))),
            Numbers::Wide(all) => for_integers!(values.integers()?, values => extend(all, values))?,
            Numbers::Integers(all) => for_integers!(values.integers()?, values => extend(all, values))?,
        }
        Ok(())
    }

    fn take(&self, groups: &[u32]) -> Self {
        fn kept<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| values[row]).collect()
        }
        let places = places(groups, self.len);
        let place = |row: &usize| places[self.groups[*row] as usize];
        let rows: Vec<usize> = (0..self.groups.len()).filter(|row| place(row).is_some()).collect();
        let numbers = match &self.numbers {
            Numbers::Integers(values) => Numbers::Integers(kept(values, &rows)),
            Numbers::Wide(values) => Numbers::Wide(kept(values, &rows)),
            Numbers::Floats(values) => Numbers::Floats(kept(values, &rows)),
        };
        Self { groups: rows.iter().filter_map(place).collect(), numbers, starts: Vec::new(), len: groups.len() }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        match (&mut self.numbers, &other.numbers) {
            (Numbers::Integers(ours), Numbers::Integers(theirs)) => ours.extend_from_slice(theirs),
            (Numbers::Wide(ours), Numbers::Wide(theirs)) => ours.extend_from_slice(theirs),
            (Numbers::Floats(ours), Numbers::Floats(theirs)) => ours.extend_from_slice(theirs),
            (Numbers::Integers(_) | Numbers::Wide(_) | Numbers::Floats(_), _) => return,
        }
        self.groups.extend(other.groups.iter().map(|&group| groups[group as usize]));
    }

    fn settle(&mut self, threads: usize) {
        self.sort(threads);
    }

    fn is_sound(&self) -> bool {
        let count = match &self.numbers {
            Numbers::Integers(values) => values.len(),
            Numbers::Wide(values) => values.len(),
            Numbers::Floats(values) => values.len(),
        };
        count == self.groups.len() && self.groups.iter().all(|&group| (group as usize) < self.len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_sorted_by_any_number_of_threads(
            lengths in prop::collection::vec(prop_oneof![0usize..40, 5000usize..9000], 1..12),
            threads in 1usize..6,
        ) {
            let mut starts = vec![0];
            lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
            let mut values: Vec<u64> = (0..starts[lengths.len()] as u64).map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
            let mut expected = values.clone();
            starts.windows(2).for_each(|ends| expected[ends[0]..ends[1]].sort_unstable());
            sort_groups(&mut values, &starts, threads);
            prop_assert!(values == expected);
        }
    }
}
