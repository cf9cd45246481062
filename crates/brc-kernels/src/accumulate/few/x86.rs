//! Sums of up to `G` groups in one pass: values are read once for all groups, and the sums stay in registers. The code
//! is shared by both register widths.

/// [`count`](avx512::count) and [`add`](avx512::add), built from the intrinsics of the enclosing module.
macro_rules! one_pass {
    ($features:literal) => {
        /// Values of at most this many bits cannot overflow the 32-bit partial sums of a chunk, excluding the sign.
        const SMALL_BITS: u32 = 31 - (super::super::CHUNK / NARROW).ilog2();

        /// Adds the number of rows of each group to `counts`. There are [few](MAX_GROUPS) groups.
        #[target_feature(enable = $features)]
        pub(in super::super) fn count(groups: &[u32], counts: &mut [i64]) {
            match counts.len() {
                0..=2 => count_of::<2>(groups, counts),
                3..=4 => count_of::<4>(groups, counts),
                _ => count_of::<MAX_GROUPS>(groups, counts),
            }
        }

        /// Adds the values of at most a chunk to the sums of their groups, of which there are [few](MAX_GROUPS).
        #[target_feature(enable = $features)]
        pub(in super::super) fn add<T: Narrow>(groups: &[u32], values: &[T], sums: &mut [i64]) {
            match sums.len() {
                0..=2 => add_of::<2, T>(groups, values, sums),
                3..=4 => add_of::<4, T>(groups, values, sums),
                _ => add_of::<MAX_GROUPS, T>(groups, values, sums),
            }
        }

        /// The same for values that need 64 bits.
        #[target_feature(enable = $features)]
        pub(in super::super) fn add_wide<T: Wide>(groups: &[u32], values: &[T], sums: &mut [i64]) {
            match sums.len() {
                0..=2 => add_wide_of::<2, T>(groups, values, sums),
                3..=4 => add_wide_of::<4, T>(groups, values, sums),
                _ => add_wide_of::<MAX_GROUPS, T>(groups, values, sums),
            }
        }

        /// Counts the rows of at most `G` groups.
        #[target_feature(enable = $features)]
        fn count_of<const G: usize>(groups: &[u32], counts: &mut [i64]) {
            let (rows, rest) = groups.as_chunks();
            let mut found = [zero(); G];
            for rows in rows.iter().chain([&last(rest, NO_GROUP)]) {
                let rows = load_groups(rows);
                for (parts, group) in found.iter_mut().zip(0..) {
                    *parts = add_narrow(*parts, rows, group, ones());
                }
            }
            for (count, parts) in counts.iter_mut().zip(found) {
                *count += total_narrow(parts);
            }
        }

        /// Adds values to the sums of at most `G` groups.
        #[target_feature(enable = $features)]
        fn add_of<const G: usize, T: Narrow>(groups: &[u32], values: &[T], sums: &mut [i64]) {
            if !add_to_narrow::<G, T>(groups, values, sums) {
                add_wide_of::<G, T>(groups, values, sums);
            }
        }

        /// The same in 32 bits; adds nothing and returns `false` if 32 bits may not suffice.
        #[target_feature(enable = $features)]
        fn add_to_narrow<const G: usize, T: Narrow>(groups: &[u32], values: &[T], sums: &mut [i64]) -> bool {
            let (rows, rest) = groups.as_chunks();
            let (values, rest_values) = values.as_chunks();
            let mut found = [zero(); G];
            let mut bits = zero();
            let last = (&last(rest, NO_GROUP), &last(rest_values, T::default()));
            for (rows, values) in rows.iter().zip(values).chain([last]) {
                // SAFETY: the caller has the instructions.
                let (rows, values) = (load_groups(rows), unsafe { T::to_32_bits(values) });
                bits = with_bits(bits, values);
                for (parts, group) in found.iter_mut().zip(0..) {
                    *parts = add_narrow(*parts, rows, group, values);
                }
            }
            if any_bits(bits) >> SMALL_BITS != 0 {
                return false;
            }
            for (sum, parts) in sums.iter_mut().zip(found) {
                *sum = sum.wrapping_add(total_narrow(parts));
            }
            true
        }

        /// The same for values that need 64 bits.
        #[target_feature(enable = $features)]
        fn add_wide_of<const G: usize, T: Wide>(groups: &[u32], values: &[T], sums: &mut [i64]) {
            let (rows, rest) = groups.as_chunks();
            let (values, rest_values) = values.as_chunks();
            let mut found = [zero(); G];
            let last = (&last(rest, NO_GROUP), &last(rest_values, T::default()));
            for (rows, values) in rows.iter().zip(values).chain([last]) {
                // SAFETY: the caller has the instructions.
                let (rows, values) = (load_few_groups(rows), unsafe { T::to_64_bits(values) });
                for (parts, group) in found.iter_mut().zip(0..) {
                    *parts = add_to_wide(*parts, rows, group, values);
                }
            }
            for (sum, parts) in sums.iter_mut().zip(found) {
                *sum = sum.wrapping_add(total_wide(parts));
            }
        }
    };
}

