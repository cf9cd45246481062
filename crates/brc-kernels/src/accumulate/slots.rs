//! The state of a group of 16-bit values, and the loops that update it.

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

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::{ONE, Run, Slot, UnknownGroup, rows_portable, run, runs_with};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub(super) fn runs_avx512<const N: usize>(
        runs: &[Run],
        values: &[i16],
        slots: &mut [[Slot; N]],
    ) -> Result<(), UnknownGroup> {
        runs_with(runs, values, slots, |part| run::x86::run_i16_avx512(part))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn runs_avx2<const N: usize>(
        runs: &[Run],
        values: &[i16],
        slots: &mut [[Slot; N]],
    ) -> Result<(), UnknownGroup> {
        runs_with(runs, values, slots, |part| run::x86::run_i16_avx2(part))
    }

    /// The number of rows whose groups are checked together, then added unchecked.
    const CHECKED: usize = 1024;

    #[target_feature(enable = "avx2")]
    pub(super) fn rows_avx2<const N: usize>(
        groups: &[u32],
        values: &[i16],
        slots: &mut [[Slot; N]],
    ) -> Result<(), UnknownGroup> {
        for (groups, values) in groups.chunks(CHECKED).zip(values.chunks(CHECKED)) {
            let largest = groups.iter().fold(0, |largest, &group| largest.max(group));
            if largest as usize >= slots.len() {
                return Err(UnknownGroup);
            }
            let (groups_by_four, last_groups) = groups.as_chunks::<4>();
            let (values_by_four, last_values) = values.as_chunks::<4>();
            for (groups, values) in groups_by_four.iter().zip(values_by_four) {
                let rows = slots_of_rows(values);
                for row in 0..4 {
                    // SAFETY: no group of this chunk exceeds `largest`, which is in bounds.
                    unsafe { add(slots, groups[row], row % N, rows[row]) };
                }
            }
            rows_portable(last_groups, last_values, slots)?;
        }
        Ok(())
    }

    /// Adds each value to the slot at its byte offset from `first`, four values at a time.
    ///
    /// # Safety
    /// The processor has AVX2. There are slots at all offsets, which are not accessed otherwise, and there are as many
    /// values as offsets, both rounded up to a multiple of four.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) unsafe fn rows_at(values: *const i16, offsets: *const i32, rows: usize, first: *mut Slot) {
        for row in (0..rows).step_by(4) {
            // SAFETY: promised by the caller.
            unsafe {
                let added = slots_of_rows(&*values.add(row).cast());
                for (at, added) in added.into_iter().enumerate() {
                    merge(first.byte_offset(*offsets.add(row + at) as isize), added);
                }
            }
        }
    }

    /// Four slots with one value each. Their tags are the maximum when compared as two numbers, so that the vector
    /// minimum keeps the tag of the other slot.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn slots_of_rows(values: &[i16; 4]) -> [__m128i; 4] {
        // SAFETY: four values are eight bytes.
        let values = unsafe { _mm_loadl_epi64(values.as_ptr().cast()) };
        let packed = _mm256_add_epi64(_mm256_cvtepi16_epi64(values), _mm256_set1_epi64x(ONE as i64));
        let value = _mm256_cvtepu16_epi64(values);
        let twice = _mm256_or_si256(value, _mm256_slli_epi64::<16>(value));
        let extremes = _mm256_xor_si256(twice, _mm256_set1_epi64x(0x7FFF_7FFF_FFFF_0000));
        let even = _mm256_unpacklo_epi64(packed, extremes);
        let odd = _mm256_unpackhi_epi64(packed, extremes);
        [
            _mm256_castsi256_si128(even),
            _mm256_castsi256_si128(odd),
            _mm256_extracti128_si256::<1>(even),
            _mm256_extracti128_si256::<1>(odd),
        ]
    }

    /// Merges a row into one of the slots of a group.
    ///
    /// # Safety
    /// `group` is below the number of `slots`, and `copy` below `N`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn add<const N: usize>(slots: &mut [[Slot; N]], group: u32, copy: usize, row: __m128i) {
        // SAFETY: promised by the caller.
        unsafe { merge(&raw mut (*slots.as_mut_ptr().add(group as usize))[copy], row) }
    }

    /// Merges a row into a slot: adds the first half, and takes the minimum of the second half.
    ///
    /// # Safety
    /// The slot is valid and not accessed otherwise.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn merge(slot: *mut Slot, row: __m128i) {
        let slot = slot.cast::<__m128i>();
        // SAFETY: promised by the caller; a slot is 16 bytes without padding, and aligned.
        unsafe {
            let old = _mm_load_si128(slot);
            _mm_store_si128(slot, _mm_blend_epi16::<0xF0>(_mm_add_epi64(old, row), _mm_min_epi16(old, row)));
        }
    }
}

/// The baseline of x86-64.
#[cfg(target_arch = "x86_64")]
pub(crate) mod sse2 {
    use super::{ONE, Slot};
    use std::arch::x86_64::*;

    /// Adds each value to the slot at its byte offset from `first`, four values at a time.
    ///
    /// # Safety
    /// There are slots at all offsets, which are not accessed otherwise, and there are as many values as offsets, both
    /// rounded up to a multiple of four.
    #[inline(always)]
    pub(crate) unsafe fn rows_at(values: *const i16, offsets: *const i32, rows: usize, first: *mut Slot) {
        for row in (0..rows).step_by(4) {
            // SAFETY: promised by the caller; every processor of the target has SSE2.
            unsafe {
                let added = slots_of_rows(&*values.add(row).cast());
                for (at, added) in added.into_iter().enumerate() {
                    merge(first.byte_offset(*offsets.add(row + at) as isize), added);
                }
            }
        }
    }

