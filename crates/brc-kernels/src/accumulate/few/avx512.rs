//! Sums of up to `G` groups in one pass: values are read once for all of them, and their sums stay in registers.

use super::CHUNK;
use std::arch::x86_64::*;

/// Parts that a sum of 32 bits is made in.
const NARROW: usize = 16;

/// The same of 64 bits.
const WIDE: usize = 8;

/// As many bits of a chunk's values do not come to more than 32 in the parts of a sum, but for a sign.
const SMALL_BITS: u32 = 31 - (CHUNK / NARROW).ilog2();

/// A type of values, with loads that make them as wide as they are added up.
pub(super) trait Wide: Copy + Default + Into<i64> {
    /// # Safety
    /// The processor has AVX-512 F.
    unsafe fn to_64_bits(values: &[Self; WIDE]) -> __m512i;
}

/// The same of up to 32 bits.
pub(super) trait Narrow: Wide {
    /// # Safety
    /// The processor has AVX-512 F.
    unsafe fn to_32_bits(values: &[Self; NARROW]) -> __m512i;
}

macro_rules! wide {
    ($($trait:ident for $integer:ty: $convert:ident [$lanes:ident], $load:ident, $widen:expr;)+) => {$(
        impl $trait for $integer {
            #[inline]
            #[target_feature(enable = "avx512f")]
            unsafe fn $convert(values: &[Self; $lanes]) -> __m512i {
                // SAFETY: there are as many values as are loaded.
                $widen(unsafe { $load(values.as_ptr().cast()) })
            }
        }
    )+};
}

wide! {
    Wide for i8: to_64_bits[WIDE], _mm_loadl_epi64, |values| _mm512_cvtepi8_epi64(values);
    Wide for i16: to_64_bits[WIDE], _mm_loadu_si128, |values| _mm512_cvtepi16_epi64(values);
    Wide for i32: to_64_bits[WIDE], _mm256_loadu_si256, |values| _mm512_cvtepi32_epi64(values);
    Wide for i64: to_64_bits[WIDE], _mm512_loadu_si512, |values| values;
    Narrow for i8: to_32_bits[NARROW], _mm_loadu_si128, |values| _mm512_cvtepi8_epi32(values);
    Narrow for i16: to_32_bits[NARROW], _mm256_loadu_si256, |values| _mm512_cvtepi16_epi32(values);
    Narrow for i32: to_32_bits[NARROW], _mm512_loadu_si512, |values| values;
}

/// Adds to each count how many rows its group has. There are at most `G`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn count<const G: usize>(groups: &[u32], counts: &mut [i64]) {
    let (rows, rest) = groups.as_chunks::<NARROW>();
    let mut found = [_mm512_setzero_si512(); G];
    let ones = _mm512_set1_epi32(1);
    for rows in rows {
        add_narrow(&mut found, load_groups(rows), u16::MAX, ones);
    }
    let (rest, valid) = last_groups(rest);
    add_narrow(&mut found, rest, valid, ones);
    for (count, parts) in counts.iter_mut().zip(found) {
        *count += i64::from(_mm512_reduce_add_epi32(parts));
    }
}

/// Adds the values of at most a chunk to the sums of their groups, which are at most `G`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn add<const G: usize, T: Narrow>(groups: &[u32], values: &[T], sums: &mut [i64]) {
    if !add_to_narrow::<G, T>(groups, values, sums) {
        add_wide::<G, T>(groups, values, sums);
    }
}

/// The same; `false`, and nothing is added, if 32 bits may not suffice.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn add_to_narrow<const G: usize, T: Narrow>(groups: &[u32], values: &[T], sums: &mut [i64]) -> bool {
    let (rows, rest) = groups.as_chunks::<NARROW>();
    let (values, rest_values) = values.as_chunks::<NARROW>();
    let mut found = [_mm512_setzero_si512(); G];
    let mut bits = _mm512_setzero_si512();
    for (rows, values) in rows.iter().zip(values) {
        // SAFETY: the caller has AVX-512.
        let values = unsafe { T::to_32_bits(values) };
        bits = _mm512_or_si512(bits, _mm512_xor_si512(values, _mm512_srai_epi32::<31>(values)));
        add_narrow(&mut found, load_groups(rows), u16::MAX, values);
    }
    let mut last = [T::default(); NARROW];
    last[..rest_values.len()].copy_from_slice(rest_values);
    // SAFETY: as above.
    let last = unsafe { T::to_32_bits(&last) };
    bits = _mm512_or_si512(bits, _mm512_xor_si512(last, _mm512_srai_epi32::<31>(last)));
    let (rest, valid) = last_groups(rest);
    add_narrow(&mut found, rest, valid, last);
    if (_mm512_reduce_or_epi32(bits) as u32) >> SMALL_BITS != 0 {
        return false;
    }
    for (sum, parts) in sums.iter_mut().zip(found) {
        let low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(parts));
        let high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(parts));
        *sum = sum.wrapping_add(_mm512_reduce_add_epi64(_mm512_add_epi64(low, high)));
    }
    true
}

/// Adds values to the sums of their groups, which are at most `G`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub(super) fn add_wide<const G: usize, T: Wide>(groups: &[u32], values: &[T], sums: &mut [i64]) {
    let (rows, rest) = groups.as_chunks::<WIDE>();
    let (values, rest_values) = values.as_chunks::<WIDE>();
    let mut found = [_mm512_setzero_si512(); G];
    for (rows, values) in rows.iter().zip(values) {
        // SAFETY: there are as many groups as are loaded; the caller has AVX-512.
        let (rows, values) = unsafe { (_mm256_loadu_si256(rows.as_ptr().cast()), T::to_64_bits(values)) };
        for (parts, group) in found.iter_mut().zip(0..) {
            let of_group = _mm256_cmpeq_epi32_mask(rows, _mm256_set1_epi32(group));
            *parts = _mm512_mask_add_epi64(*parts, of_group, *parts, values);
        }
    }
    for (sum, parts) in sums.iter_mut().zip(found) {
        *sum = sum.wrapping_add(_mm512_reduce_add_epi64(parts));
    }
    for (&row, &value) in rest.iter().zip(rest_values) {
        if let Some(sum) = sums.get_mut(row as usize) {
            *sum = sum.wrapping_add(value.into());
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_groups(rows: &[u32; NARROW]) -> __m512i {
    // SAFETY: there are as many groups as are loaded.
    unsafe { _mm512_loadu_si512(rows.as_ptr().cast()) }
}

/// Groups that are fewer than a register holds, and a bit for each that is there.
#[inline]
#[target_feature(enable = "avx512f")]
fn last_groups(rest: &[u32]) -> (__m512i, u16) {
    let mut last = [0; NARROW];
    last[..rest.len()].copy_from_slice(rest);
    (load_groups(&last), ((1u32 << rest.len()) - 1) as u16)
}

/// Adds valid values to the sums of their groups.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_narrow<const G: usize>(sums: &mut [__m512i; G], rows: __m512i, valid: u16, values: __m512i) {
    for (sum, group) in sums.iter_mut().zip(0..) {
        let of_group = _mm512_mask_cmpeq_epi32_mask(valid, rows, _mm512_set1_epi32(group));
        *sum = _mm512_mask_add_epi32(*sum, of_group, *sum, values);
    }
}
