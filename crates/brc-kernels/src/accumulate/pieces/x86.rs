//! Code that is shared by both register widths.

/// [`sum`](avx512::sum) and [`sum_of_products`](avx512::sum_of_products), built from the intrinsics of the enclosing
/// module.
macro_rules! in_pieces {
    ($features:literal, $register:ident, $empty:ident, $one:ident, $add:ident, $subtract:ident, $multiply:ident,
     $and:ident, $or:ident, $xor:ident, $down:ident, $down_by:ident, $up_by:ident) => {
        const PIECES: usize = 3;

        /// The maximum difference of exponents of floats, which have 53 bits.
        const MAX_EXPONENT_DIFFERENCE: u64 = (PIECES as u32 * BITS - 53) as u64;

        /// The exponent for an exponent field, which is 1 for the smallest floats.
        fn exponent(field: u64) -> i32 {
            field as i32 + MIN_EXPONENT - 1
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn sum(values: &[f64]) -> Option<(i128, i32)> {
            let low = lowest(values)?;
            let [mut first, mut second, mut third] = [$empty(); PIECES];
            for values in values.chunks(LANES) {
                let ([a, b, c], sign) = pieces(load(values), low);
                first = $add(first, signed(a, sign));
                second = $add(second, signed(b, sign));
                third = $add(third, signed(c, sign));
            }
            Some((total(first) + (total(second) << BITS) + (total(third) << (2 * BITS)), exponent(low)))
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn sum_of_products(ones: &[f64], others: &[f64]) -> Option<([i128; 2], i32)> {
            let lows = (lowest(ones)?, lowest(others)?);
            let [mut first, mut second, mut third, mut fourth, mut fifth] = [$empty(); 2 * PIECES - 1];
            for (ones, others) in ones.chunks(LANES).zip(others.chunks(LANES)) {
                let ([a, b, c], sign) = pieces(load(ones), lows.0);
                let ([x, y, z], other_sign) = pieces(load(others), lows.1);
                let sign = $xor(sign, other_sign);
                let (a, b, c) = (signed(a, sign), signed(b, sign), signed(c, sign));
                // All factors have less than 32 bits, which is what the instruction multiplies.
                first = $add(first, $multiply(a, x));
                second = $add(second, $add($multiply(a, y), $multiply(b, x)));
                third = $add(third, $add($multiply(a, z), $multiply(c, x)));
                third = $add(third, $multiply(b, y));
                fourth = $add(fourth, $add($multiply(b, z), $multiply(c, y)));
                fifth = $add(fifth, $multiply(c, z));
            }
            let low = total(first) + (total(second) << BITS) + (total(third) << (2 * BITS));
            Some(([low, total(fourth) + (total(fifth) << BITS)], exponent(lows.0) + exponent(lows.1)))
        }

        /// The smallest exponent field of floats that are not 0; `None` if the largest is too far above it.
        #[inline]
        #[target_feature(enable = $features)]
        fn lowest(values: &[f64]) -> Option<u64> {
            let (mut above, mut most) = ($one(-1), $empty());
            for values in values.chunks(LANES) {
                let size = $and(load(values), $one(i64::MAX));
                // 0 becomes the largest number, which the minimum ignores.
                above = smaller(above, $subtract(size, $one(1)));
                most = larger(most, size);
            }
            let field = |bits: u64| (bits >> 52).max(1);
            let largest = lanes(most).into_iter().fold(0, |most, size| most.max(size as u64));
            let smallest = lanes(above).into_iter().fold(u64::MAX, |least, size| least.min(size as u64));
            match largest {
                0 => Some(1),
                most => Some(field(smallest + 1)).filter(|low| field(most) - low <= MAX_EXPONENT_DIFFERENCE),
            }
        }

        /// The pieces of the magnitudes of floats, the lowest first, and their signs: 0 or -1.
        #[inline]
        #[target_feature(enable = $features)]
        fn pieces(bits: $register, low: u64) -> ([$register; PIECES], $register) {
            let mask = $one((1 << BITS) - 1);
            let field = $and($down::<52>(bits), $one(0x7ff));
            let mantissa = $or($and(bits, $one((1 << 52) - 1)), where_any(field, $one(1 << 52)));
            let shift = $subtract(at_least_one(field), $one(low as i64));
            // The middle piece ends up to 28 bits above the end of the mantissa, or up to 3 below it.
            let middle = rotated(mantissa, $subtract(shift, $one(BITS.into())));
            let high = $down_by(mantissa, $subtract($one((2 * BITS).into()), shift));
            let low = $and($up_by(mantissa, shift), mask);
            ([low, $and(middle, mask), high], sign(bits))
        }

        /// Applies a sign to a piece.
        #[inline]
        #[target_feature(enable = $features)]
        fn signed(piece: $register, sign: $register) -> $register {
            $subtract($xor(piece, sign), sign)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn total(sums: $register) -> i128 {
            lanes(sums).into_iter().map(i128::from).sum()
        }
    };
}

/// 64-byte registers.
pub(super) mod avx512 {
    use super::super::BITS;
    use crate::accumulate::floats::MIN_EXPONENT;
    use std::arch::x86_64::*;

    /// The number of SIMD lanes.
    const LANES: usize = 8;

    in_pieces! {
        "avx512f,avx512dq", __m512i, _mm512_setzero_si512, _mm512_set1_epi64, _mm512_add_epi64, _mm512_sub_epi64,
        _mm512_mul_epi32, _mm512_and_si512, _mm512_or_si512, _mm512_xor_si512, _mm512_srli_epi64,
        _mm512_srlv_epi64, _mm512_sllv_epi64
    }

    /// The bits of up to eight floats, padded with 0.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load(values: &[f64]) -> __m512i {
        let there = ((1u32 << values.len().min(LANES)) - 1) as __mmask8;
        // SAFETY: only existing floats are loaded.
        _mm512_castpd_si512(unsafe { _mm512_maskz_loadu_pd(there, values.as_ptr()) })
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn lanes(register: __m512i) -> [i64; LANES] {
        let mut lanes = [0; LANES];
        // SAFETY: there is room for eight integers.
        unsafe { _mm512_storeu_epi64(lanes.as_mut_ptr(), register) };
        lanes
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn smaller(ones: __m512i, others: __m512i) -> __m512i {
        _mm512_min_epu64(ones, others)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn larger(ones: __m512i, others: __m512i) -> __m512i {
        _mm512_max_epu64(ones, others)
    }

    /// The values of lanes in which the others are not 0, else 0.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn where_any(others: __m512i, values: __m512i) -> __m512i {
        _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(others, others), values)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn at_least_one(values: __m512i) -> __m512i {
        _mm512_max_epu64(values, _mm512_set1_epi64(1))
    }

    /// Rotates 64-bit lanes to the left.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn rotated(values: __m512i, bits: __m512i) -> __m512i {
        _mm512_rolv_epi64(values, bits)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sign(values: __m512i) -> __m512i {
        _mm512_srai_epi64::<63>(values)
    }
}

/// 32-byte registers.
pub(super) mod avx2 {
    use super::super::BITS;
    use crate::accumulate::floats::MIN_EXPONENT;
    use crate::cpu::four_lanes as lanes;
    use std::arch::x86_64::*;

    const LANES: usize = 4;

    in_pieces! {
        "avx2", __m256i, _mm256_setzero_si256, _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, _mm256_mul_epi32,
        _mm256_and_si256, _mm256_or_si256, _mm256_xor_si256, _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_sllv_epi64
    }

    /// The bits of up to four floats, padded with 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(values: &[f64]) -> __m256i {
        let mut four = [0.0; LANES];
        let values = values.first_chunk().unwrap_or_else(|| {
            four[..values.len()].copy_from_slice(values);
            &four
        });
        // SAFETY: there are four floats.
        _mm256_castpd_si256(unsafe { _mm256_loadu_pd(values.as_ptr()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn smaller(ones: __m256i, others: __m256i) -> __m256i {
        _mm256_blendv_epi8(ones, others, is_above(ones, others))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn larger(ones: __m256i, others: __m256i) -> __m256i {
        _mm256_blendv_epi8(others, ones, is_above(ones, others))
    }

    /// Compares unsigned integers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn is_above(ones: __m256i, others: __m256i) -> __m256i {
        let least = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(ones, least), _mm256_xor_si256(others, least))
    }

    /// The values of lanes in which the others are not 0, else 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn where_any(others: __m256i, values: __m256i) -> __m256i {
        _mm256_andnot_si256(_mm256_cmpeq_epi64(others, _mm256_setzero_si256()), values)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn at_least_one(values: __m256i) -> __m256i {
        _mm256_sub_epi64(values, _mm256_cmpeq_epi64(values, _mm256_setzero_si256()))
    }

    /// Shifts to the left by less than 64 bits, or to the right for negative counts.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn rotated(values: __m256i, bits: __m256i) -> __m256i {
        // Counts above 63, as negative numbers are, yield 0.
        let down = _mm256_srlv_epi64(values, _mm256_sub_epi64(_mm256_setzero_si256(), bits));
        _mm256_or_si256(_mm256_sllv_epi64(values, bits), down)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn sign(values: __m256i) -> __m256i {
        _mm256_cmpgt_epi64(_mm256_setzero_si256(), values)
    }
}
