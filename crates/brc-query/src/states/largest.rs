//! The largest few numbers of each group.

use super::{Accumulator, GroupIds, TOO_LARGE, Values, check_rows};
use crate::values::error::BatchError;
use crate::values::float_key::float_of_key;
use brc_core::{LogicalType, PhysicalType, Value, for_integers};
use brc_kernels::accumulate::{UnknownGroup, keep_largest, ordered_floats};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};

/// This many are few; of more, [all values](super::values) are kept.
pub(crate) const MAX_KEPT_VALUES: usize = 16;

/// The largest numbers of up to 64 bits, group by group, each group's largest first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Largest {
    /// How many are kept of each group.
    most: usize,
    groups: usize,
    /// Integers, or floats as [integers in their order](ordered_floats); what no value has come for is [`LEAST`].
    values: Vec<i64>,
    /// How many values of each group are [`LEAST`], up to this many as are kept; empty as long as none is.
    least: Vec<u8>,
    is_float: bool,
}

/// No value is smaller.
const LEAST: i64 = i64::MIN;

impl Largest {
    /// Keeps this many of each group, at most [`MAX_KEPT_VALUES`].
    pub(super) fn new(logical_type: LogicalType, most: usize) -> Self {
        let is_float = logical_type.physical() == PhysicalType::Floats;
        Self { most: most.min(MAX_KEPT_VALUES), groups: 0, values: Vec::new(), least: Vec::new(), is_float }
    }

    /// The values of a group, its largest first.
    fn kept(&self, group: usize) -> &[i64] {
        let values = &self.values[group * self.most..(group + 1) * self.most];
        let larger = values.partition_point(|&value| value > LEAST);
        let least = self.least.get(group).map_or(0, |&least| usize::from(least));
        &values[..(larger + least).min(self.most)]
    }

    fn keep_all(&mut self, level: Level, groups: GroupIds<'_>, values: &[i64]) -> Result<(), BatchError> {
        match (groups, self.most) {
            (GroupIds::Rows(groups), 1..=3) => {
                check_rows(groups.len(), values.len())?;
                match self.most {
                    1 => keep_largest::<1>(level, groups, values, self.values.as_chunks_mut().0)?,
                    2 => keep_largest::<2>(level, groups, values, self.values.as_chunks_mut().0)?,
                    _ => keep_largest::<3>(level, groups, values, self.values.as_chunks_mut().0)?,
                }
            }
            _ => groups.each(values.len(), |group, row| self.keep(group, values[row]))?,
        }
        if values.contains(&LEAST) {
            groups.each(values.len(), |group, row| {
                self.count_if_least(group, values[row]);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn keep(&mut self, group: usize, value: i64) -> Result<(), BatchError> {
        let kept = self.values.get_mut(group * self.most..(group + 1) * self.most).ok_or(UnknownGroup)?;
        if kept.last().is_some_and(|&least| value > least) {
            let place = kept.partition_point(|&larger| larger > value);
            kept.copy_within(place..self.most - 1, place + 1);
            kept[place] = value;
        }
        Ok(())
    }

    fn count_if_least(&mut self, group: usize, value: i64) {
        if value == LEAST {
            self.count_least(group);
        }
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

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        let mut ordered = Vec::new();
        if self.is_float {
            ordered_floats(level, values.floats()?, &mut ordered);
        } else {
            for_integers!(values.integers()?, values => append_words(values, &mut ordered)?);
        }
        self.keep_all(level, groups, &ordered)
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
                let _ = self.keep(group as usize, value);
                self.count_if_least(group as usize, value);
            }
        }
    }

    fn is_sound(&self) -> bool {
        self.most <= MAX_KEPT_VALUES
            && Some(self.values.len()) == self.groups.checked_mul(self.most)
            && self.least.len() <= self.groups
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.most, self.is_float) == (other.most, other.is_float)
    }

    fn ranked<const PLACES: usize>(
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
}

/// Appends integers as words.
fn append_words<T: Copy + TryInto<i64>>(values: &[T], words: &mut Vec<i64>) -> Result<(), BatchError> {
    words.reserve(values.len());
    for &value in values {
        words.push(value.try_into().map_err(|_| TOO_LARGE)?);
    }
    Ok(())
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
