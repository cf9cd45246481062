//! The largest few numbers of each group.

use super::{Accumulator, GroupIds, TOO_LARGE, Values};
use crate::group::Malformed;
use crate::keys::layout::{float_key, float_of_key};
use brc_core::{LogicalType, PhysicalType, Value, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::cpu::Level;
use brc_kernels::memory::prefetch;
use serde::{Deserialize, Serialize};

/// So many are few; of more, [all values](super::values) are kept.
pub(crate) const MOST: usize = 16;

/// The largest numbers of up to 64 bits, group by group, each group's largest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Largest {
    /// How many are kept of each group.
    most: usize,
    groups: usize,
    /// Integers, or floats as their [keys](float_key) with the upper bit flipped; what no value has come for is [`LEAST`].
    values: Vec<i64>,
    /// How many values of each group are [`LEAST`], up to so many as are kept; empty as long as none is.
    least: Vec<u8>,
    is_float: bool,
}

/// How many rows before its own the values of a group are fetched into the cache.
const AHEAD: usize = 16;

/// No value is smaller.
const LEAST: i64 = i64::MIN;

impl Largest {
    /// Keeps so many of each group, at most [`MOST`].
    pub(super) fn new(logical_type: LogicalType, most: usize) -> Self {
        let is_float = logical_type.physical() == PhysicalType::Floats;
        Self { most: most.min(MOST), groups: 0, values: Vec::new(), least: Vec::new(), is_float }
    }

    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.most, self.is_float) == (other.most, other.is_float)
    }

    /// The values at some places among those of a group that were kept, from the smallest, which `places` finds for their
    /// number.
    pub(super) fn ranked<const PLACES: usize>(
        &self,
        group: usize,
        places: impl FnOnce(usize) -> [usize; PLACES],
    ) -> Option<[Value<'_>; PLACES]> {
        let kept = self.kept(group);
        let last = kept.len().checked_sub(1)?;
        Some(places(kept.len()).map(|place| {
            let value = kept[last - place.min(last)];
            match self.is_float {
                true => Value::Float(float_of_key(value as u64 ^ 1 << 63)),
                false => Value::Integer(value.into()),
            }
        }))
    }

    /// The values of a group, its largest first.
    fn kept(&self, group: usize) -> &[i64] {
        let values = &self.values[group * self.most..(group + 1) * self.most];
        let larger = values.partition_point(|&value| value > LEAST);
        let least = self.least.get(group).map_or(0, |&least| usize::from(least));
        &values[..(larger + least).min(self.most)]
    }

    fn add_all(
        &mut self,
        groups: GroupIds<'_>,
        rows: usize,
        value: impl Fn(usize) -> Result<i64, Malformed>,
    ) -> Result<(), Malformed> {
        match self.most {
            1 => self.add_rows(groups, rows, value, Self::add_few::<1>),
            2 => self.add_rows(groups, rows, value, Self::add_few::<2>),
            3 => self.add_rows(groups, rows, value, Self::add_few::<3>),
            _ => self.add_rows(groups, rows, value, Self::add),
        }
    }

    fn add_integers<T: Copy + TryInto<i64>>(&mut self, groups: GroupIds<'_>, values: &[T]) -> Result<(), Malformed> {
        self.add_all(groups, values.len(), |row| values[row].try_into().map_err(|_| TOO_LARGE))
    }

    #[inline(always)]
    fn add_rows(
        &mut self,
        groups: GroupIds<'_>,
        rows: usize,
        value: impl Fn(usize) -> Result<i64, Malformed>,
        add: impl Fn(&mut Self, usize, i64) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        groups.each(rows, |group, row| {
            if let Some(later) = groups.of_row(row + AHEAD) {
                prefetch(&self.values, later * self.most);
            }
            add(self, group, value(row)?)
        })
    }

    /// Where few are kept, each pushes the smaller one on: nothing depends on whether the value is among them, which processors
    /// would often guess wrong.
    #[inline(always)]
    fn add_few<const MOST: usize>(&mut self, group: usize, value: i64) -> Result<(), Malformed> {
        let (rows, _) = self.values.as_chunks_mut::<MOST>();
        let kept = rows.get_mut(group).ok_or(UnknownGroup)?;
        let mut next = value;
        for kept in kept {
            (*kept, next) = ((*kept).max(next), (*kept).min(next));
        }
        if value == LEAST {
            self.count_least(group);
        }
        Ok(())
    }

    #[inline(always)]
    fn add(&mut self, group: usize, value: i64) -> Result<(), Malformed> {
        let kept = self.values.get_mut(group * self.most..(group + 1) * self.most).ok_or(UnknownGroup)?;
        if kept.last().is_some_and(|&least| value > least) {
            let place = kept.partition_point(|&larger| larger > value);
            kept.copy_within(place..self.most - 1, place + 1);
            kept[place] = value;
        }
        if value == LEAST {
            self.count_least(group);
        }
        Ok(())
    }

    #[cold]
    fn count_least(&mut self, group: usize) {
        self.least.resize(self.groups, 0);
        self.least[group] = (self.least[group] + 1).min(self.most as u8);
    }
}

impl Accumulator for Largest {
    fn len(&self) -> usize {
        self.groups
    }

    fn grow(&mut self, groups: usize) {
        self.groups = groups.max(self.groups);
        self.values.resize(self.groups * self.most, LEAST);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        if self.is_float {
            let floats = values.floats()?;
            return self.add_all(groups, floats.len(), |row| Ok((float_key(floats[row]) ^ 1 << 63) as i64));
        }
        for_integers!(values.integers()?, values => self.add_integers(groups, values))
    }

    fn take(&self, groups: &[u32]) -> Self {
        let values = groups.iter().flat_map(|&group| {
            let start = group as usize * self.most;
            &self.values[start..start + self.most]
        });
        let least = |&group: &u32| self.least.get(group as usize).copied().unwrap_or(0);
        let least = if self.least.is_empty() { Vec::new() } else { groups.iter().map(least).collect() };
        Self { groups: groups.len(), values: values.copied().collect(), least, ..*self }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (theirs, &group) in groups.iter().enumerate() {
            for &value in other.kept(theirs) {
                // The group is there: nothing can be wrong.
                let _ = self.add(group as usize, value);
            }
        }
    }

    fn is_sound(&self) -> bool {
        self.most <= MOST
            && Some(self.values.len()) == self.groups.checked_mul(self.most)
            && self.least.len() <= self.groups
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
                    let ranked = |place: usize| state.ranked(group, |count| [count - 1 - place]);
                    let found = (0..values.len()).filter_map(ranked).flatten();
                    prop_assert!(found.eq(values.iter().map(|&value| Value::Integer(value.into()))));
                    prop_assert_eq!(state.kept(group).len(), values.len());
                }
            }
        }
    }
}
