//! AVX2 and AVX-512.

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
