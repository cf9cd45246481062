//! Count and sum of integers of up to 64 bits, where neither the smallest nor the largest is requested.

use super::slots::{Gathered, Offer};
use super::{Accumulator, GroupIds, Sum, Values, numbers_of, weighted_integers};
use crate::values::cells::Cells;
use crate::values::error::{BatchError, TOO_LARGE};
use brc_core::table::{ColumnSummary, Numbers};
use brc_core::{Integers, for_integers};
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::accumulate::table::{NO_GROUP, Operand};
use brc_kernels::cpu::Level;
use brc_kernels::direct::integer_bounds;
use serde::{Deserialize, Serialize};
use std::ops::Range;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct IntegerSums {
    /// Where some values are in slots, counts wrap in between.
    counts: Vec<u64>,
    /// As far as they fit.
    sums: Vec<i64>,
    /// What does not fit; empty as long as all does.
    rest: Vec<i128>,
}

impl IntegerSums {
    fn add_sets(&mut self, groups: &[u32], rows: &[u32], numbers: &Numbers<'_>) -> Result<(), BatchError> {
        if rows.len() != groups.len() || numbers.sets() != Some(groups.len()) {
            return Err(UnknownGroup.into());
        }
        for (set, &group) in groups.iter().enumerate() {
            let count = self.counts.get_mut(group as usize).ok_or(UnknownGroup)?;
            *count = count.wrapping_add(rows[set].into());
            self.add(group as usize, numbers.get(set, rows[set]).sum);
        }
        Ok(())
    }

    fn whole(&self, group: usize) -> i128 {
        i128::from(self.sums[group]) + self.rest.get(group).unwrap_or(&0)
    }

    /// Adds a value for each row.
    fn add_all<T: Copy + TryInto<i64>>(&mut self, groups: GroupIds<'_>, values: &[T]) -> Result<(), BatchError> {
        groups.each(values.len(), |group, row| {
            if group == NO_GROUP as usize {
                return Ok(());
            }
            let count = self.counts.get_mut(group).ok_or(UnknownGroup)?;
            *count = count.wrapping_add(1);
            let value = values[row].try_into().map_err(|_| TOO_LARGE)?;
            match self.sums[group].checked_add(value) {
                Some(larger) => self.sums[group] = larger,
                None => self.add(group, value.into()),
            }
            Ok(())
        })
    }

    /// Adds to the sum of a group that is there.
    fn add(&mut self, group: usize, more: i128) {
        let sum = &mut self.sums[group];
        match i64::try_from(more).ok().and_then(|more| sum.checked_add(more)) {
            Some(larger) => *sum = larger,
            None => {
                self.rest.resize(self.sums.len(), 0);
                self.rest[group] += more;
            }
        }
    }
}

impl Accumulator for IntegerSums {
    fn len(&self) -> usize {
        self.counts.len()
    }

    fn grow(&mut self, groups: usize) {
        if groups > self.counts.len() {
            self.counts.resize(groups, 0);
            self.sums.resize(groups, 0);
            if !self.rest.is_empty() {
                self.rest.resize(groups, 0);
            }
        }
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        for_integers!(values.integers()?, values => self.add_all(groups, values))
    }

    fn take(&self, groups: &[u32]) -> Self {
        let of_groups =
            |values: &[i128]| groups.iter().filter_map(|&group| values.get(group as usize).copied()).collect();
        Self {
            counts: groups.iter().map(|&group| self.counts[group as usize]).collect(),
            sums: groups.iter().map(|&group| self.sums[group as usize]).collect(),
            rest: of_groups(&self.rest),
        }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (theirs, &group) in groups.iter().enumerate() {
            self.counts[group as usize] += other.counts[theirs];
            self.add(group as usize, other.sums[theirs].into());
        }
        for (&group, &rest) in groups.iter().zip(&other.rest) {
            self.add(group as usize, rest);
        }
    }

