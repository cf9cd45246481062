//! Exact sums of many floats, and of their products, where their exponents are close: as fixed-point numbers of three pieces
//! each, which vectors add and multiply. With AVX-512 that takes a third of the time of one float after the other as an integer
//! of 128 bits; without, twice as long, and nothing is found here.

use crate::cpu::Level;

/// The floats of a block: so many products of pieces are added in 64 bits.
pub(super) const BLOCK: usize = 256;

/// The bits of a piece. Three products of two pieces for each of the floats of a lane stay below 2⁶³.
const BITS: u32 = 28;

/// How far the second integer of [`sum_of_products`] lies above the first.
pub(super) const PRODUCT_BITS: u32 = 3 * BITS;

/// The sum of at most [`BLOCK`] finite floats as an integer and the exponent of its unit; `None` if their exponents differ too
/// much, or they are better added one after the other.
pub(super) fn sum(level: Level, values: &[f64]) -> Option<(i128, i32)> {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::sum(values) },
        _ => {
            let _ = values;
            None
        }
    }
}

/// The sum of the products of equally many finite floats, at most [`BLOCK`] each, as an integer and one in units of
/// [`PRODUCT_BITS`] bits more, and the exponent of the unit; `None` as above.
pub(super) fn sum_of_products(level: Level, ones: &[f64], others: &[f64]) -> Option<([i128; 2], i32)> {
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::sum_of_products(ones, others) },
        _ => {
            let _ = (ones, others);
            None
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::BITS;
    use crate::accumulate::floats::FINEST;
    use std::arch::x86_64::*;

    /// What is added side by side.
    const LANES: usize = 8;

    const PIECES: usize = 3;

    /// Exponents of floats, which have 53 bits, differ by at most so much.
    const SPAN: u64 = (PIECES as u32 * BITS - 53) as u64;

    /// The exponent of floats of that field, of which the smallest have 1.
    fn exponent(field: u64) -> i32 {
        field as i32 + FINEST - 1
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn sum(values: &[f64]) -> Option<(i128, i32)> {
        let low = lowest(values)?;
        let [mut first, mut second, mut third] = [_mm512_setzero_si512(); PIECES];
        for values in values.chunks(LANES) {
            let ([a, b, c], sign) = pieces(load(values), low);
            first = _mm512_add_epi64(first, signed(a, sign));
            second = _mm512_add_epi64(second, signed(b, sign));
            third = _mm512_add_epi64(third, signed(c, sign));
        }
        Some((total(first) + (total(second) << BITS) + (total(third) << (2 * BITS)), exponent(low)))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn sum_of_products(ones: &[f64], others: &[f64]) -> Option<([i128; 2], i32)> {
        let lows = (lowest(ones)?, lowest(others)?);
        let [mut first, mut second, mut third, mut fourth, mut fifth] = [_mm512_setzero_si512(); 2 * PIECES - 1];
        for (ones, others) in ones.chunks(LANES).zip(others.chunks(LANES)) {
            let ([a, b, c], sign) = pieces(load(ones), lows.0);
            let ([x, y, z], other_sign) = pieces(load(others), lows.1);
            let sign = _mm512_xor_si512(sign, other_sign);
            let (a, b, c) = (signed(a, sign), signed(b, sign), signed(c, sign));
            // All have less than 32 bits, which is what is multiplied.
            first = _mm512_add_epi64(first, _mm512_mul_epi32(a, x));
            second = _mm512_add_epi64(second, _mm512_add_epi64(_mm512_mul_epi32(a, y), _mm512_mul_epi32(b, x)));
            third = _mm512_add_epi64(third, _mm512_add_epi64(_mm512_mul_epi32(a, z), _mm512_mul_epi32(c, x)));
            third = _mm512_add_epi64(third, _mm512_mul_epi32(b, y));
            fourth = _mm512_add_epi64(fourth, _mm512_add_epi64(_mm512_mul_epi32(b, z), _mm512_mul_epi32(c, y)));
            fifth = _mm512_add_epi64(fifth, _mm512_mul_epi32(c, z));
        }
        let low = total(first) + (total(second) << BITS) + (total(third) << (2 * BITS));
        Some(([low, total(fourth) + (total(fifth) << BITS)], exponent(lows.0) + exponent(lows.1)))
    }

    /// The bits of up to eight floats, and 0 for those that are missing.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(values: &[f64]) -> __m512i {
        let there = ((1u32 << values.len().min(LANES)) - 1) as __mmask8;
        // SAFETY: only as many floats are loaded as there are.
        _mm512_castpd_si512(unsafe { _mm512_maskz_loadu_pd(there, values.as_ptr()) })
    }

    /// The field of the smallest exponent of floats that are not 0; `None` if the largest is too far above it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn lowest(values: &[f64]) -> Option<u64> {
        let (mut above, mut most) = (_mm512_set1_epi64(-1), _mm512_setzero_si512());
        for values in values.chunks(LANES) {
            let size = _mm512_and_si512(load(values), _mm512_set1_epi64(i64::MAX));
            // 0 becomes the largest of all where the smallest is looked for.
            above = _mm512_min_epu64(above, _mm512_sub_epi64(size, _mm512_set1_epi64(1)));
            most = _mm512_max_epu64(most, size);
        }
        let field = |bits: u64| (bits >> 52).max(1);
        match _mm512_reduce_max_epu64(most) {
            0 => Some(1),
            most => Some(field(_mm512_reduce_min_epu64(above) + 1)).filter(|low| field(most) - low <= SPAN),
        }
    }

    /// The pieces of floats without their signs, the lowest first, and their signs: 0 or -1.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    fn pieces(bits: __m512i, low: u64) -> ([__m512i; PIECES], __m512i) {
        let (one, mask) = (_mm512_set1_epi64(1), _mm512_set1_epi64((1 << BITS) - 1));
        let field = _mm512_and_si512(_mm512_srli_epi64::<52>(bits), _mm512_set1_epi64(0x7ff));
        let is_normal = _mm512_test_epi64_mask(field, field);
        let fraction = _mm512_and_si512(bits, _mm512_set1_epi64((1 << 52) - 1));
        let mantissa = _mm512_mask_or_epi64(fraction, is_normal, fraction, _mm512_set1_epi64(1 << 52));
        let shift = _mm512_sub_epi64(_mm512_max_epu64(field, one), _mm512_set1_epi64(low as i64));
        // The middle piece ends up to 28 bits above the end of the mantissa, or up to 3 below it.
        let middle = _mm512_rolv_epi64(mantissa, _mm512_sub_epi64(shift, _mm512_set1_epi64(BITS.into())));
        let high = _mm512_srlv_epi64(mantissa, _mm512_sub_epi64(_mm512_set1_epi64((2 * BITS).into()), shift));
        let low = _mm512_and_si512(_mm512_sllv_epi64(mantissa, shift), mask);
        ([low, _mm512_and_si512(middle, mask), high], _mm512_srai_epi64::<63>(bits))
    }

    /// A piece with a sign.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn signed(piece: __m512i, sign: __m512i) -> __m512i {
        _mm512_sub_epi64(_mm512_xor_si512(piece, sign), sign)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total(sums: __m512i) -> i128 {
        let mut lanes = [0; LANES];
        // SAFETY: there is room for eight integers.
        unsafe { _mm512_storeu_epi64(lanes.as_mut_ptr(), sums) };
        lanes.into_iter().map(i128::from).sum()
    }
}
