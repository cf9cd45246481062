//! The state of a group for values of more than 16 bits whose sum fits in 64 bits.

use super::UnknownGroup;
use crate::cpu::{Kernel, Level, run_at};
use crate::direct::Key;
use brc_core::Statistics;

/// Half a cache line: one vector addition updates count and sum, one vector minimum both extremes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct LongSlot {
    sum: i64,
    count: i64,
    min: i64,
    /// The complement of the maximum.
    not_max: i64,
}

impl LongSlot {
    pub(super) const EMPTY: Self = Self { sum: 0, count: 0, min: i64::MAX, not_max: i64::MAX };

    pub(super) fn statistics(self) -> Statistics {
        match self.count {
            0 => Statistics::EMPTY,
            count => Statistics { count: count as u64, sum: self.sum.into(), min: self.min, max: !self.not_max },
        }
    }
}

/// Adds each value to the slot of its group. Sums wrap; the caller must ensure that they fit. `groups` and `values`
/// must have the same length.
pub(super) fn add_long<T: Key>(
    level: Level,
    groups: &[u32],
    values: &[T],
    slots: &mut [LongSlot],
) -> Result<(), UnknownGroup> {
    run_at(level, AddLong { groups, values, slots })
}

struct AddLong<'a, T> {
    groups: &'a [u32],
    values: &'a [T],
    slots: &'a mut [LongSlot],
}

impl<T: Key> Kernel for AddLong<'_, T> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for (&group, &value) in self.groups.iter().zip(self.values) {
            let slot = self.slots.get_mut(group as usize).ok_or(UnknownGroup)?;
            let value: i64 = value.into();
            *slot = LongSlot {
                sum: slot.sum.wrapping_add(value),
                count: slot.count + 1,
                min: slot.min.min(value),
                not_max: slot.not_max.min(!value),
            };
        }
        Ok(())
    }
}