/// Value types, with loads that widen values to the width of the sums.
macro_rules! widths {
    ($features:literal, $register:ident;
     $($trait:ident for $integer:ty: $convert:ident [$lanes:ident], $load:ident, $widen:expr;)+) => {
        /// A type of values.
        pub(in super::super) trait Wide: Copy + Default {
            /// # Safety
            /// The processor has the instructions.
            unsafe fn to_64_bits(values: &[Self; WIDE]) -> $register;
        }

        /// A value type of up to 32 bits.
        pub(in super::super) trait Narrow: Wide {
            /// # Safety
            /// The processor has the instructions.
            unsafe fn to_32_bits(values: &[Self; NARROW]) -> $register;
        }

        $(impl $trait for $integer {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn $convert(values: &[Self; $lanes]) -> $register {
                // SAFETY: there are as many values as are loaded.
                $widen(unsafe { $load(values.as_ptr().cast()) })
            }
        })+
    };
}

/// The remaining values, padded with `filler`.
#[inline(always)]
fn last<T: Copy, const LANES: usize>(rest: &[T], filler: T) -> [T; LANES] {
    let mut last = [filler; LANES];
    last[..rest.len()].copy_from_slice(rest);
    last
}

/// 64-byte registers.
pub(super) mod avx512 {
    use super::super::MAX_GROUPS;
    use super::last;
    use crate::accumulate::table::NO_GROUP;
    use std::arch::x86_64::*;

    const NARROW: usize = 16;
    const WIDE: usize = 8;

    widths! {
        "avx512f", __m512i;
        Wide for i8: to_64_bits[WIDE], _mm_loadl_epi64, |values| _mm512_cvtepi8_epi64(values);
        Wide for i16: to_64_bits[WIDE], _mm_loadu_si128, |values| _mm512_cvtepi16_epi64(values);
        Wide for i32: to_64_bits[WIDE], _mm256_loadu_si256, |values| _mm512_cvtepi32_epi64(values);
        Wide for i64: to_64_bits[WIDE], _mm512_loadu_si512, |values| values;
        Narrow for i8: to_32_bits[NARROW], _mm_loadu_si128, |values| _mm512_cvtepi8_epi32(values);
        Narrow for i16: to_32_bits[NARROW], _mm256_loadu_si256, |values| _mm512_cvtepi16_epi32(values);
        Narrow for i32: to_32_bits[NARROW], _mm512_loadu_si512, |values| values;
    }

