//! Count and sum of integers of up to 128 bits, where neither the smallest nor the largest is requested. Most values of
//! types that may need this many bits do not: what comes in 64 bits is added up in slots.

use super::slots::{Gathered, Offer};
use super::sums::size;
use super::{Accumulator, GroupIds, Sum, Values};
use crate::values::error::BatchError;
use brc_core::for_integers;
use brc_kernels::accumulate::UnknownGroup;
use brc_kernels::accumulate::table::{NO_GROUP, Operand};
use brc_kernels::cpu::Level;
use num_bigint::BigInt;
use serde::{Deserialize, Serialize};

/// The sum of a group, in 192 bits: room for 2⁶⁴ values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WideSum {
    /// How many values there are.
    pub(crate) count: u64,
    low: u128,
    high: i64,
}

impl WideSum {
    pub(super) const EMPTY: Self = Self { count: 0, low: 0, high: 0 };

    /// The sum.
    pub(crate) fn sum(&self) -> BigInt {
        (BigInt::from(self.high) << 128) + BigInt::from(self.low)
    }

    /// Adds `count` values whose sum is `sum`.
    pub(super) fn add(&mut self, sum: i128, count: u64) {
        // Where some values are in slots, counts wrap in between.
        self.merge(&Self { count, low: sum as u128, high: (sum >> 127) as i64 });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let (low, carry) = self.low.overflowing_add(other.low);
        self.count = self.count.wrapping_add(other.count);
        self.low = low;
        self.high = self.high.wrapping_add(other.high).wrapping_add(carry.into());
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WideSums(Vec<WideSum>);

impl WideSums {
    fn add<T: Copy + Into<i128>>(&mut self, groups: GroupIds<'_>, values: &[T]) -> Result<(), BatchError> {
        groups.each(values.len(), |group, row| {
            if group != NO_GROUP as usize {
                self.0.get_mut(group).ok_or(UnknownGroup)?.add(values[row].into(), 1);
            }
            Ok(())
        })
    }
}

impl Accumulator for WideSums {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn grow(&mut self, groups: usize) {
        self.0.resize(groups.max(self.0.len()), WideSum::EMPTY);
    }

    fn update(&mut self, _: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError> {
        for_integers!(values.integers()?, values => self.add(groups, values))
    }

    fn take(&self, groups: &[u32]) -> Self {
        Self(groups.iter().map(|&group| self.0[group as usize]).collect())
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        for (&group, sum) in groups.iter().zip(&other.0) {
            self.0[group as usize].merge(sum);
        }
    }

    fn count(&self, group: usize) -> u64 {
        self.0[group].count
    }

    fn sum(&self, group: usize) -> Option<Sum> {
        let sum = self.0[group];
        (sum.count > 0).then_some(Sum::Wide(sum))
    }
}

impl Gathered for WideSums {
    fn slots(&self) -> usize {
        1
    }

    fn offer<'a>(&mut self, level: Level, values: &[Values<'a>]) -> Result<Offer<'a>, BatchError> {
        let Some(Ok(values)) = values.first().map(Values::integers) else { return Ok(Offer::Unfit) };
        let Some(size) = size(level, values) else { return Ok(Offer::Unfit) };
        Ok(Offer::Slots(vec![(Operand::Integers(values), size.saturating_mul(values.len() as u64))]))
    }

    fn gather(&mut self, group: usize, rows: u64, sums: &[i64]) {
        self.0[group].add(sums[0].into(), rows);
    }

    fn counts_mut(&mut self, group: usize) -> Option<&mut u64> {
        self.0.get_mut(group).map(|sum| &mut sum.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_never_wrap(values in prop::collection::vec(any::<i128>(), 0..20), cut in 0usize..20) {
            let cut = cut.min(values.len());
            let sum = |values: &[i128]| {
                let mut sum = WideSum::EMPTY;
                values.iter().for_each(|&value| sum.add(value, 1));
                sum
            };
            let mut merged = sum(&values[cut..]);
            merged.merge(&sum(&values[..cut]));
            prop_assert_eq!(merged, sum(&values));
            prop_assert_eq!(merged.sum(), values.iter().map(|&value| BigInt::from(value)).sum());
        }
    }
}