    /// Four slots with one value each. Their tags are the maximum when compared as two numbers, so that the vector
    /// minimum keeps the tag of the other slot.
    #[inline(always)]
    fn slots_of_rows(values: &[i16; 4]) -> [__m128i; 4] {
        // SAFETY: four values are eight bytes; every processor of the target has SSE2.
        unsafe {
            let values = _mm_loadl_epi64(values.as_ptr().cast());
            let wide = _mm_unpacklo_epi16(values, _mm_srai_epi16::<15>(values));
            let (signs, one) = (_mm_srai_epi32::<31>(wide), _mm_set1_epi64x(ONE as i64));
            let low = _mm_add_epi64(_mm_unpacklo_epi32(wide, signs), one);
            let high = _mm_add_epi64(_mm_unpackhi_epi32(wide, signs), one);
            // The minimum and the complement of the maximum.
            let extremes = _mm_xor_si128(_mm_unpacklo_epi16(values, values), _mm_set1_epi32(0xffff_0000_u32 as i32));
            let tags = _mm_set1_epi32(0x7fff_7fff);
            let (first, second) = (_mm_unpacklo_epi32(extremes, tags), _mm_unpackhi_epi32(extremes, tags));
            [
                _mm_unpacklo_epi64(low, first),
                _mm_unpackhi_epi64(low, first),
                _mm_unpacklo_epi64(high, second),
                _mm_unpackhi_epi64(high, second),
            ]
        }
    }

    /// Merges a row into a slot: adds the first half, and takes the minimum of the second half.
    ///
    /// # Safety
    /// The slot is valid and not accessed otherwise.
    #[inline(always)]
    unsafe fn merge(slot: *mut Slot, row: __m128i) {
        let slot = slot.cast::<__m128i>();
        // SAFETY: promised by the caller; a slot is 16 bytes without padding, and aligned. Every processor of the
        // target has SSE2.
        unsafe {
            let old = _mm_load_si128(slot);
            let (sum, least) = (_mm_add_epi64(old, row), _mm_min_epi16(old, row));
            _mm_store_si128(slot, _mm_castpd_si128(_mm_move_sd(_mm_castsi128_pd(least), _mm_castsi128_pd(sum))));
        }
    }
}

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon {
    use super::{ONE, Slot};
    use std::arch::aarch64::*;

    /// Adds each value to the slot at its byte offset from `first`, four values at a time.
    ///
    /// # Safety
    /// There are slots at all offsets, which are not accessed otherwise, and there are as many values as offsets, both
    /// rounded up to a multiple of four.
    #[inline(always)]
    pub(crate) unsafe fn rows_at(values: *const i16, offsets: *const i32, rows: usize, first: *mut Slot) {
        for row in (0..rows).step_by(4) {
            // SAFETY: promised by the caller; every processor of the target has NEON.
            unsafe {
                let added = slots_of_rows(values.add(row));
                for (at, added) in added.into_iter().enumerate() {
                    merge(first.byte_offset(*offsets.add(row + at) as isize), added);
                }
            }
        }
    }

    /// Four slots with one value each. Their tags are the maximum when compared as two numbers, so that the vector
    /// minimum keeps the tag of the other slot.
    ///
    /// # Safety
    /// There are four values.
    #[inline(always)]
    unsafe fn slots_of_rows(values: *const i16) -> [int64x2_t; 4] {
        // SAFETY: promised by the caller; every processor of the target has NEON.
        unsafe {
            let values = vld1_s16(values);
            let wide = vmovl_s16(values);
            let one = vdupq_n_s64(ONE as i64);
            let (low, high) = (vaddw_s32(one, vget_low_s32(wide)), vaddw_high_s32(one, wide));
            // The minimum and the complement of the maximum.
            let twice = vsliq_n_s32::<16>(wide, wide);
            let extremes = veorq_s32(twice, vdupq_n_s32(0xffff_0000_u32 as i32));
            let tags = vdupq_n_s32(0x7fff_7fff);
            let (first, second) = (vzip1q_s32(extremes, tags), vzip2q_s32(extremes, tags));
            let (first, second) = (vreinterpretq_s64_s32(first), vreinterpretq_s64_s32(second));
            [vzip1q_s64(low, first), vzip2q_s64(low, first), vzip1q_s64(high, second), vzip2q_s64(high, second)]
        }
    }

    /// Merges a row into a slot: adds the first half, and takes the minimum of the second half.
    ///
    /// # Safety
    /// The slot is valid and not accessed otherwise.
    #[inline(always)]
    unsafe fn merge(slot: *mut Slot, row: int64x2_t) {
        // SAFETY: promised by the caller; a slot is 16 bytes without padding, and aligned.
        unsafe {
            let old = vld1q_s64(slot.cast());
            let least = vminq_s16(vreinterpretq_s16_s64(old), vreinterpretq_s16_s64(row));
            let merged = vcopyq_laneq_s64::<1, 1>(vaddq_s64(old, row), vreinterpretq_s64_s16(least));
            vst1q_s64(slot.cast(), merged);
        }
    }
}