    one_pass!("avx512f,avx512bw,avx512vl");

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn zero() -> __m512i {
        _mm512_setzero_si512()
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn ones() -> __m512i {
        _mm512_set1_epi32(1)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load_groups(rows: &[u32; NARROW]) -> __m512i {
        // SAFETY: there are as many groups as are loaded.
        unsafe { _mm512_loadu_si512(rows.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn load_few_groups(rows: &[u32; WIDE]) -> __m256i {
        // SAFETY: there are as many groups as are loaded.
        unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) }
    }

    /// Adds the 32-bit values whose row belongs to `group`.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn add_narrow(sums: __m512i, rows: __m512i, group: i32, values: __m512i) -> __m512i {
        _mm512_mask_add_epi32(sums, _mm512_cmpeq_epi32_mask(rows, _mm512_set1_epi32(group)), sums, values)
    }

    /// Adds the 64-bit values whose row belongs to `group`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn add_to_wide(sums: __m512i, rows: __m256i, group: i32, values: __m512i) -> __m512i {
        _mm512_mask_add_epi64(sums, _mm256_cmpeq_epi32_mask(rows, _mm256_set1_epi32(group)), sums, values)
    }

    /// Collects the bits of values, excluding sign bits.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn with_bits(bits: __m512i, values: __m512i) -> __m512i {
        _mm512_or_si512(bits, _mm512_xor_si512(values, _mm512_srai_epi32::<31>(values)))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn any_bits(bits: __m512i) -> u32 {
        _mm512_reduce_or_epi32(bits) as u32
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total_narrow(parts: __m512i) -> i64 {
        let low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(parts));
        let high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(parts));
        _mm512_reduce_add_epi64(_mm512_add_epi64(low, high))
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn total_wide(parts: __m512i) -> i64 {
        _mm512_reduce_add_epi64(parts)
    }
}

/// 32-byte registers.
pub(super) mod avx2 {
    use super::super::MAX_GROUPS;
    use super::last;
    use crate::accumulate::table::NO_GROUP;
    use crate::cpu::four_lanes;
    use std::arch::x86_64::*;

    const NARROW: usize = 8;
    const WIDE: usize = 4;

    widths! {
        "avx2", __m256i;
        Wide for i8: to_64_bits[WIDE], _mm_loadu_si32, |values| _mm256_cvtepi8_epi64(values);
        Wide for i16: to_64_bits[WIDE], _mm_loadl_epi64, |values| _mm256_cvtepi16_epi64(values);
        Wide for i32: to_64_bits[WIDE], _mm_loadu_si128, |values| _mm256_cvtepi32_epi64(values);
        Wide for i64: to_64_bits[WIDE], _mm256_loadu_si256, |values| values;
        Narrow for i8: to_32_bits[NARROW], _mm_loadl_epi64, |values| _mm256_cvtepi8_epi32(values);
        Narrow for i16: to_32_bits[NARROW], _mm_loadu_si128, |values| _mm256_cvtepi16_epi32(values);
        Narrow for i32: to_32_bits[NARROW], _mm256_loadu_si256, |values| values;
    }

    one_pass!("avx2");

    #[inline]
    #[target_feature(enable = "avx2")]
    fn zero() -> __m256i {
        _mm256_setzero_si256()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn ones() -> __m256i {
        _mm256_set1_epi32(1)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_groups(rows: &[u32; NARROW]) -> __m256i {
        // SAFETY: there are as many groups as are loaded.
        unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_few_groups(rows: &[u32; WIDE]) -> __m256i {
        // SAFETY: there are as many groups as are loaded.
        _mm256_cvtepu32_epi64(unsafe { _mm_loadu_si128(rows.as_ptr().cast()) })
    }

    /// Adds the 32-bit values whose row belongs to `group`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_narrow(sums: __m256i, rows: __m256i, group: i32, values: __m256i) -> __m256i {
        _mm256_add_epi32(sums, _mm256_and_si256(values, _mm256_cmpeq_epi32(rows, _mm256_set1_epi32(group))))
    }

    /// Adds the 64-bit values whose row belongs to `group`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_to_wide(sums: __m256i, rows: __m256i, group: i32, values: __m256i) -> __m256i {
        let of_group = _mm256_cmpeq_epi64(rows, _mm256_set1_epi64x(group.into()));
        _mm256_add_epi64(sums, _mm256_and_si256(values, of_group))
    }

    /// Collects the bits of values, excluding sign bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn with_bits(bits: __m256i, values: __m256i) -> __m256i {
        _mm256_or_si256(bits, _mm256_xor_si256(values, _mm256_srai_epi32::<31>(values)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn any_bits(bits: __m256i) -> u32 {
        four_lanes(bits).into_iter().fold(0, |all, bits| all | bits as u32 | (bits >> 32) as u32)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn total_narrow(parts: __m256i) -> i64 {
        let low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(parts));
        let high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(parts));
        total_wide(_mm256_add_epi64(low, high))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn total_wide(parts: __m256i) -> i64 {
        four_lanes(parts).into_iter().fold(0, i64::wrapping_add)
    }
}
