//! NEON.

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