    fn is_sound(&self) -> bool {
        self.sums.len() == self.counts.len() && [0, self.counts.len()].contains(&self.rest.len())
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn update_weighted(
        &mut self,
        _: Level,
        groups: &[u32],
        weights: &[u32],
        values: Values<'_>,
    ) -> Result<(), BatchError> {
        weighted_integers(values, weights, |numbers| self.add_sets(groups, weights, numbers))
    }

    fn update_sets(
        &mut self,
        _: Level,
        groups: &[u32],
        rows: &[u32],
        column: &ColumnSummary<'_>,
    ) -> Result<(), BatchError> {
        self.add_sets(groups, rows, numbers_of(column)?)
    }

    fn count(&self, group: usize) -> u64 {
        self.counts[group]
    }

    fn sum(&self, group: usize) -> Option<Sum> {
        let count = self.counts[group];
        (count > 0).then(|| Sum::Integer { sum: self.whole(group), count })
    }

    fn sums(&self, groups: Range<usize>, cells: &mut Cells) -> bool {
        let (counts, sums) = (&self.counts[groups.clone()], &self.sums[groups]);
        if self.rest.is_empty() {
            cells.extend_integers(sums.iter().copied());
            cells.extend_validity(counts.len(), |row| counts[row] > 0, counts.contains(&0));
        }
        self.rest.is_empty()
    }
}

impl Gathered for IntegerSums {
    fn slots(&self) -> usize {
        1
    }

    fn offer<'a>(&mut self, level: Level, values: &[Values<'a>]) -> Result<Offer<'a>, BatchError> {
        let Some(Ok(values)) = values.first().map(Values::integers) else { return Ok(Offer::Unfit) };
        let Some(size) = size(level, values) else { return Ok(Offer::Unfit) };
        let most = size.saturating_mul(values.len() as u64);
        Ok(Offer::Slots(vec![(Operand::Integers(values), most)]))
    }

    fn gather(&mut self, group: usize, rows: u64, sums: &[i64]) {
        self.counts[group] = self.counts[group].wrapping_add(rows);
        match self.sums[group].checked_add(sums[0]) {
            Some(larger) => self.sums[group] = larger,
            None => self.add(group, sums[0].into()),
        }
    }

    fn counts_mut(&mut self, group: usize) -> Option<&mut u64> {
        self.counts.get_mut(group)
    }
}

/// No integer is larger; `None` if one may need more than 64 bits.
pub(super) fn size(level: Level, values: Integers<'_>) -> Option<u64> {
    match values {
        // So small that it is not worth looking at them.
        Integers::I8(_) => Some(1 << 7),
        Integers::I16(_) => Some(1 << 15),
        values if values.is_empty() => Some(0),
        values => {
            let (min, max) = integer_bounds(level, values)?;
            Some(min.unsigned_abs().max(max.unsigned_abs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_may_need_more_than_64_bits() {
        let mut sums = IntegerSums::default();
        sums.grow(2);
        let values = [i64::MAX, i64::MAX, i64::MIN, i64::MAX];
        let add = |sums: &mut IntegerSums| {
            let values = Values::Integers(Integers::I64(&values));
            sums.update(Level::best(), GroupIds::Rows(&[1, 1, 0, 1]), values).unwrap();
        };
        add(&mut sums);
        sums.grow(3);
        add(&mut sums);
        let expected = [2 * i128::from(i64::MIN), 6 * i128::from(i64::MAX), 0];
        assert_eq!([0, 1, 2].map(|group| sums.whole(group)), expected);
        assert!(sums.is_sound() && sums.sum(2).is_none());
        let mut merged = IntegerSums::default();
        merged.grow(4);
        merged.merge(&sums, &[3, 2, 0]);
        merged.merge(&sums.take(&[1]), &[2]);
        assert_eq!([2, 3].map(|group| merged.whole(group)), [2 * expected[1], expected[0]]);
        assert_eq!(merged.counts, [0, 0, 12, 2]);
    }
}
