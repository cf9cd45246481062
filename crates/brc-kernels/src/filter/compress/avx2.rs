//! Filters values with AVX2: a table of the positions of ones in eight or four bits yields the shuffle.

use super::valid_bits;
use crate::cpu::ONES;
use std::arch::x86_64::*;

/// The positions of the ones of eight bits, one byte each.
///
/// # Safety
/// The processor has SSE2, which all processors of the target have.
#[inline(always)]
unsafe fn ones(bits: u8) -> __m128i {
    // SAFETY: the table has eight bytes for each value of `bits`.
    unsafe { _mm_loadl_epi64(ONES.as_ptr().add(usize::from(bits)).cast()) }
}

/// Moves the selected ones of eight values to the front.
///
/// # Safety
/// The processor has AVX2; there are eight values, and room for as many at `out`.
#[inline(always)]
unsafe fn eight_of_16(values: *const i16, wanted: u8, out: *mut i16) {
    // SAFETY: promised by the caller.
    unsafe {
        // A value has two bytes, at twice its position and one after.
        let twice = _mm_slli_epi16::<1>(_mm_cvtepu8_epi16(ones(wanted)));
        let bytes = _mm_or_si128(twice, _mm_slli_epi16::<8>(_mm_add_epi16(twice, _mm_set1_epi16(1))));
        _mm_storeu_si128(out.cast(), _mm_shuffle_epi8(_mm_loadu_si128(values.cast()), bytes));
    }
}

/// As [`eight_of_16`].
///
/// # Safety
/// Likewise.
#[inline(always)]
unsafe fn eight_of_32(values: *const u32, wanted: u8, out: *mut u32) {
    // SAFETY: promised by the caller.
    unsafe {
        let positions = _mm256_cvtepu8_epi32(ones(wanted));
        _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(_mm256_loadu_si256(values.cast()), positions));
    }
}

/// As [`eight_of_16`].
///
/// # Safety
/// Likewise.
#[inline(always)]
unsafe fn eight_of_64(values: *const i64, wanted: u8, out: *mut i64) {
    // SAFETY: promised by the caller: there is room for the values kept of the first four, and four more.
    unsafe {
        let four = |values: *const i64, wanted: u8, out: *mut i64| {
            // A value has two 32-bit halves, at twice its position and one after.
            let twice = _mm256_slli_epi64::<1>(_mm256_cvtepu8_epi64(ones(wanted)));
            let halves =
                _mm256_or_si256(twice, _mm256_slli_epi64::<32>(_mm256_add_epi64(twice, _mm256_set1_epi64x(1))));
            _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(_mm256_loadu_si256(values.cast()), halves));
        };
        let (low, high) = (wanted & 0xf, wanted >> 4);
        four(values, low, out);
        four(values.add(4), high, out.add(low.count_ones() as usize));
    }
}

macro_rules! compress {
    ($name:ident, $type:ty, $eight:ident) => {
        /// # Safety
        /// `out` has room for all values and 64 more.
        #[target_feature(enable = "avx2,popcnt,bmi1,bmi2,lzcnt")]
        pub(super) unsafe fn $name(values: &[$type], mask: &[u64], out: &mut Vec<$type>) {
            let mut length = out.len();
            for (values, &word) in values.chunks(64).zip(mask) {
                let mut bits = word & valid_bits(values.len(), 0);
                if bits == 0 {
                    continue;
                }
                let (eights, rest) = values.as_chunks::<8>();
                for values in eights {
                    // SAFETY: no more values were kept than processed, so eight more fit in the capacity promised by
                    // the caller.
                    unsafe { $eight(values.as_ptr().cast(), bits as u8, out.as_mut_ptr().add(length).cast()) };
                    length += (bits as u8).count_ones() as usize;
                    bits >>= 8;
                }
                for &value in rest {
                    // SAFETY: likewise.
                    unsafe { out.as_mut_ptr().add(length).write(value) };
                    length += (bits & 1) as usize;
                    bits >>= 1;
                }
            }
            // SAFETY: `length` values were written.
            unsafe { out.set_len(length) };
        }
    };
}

compress!(compress_i16, i16, eight_of_16);
compress!(compress_u32, u32, eight_of_32);
compress!(compress_i32, i32, eight_of_32);
compress!(compress_i64, i64, eight_of_64);
