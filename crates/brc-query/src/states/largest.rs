//! The largest few numbers of each group.

use super::{Accumulator, GroupIds, TOO_LARGE, Values};
use crate::group::Malformed;
use crate::keys::layout::{float_key, float_of_key};
use brc_core::{LogicalType, PhysicalType, Value, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// So many are few; of more, [all values](super::values) are kept.
pub(crate) const MOST: usize = 16;

/// The largest numbers of up to 64 bits, group by group, each group's largest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Largest {
    /// How many are kept of each group.
    most: usize,
    /// Integers, or floats as their [keys](float_key) with the upper bit flipped; what no value has come for is the least.
    values: Vec<i64>,
    /// How many there are of each group.
    counts: Vec<u8>,
    is_float: bool,
}

impl Largest {
    /// Keeps so many of each group, at most [`MOST`].
    pub(super) fn new(logical_type: LogicalType, most: usize) -> Self {
        let is_float = logical_type.physical() == PhysicalType::Floats;
        Self { most: most.min(MOST), values: Vec::new(), counts: Vec::new(), is_float }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.most, self.is_float) == (other.most, other.is_float)
    }

    /// The value at a place among those of a group that were kept, from the smallest, which `place` finds for their number.
    pub(super) fn ranked(&self, group: usize, place: impl FnOnce(usize) -> usize) -> Option<Value<'_>> {
        let count = usize::from(self.counts[group]);
        let last = count.checked_sub(1)?;
        let value = self.values[group * self.most + last - place(count).min(last)];
        Some(if self.is_float {
            Value::Float(float_of_key(value as u64 ^ 1 << 63))
        } else {
            Value::Integer(value.into())
        })
    }

    fn add_all<T: Copy + TryInto<i64>>(&mut self, groups: GroupIds<'_>, values: &[T]) -> Result<(), Malformed> {
        groups.each(values.len(), |group, row| {
            let value = values[row].try_into().map_err(|_| TOO_LARGE)?;
            self.add(group, value)
        })
    }

    #[inline(always)]
    fn add(&mut self, group: usize, value: i64) -> Result<(), Malformed> {
        let kept = self.values.get_mut(group * self.most..(group + 1) * self.most).ok_or(UnknownGroup)?;
        match kept.last() {
            Some(&least) if value > least || (least == i64::MIN && usize::from(self.counts[group]) < self.most) => {}
            Some(_) | None => return Ok(()),
        }
        let place = kept.partition_point(|&larger| larger > value);
        kept.copy_within(place..self.most - 1, place + 1);
        kept[place] = value;
        self.counts[group] = (self.counts[group] + 1).min(self.most as u8);
        Ok(())
    }
}

impl Accumulator for Largest {
    fn len(&self) -> usize {
        self.counts.len()
    }

    fn grow(&mut self, groups: usize) {
        self.counts.resize(groups.max(self.counts.len()), 0);
        self.values.resize(self.counts.len() * self.most, i64::MIN);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        if self.is_float {
            let values = values.floats()?;
            return groups.each(values.len(), |group, row| self.add(group, (float_key(values[row]) ^ 1 << 63) as i64));
        }
        for_integers!(values.integers()?, values => self.add_all(groups, values))
    }

    fn take(&self, groups: &[u32]) -> Self {
        let values = groups.iter().flat_map(|&group| {
            let start = group as usize * self.most;
            &self.values[start..start + self.most]
        });
        let counts = groups.iter().map(|&group| self.counts[group as usize]);
        Self { values: values.copied().collect(), counts: counts.collect(), ..*self }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for ((&group, &count), values) in groups.iter().zip(&other.counts).zip(other.values.chunks(other.most.max(1))) {
            for &value in &values[..usize::from(count)] {
                // The group is there: nothing can be wrong.
                let _ = self.add(group as usize, value);
            }
        }
    }

    fn is_sound(&self) -> bool {
        self.most <= MOST
            && self.values.len() == self.counts.len() * self.most
            && self.counts.iter().all(|&count| usize::from(count) <= self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brc_core::Integers;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_largest_are_kept(
            rows in prop::collection::vec((0u32..3, prop_oneof![-3i64..3, Just(i64::MIN), any::<i64>()]), 0..60),
            most in 0usize..6,
            cut in 0usize..60,
        ) {
            let state = |rows: &[(u32, i64)]| {
                let mut state = Largest::new(LogicalType::Int64, most);
                state.grow(3);
                let (groups, values): (Vec<u32>, Vec<i64>) = rows.iter().copied().unzip();
                let values = Values::Integers(Integers::I64(&values));
                state.update(Level::best(), GroupIds::Rows(&groups), values).unwrap();
                state
            };
            let (one, other) = rows.split_at(cut.min(rows.len()));
            let mut merged = state(one);
            merged.merge(&state(other).take(&[2, 0, 1]), &[2, 0, 1]);
            for group in 0..3usize {
                let mut values: Vec<i64> = rows.iter().filter(|row| row.0 as usize == group).map(|row| row.1).collect();
                values.sort_by(|one, other| other.cmp(one));
                values.truncate(most);
                for state in [&merged, &state(&rows)] {
                    let ranked = |place: usize| state.ranked(group, |count| count - 1 - place);
                    let found = (0..values.len()).filter_map(ranked);
                    prop_assert!(found.eq(values.iter().map(|&value| Value::Integer(value.into()))));
                    prop_assert_eq!(usize::from(state.counts[group]), values.len());
                }
            }
        }
    }
}
