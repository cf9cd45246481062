//! The state of a group of 16-bit values, and the loops that update it.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sse2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use super::run;
use crate::cpu::{Kernel, Level, run_at};
use brc_core::{Run, Statistics};

/// A row refers to a group that does not exist, the numbers of rows and values differ, or a value does not fit in 64
/// bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownGroup;

/// One row in a slot's `packed`: the count is above 40 bits of sum. The sum of 2²⁴ values of magnitude 2¹⁵ fits, and so
/// does a count of 2²⁴.
const ONE: u64 = 1 << 40;

/// The state of a group of 16-bit values, small enough that those of hundreds of groups fit in the L1 cache: one vector
/// addition updates count and sum, one vector minimum both extremes.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct Slot {
    packed: u64,
    /// The minimum and the complement of the maximum.
    extremes: [i16; 2],
    /// For use by the owner: it fills the vector and is not changed by values.
    pub(crate) tag: u32,
}

impl Slot {
    pub(crate) const EMPTY: Self = Self { packed: 0, extremes: [i16::MAX, !i16::MIN], tag: 0 };

    pub(crate) fn with_tag(self, tag: u32) -> Self {
        Self { tag, ..self }
    }

    fn sum(self) -> i64 {
        (self.packed << 24) as i64 >> 24
    }

    pub(crate) fn count(self) -> u64 {
        self.packed.wrapping_sub(self.sum() as u64) >> 40
    }

    #[inline(always)]
    fn add(&mut self, rows: u64, min: i16, max: i16, sum: i64) {
        self.packed = self.packed.wrapping_add(rows * ONE).wrapping_add(sum as u64);
        self.extremes = [self.extremes[0].min(min), self.extremes[1].min(!max)];
    }

    /// Adds the value of a row.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn add_value(&mut self, value: i16) {
        self.add(1, value, value, value.into());
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.packed = self.packed.wrapping_add(other.packed);
        for (extreme, other) in self.extremes.iter_mut().zip(other.extremes) {
            *extreme = other.min(*extreme);
        }
    }

    pub(crate) fn statistics(self) -> Statistics {
        match self.count() {
            0 => Statistics::EMPTY,
            count => Statistics {
                count,
                sum: self.sum().into(),
                min: self.extremes[0].into(),
                max: (!self.extremes[1]).into(),
            },
        }
    }
}

/// Passes each run with its values to `each`.
///
/// # Errors
/// If the number of rows of the runs differs from the number of values; errors of `each`.
#[inline(always)]
pub fn each_run<T>(
    runs: &[Run],
    mut values: &[T],
    mut each: impl FnMut(u32, &[T]) -> Result<(), UnknownGroup>,
) -> Result<(), UnknownGroup> {
    for run in runs {
        let (part, rest) = values.split_at_checked(run.rows as usize).ok_or(UnknownGroup)?;
        each(run.code, part)?;
        values = rest;
    }
    if values.is_empty() { Ok(()) } else { Err(UnknownGroup) }
}

pub(super) fn runs_i16<const N: usize>(
    level: Level,
    runs: &[Run],
    values: &[i16],
    slots: &mut [[Slot; N]],
) -> Result<(), UnknownGroup> {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::runs_avx512(runs, values, slots) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { x86::runs_avx2(runs, values, slots) },
        _ => runs_with(runs, values, slots, run::run_i16_portable),
    }
}

/// Inlined into each variant, and `fold` with it.
#[inline(always)]
fn runs_with<const N: usize>(
    runs: &[Run],
    values: &[i16],
    slots: &mut [[Slot; N]],
    fold: impl Fn(&[i16]) -> run::Fold<i16, i64>,
) -> Result<(), UnknownGroup> {
    each_run(runs, values, |group, part| {
        let slots = slots.get_mut(group as usize).ok_or(UnknownGroup)?;
        let fold = fold(part);
        slots[0].add(part.len() as u64, fold.min, fold.max, fold.sum);
        Ok(())
    })
}

/// Pre-aggregated sets of rows. All slices have the same length.
#[derive(Clone, Copy)]
pub(super) struct Sets<'a> {
    pub(super) groups: &'a [u32],
    pub(super) rows: &'a [u32],
    pub(super) min: &'a [i64],
    pub(super) max: &'a [i64],
    pub(super) sum: &'a [i64],
}

impl Sets<'_> {
    /// Whether all sets are aggregates of 16-bit values, which slots can hold.
    pub(super) fn fit(self, level: Level) -> bool {
        run_at(level, Fit(self))
    }
}

/// [`Sets::fit`].
struct Fit<'a>(Sets<'a>);

impl Kernel for Fit<'_> {
    type Output = bool;

    /// Written without early exit, so that it vectorises.
    #[inline(always)]
    fn run(self) -> bool {
        let Sets { rows, min, max, sum, .. } = self.0;
        let mut all = true;
        for (((&rows, &min), &max), &sum) in rows.iter().zip(min).zip(max).zip(sum) {
            let rows = i64::from(rows);
            // The products are meaningless if the first two conditions do not hold, and cannot overflow if they do.
            all &= (min >= i64::from(i16::MIN))
                & (max <= i64::from(i16::MAX))
                & (rows.wrapping_mul(min) <= sum)
                & (sum <= rows.wrapping_mul(max));
        }
        all
    }
}

/// Adds sets of rows that [fit](Sets::fit).
pub(super) fn sets_i16<const N: usize>(
    level: Level,
    sets: Sets<'_>,
    slots: &mut [[Slot; N]],
) -> Result<(), UnknownGroup> {
    run_at(level, AddSets { sets, slots })
}

/// [`sets_i16`].
struct AddSets<'a, const N: usize> {
    sets: Sets<'a>,
    slots: &'a mut [[Slot; N]],
}

impl<const N: usize> Kernel for AddSets<'_, N> {
    type Output = Result<(), UnknownGroup>;

    #[inline(always)]
    fn run(self) -> Result<(), UnknownGroup> {
        let Sets { groups, rows, min, max, sum } = self.sets;
        for ((((&group, &rows), &min), &max), &sum) in groups.iter().zip(rows).zip(min).zip(max).zip(sum) {
            let slots = self.slots.get_mut(group as usize).ok_or(UnknownGroup)?;
            slots[0].add(rows.into(), min as i16, max as i16, sum);
        }
        Ok(())
    }
}

pub(super) fn rows_i16<const N: usize>(
    level: Level,
    groups: &[u32],
    values: &[i16],
    slots: &mut [[Slot; N]],
) -> Result<(), UnknownGroup> {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx2 | Level::Avx512 => unsafe { x86::rows_avx2(groups, values, slots) },
        _ => rows_portable(groups, values, slots),
    }
}

fn rows_portable<const N: usize>(groups: &[u32], values: &[i16], slots: &mut [[Slot; N]]) -> Result<(), UnknownGroup> {
    for (row, (&group, &value)) in groups.iter().zip(values).enumerate() {
        let slots = slots.get_mut(group as usize).ok_or(UnknownGroup)?;
        slots[row % N].add(1, value, value, value.into());
    }
    Ok(())
}
