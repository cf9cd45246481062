//! The baseline of x86-64.

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
