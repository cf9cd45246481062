//! Contiguous bit-packed values, the lowest bit of each first, as other formats have instead of groups of lanes.

use crate::cpu::Level;

/// This many values end at a byte boundary, for any width.
const OCTET: usize = 8;

/// An integer of 32 or 64 bits that can be unpacked as a difference from a base.
#[allow(private_bounds, reason = "which integers there are is decided here")]
pub trait Consecutive: Store {}

impl Consecutive for u32 {}
impl Consecutive for i32 {}
impl Consecutive for i64 {}

/// Unpacks values of `width` bits from index `first` of `packed` on, as many as fit in `out`, and adds `base` to each,
/// wrapping. Bits beyond the end of `packed` are 0.
///
/// # Panics
/// If `width` is above 64.
pub fn unpack_consecutive<T: Consecutive>(
    level: Level,
    width: u32,
    packed: &[u8],
    first: usize,
    base: T,
    out: &mut [T],
) {
    assert!(width <= 64, "values of up to 64 bits");
    let head = (first.next_multiple_of(OCTET) - first).min(out.len());
    portable(width, packed, first, base, &mut out[..head]);
    let (first, out) = (first + head, &mut out[head..]);
    let done = octets(level, width, packed.get(first / OCTET * width as usize..).unwrap_or_default(), base, out);
    portable(width, packed, first + done, base, &mut out[done..]);
}

fn portable<T: Store>(width: u32, packed: &[u8], first: usize, base: T, out: &mut [T]) {
    let mask = ((1u128 << width) - 1) as u64;
    for (value, out) in (first..).zip(out) {
        let bit = value * width as usize;
        let rest = packed.get(bit / 8..).unwrap_or_default();
        let byte = |at: usize| rest.get(at).copied().unwrap_or(0);
        let low = rest.first_chunk().copied().unwrap_or_else(|| std::array::from_fn(byte));
        let high = u64::from(byte(8)) << 1 << (63 - bit % 8);
        *out = base.plus((u64::from_le_bytes(low) >> (bit % 8) | high) & mask);
    }
}

/// Unpacks values from the first one on as far as there is a fast path. Returns their number.
fn octets<T: Store>(level: Level, width: u32, packed: &[u8], base: T, out: &mut [T]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if level.min(Level::best()) >= Level::Avx2
        && let Some(Some(unpacking)) = x86::UNPACKING.get(width as usize)
    {
        // SAFETY: the level is not above the best one that was detected.
        return unsafe { x86::unpack(unpacking, packed, base, out) };
    }
    let _ = (level, width, packed, base, out);
    0
}

/// An output type of unpacked values.
trait Store: Copy {
    /// `self + value`, wrapping.
    fn plus(self, value: u64) -> Self;

    /// Adds `self` to eight values and stores them.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    unsafe fn store(self, values: std::arch::x86_64::__m256i, out: &mut [Self; OCTET]);
}

macro_rules! store_32 {
    ($($integer:ident)+) => {$(
        impl Store for $integer {
            #[inline(always)]
            fn plus(self, value: u64) -> Self {
                self.wrapping_add(value as $integer)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline]
            #[target_feature(enable = "avx2")]
            unsafe fn store(self, values: std::arch::x86_64::__m256i, out: &mut [Self; OCTET]) {
                use std::arch::x86_64::*;
                let sums = _mm256_add_epi32(values, _mm256_set1_epi32(self as i32));
                // SAFETY: there is room for eight values.
                unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sums) };
            }
        }
    )+};
}

store_32!(u32 i32);

impl Store for i64 {
    #[inline(always)]
    fn plus(self, value: u64) -> Self {
        self.wrapping_add(value as i64)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn store(self, values: std::arch::x86_64::__m256i, out: &mut [Self; OCTET]) {
        use std::arch::x86_64::*;
        let halves = [_mm256_castsi256_si128(values), _mm256_extracti128_si256::<1>(values)];
        for (half, out) in halves.into_iter().zip(out.as_chunks_mut::<4>().0) {
            let sums = _mm256_add_epi64(_mm256_cvtepu32_epi64(half), _mm256_set1_epi64x(self));
            // SAFETY: there is room for four values.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sums) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{OCTET, Store};
    use std::arch::x86_64::*;

    /// The number of bytes of half a register.
    const HALF: usize = 16;

    /// How eight values are unpacked, four per half register: the indexes of their bytes, and their shifts.
    #[derive(Clone, Copy)]
    pub(super) struct Unpacking {
        width: usize,
        bytes: [u8; 2 * HALF],
        shifts: [u32; OCTET],
    }

    /// The constants for each width up to 32 bits.
    pub(super) static UNPACKING: [Option<Unpacking>; 33] = {
        let mut unpacking = [None; 33];
        let mut width = 1;
        while width < unpacking.len() {
            unpacking[width] = Unpacking::of(width);
            width += 1;
        }
        unpacking
    };

    impl Unpacking {
        /// `None` if a value may extend into a fifth byte.
        const fn of(width: usize) -> Option<Self> {
            let mut unpacking = Self { width, bytes: [0; 2 * HALF], shifts: [0; OCTET] };
            let mut at = 0;
            while at < 4 * OCTET {
                let value = at / 4;
                let bit = value * width - if value < 4 { 0 } else { 8 * unpacking.second_half() };
                if bit % 8 + width > 32 {
                    return None;
                }
                unpacking.shifts[value] = bit as u32 % 8;
                unpacking.bytes[at] = (bit / 8 + at % 4) as u8;
                at += 1;
            }
            Some(unpacking)
        }

        /// The offset from which the second half register is loaded.
        const fn second_half(&self) -> usize {
            self.width / 2
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn unpack<T: Store>(unpacking: &Unpacking, packed: &[u8], base: T, out: &mut [T]) -> usize {
        let (width, second) = (unpacking.width, unpacking.second_half());
        let (bytes, shifts) = (unpacking.bytes.as_ptr().cast(), unpacking.shifts.as_ptr().cast());
        // SAFETY: both are 32 bytes long.
        let (bytes, shifts) = unsafe { (_mm256_loadu_si256(bytes), _mm256_loadu_si256(shifts)) };
        let mask = _mm256_set1_epi32(((1u64 << width) - 1) as i32);
        let readable = packed.len().checked_sub(second + HALF).map_or(0, |rest| rest / width + 1);
        let mut done = 0;
        for (octet, out) in out.as_chunks_mut::<OCTET>().0.iter_mut().enumerate().take(readable) {
            let start = packed[octet * width..].as_ptr();
            // SAFETY: for each readable octet there are sixteen bytes from both offsets on.
            let both = unsafe { _mm256_loadu2_m128i(start.add(second).cast(), start.cast()) };
            let values = _mm256_srlv_epi32(_mm256_shuffle_epi8(both, bytes), shifts);
            // SAFETY: this function requires AVX2.
            unsafe { base.store(_mm256_and_si256(values, mask), out) };
            done += OCTET;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<T: Consecutive + Default + PartialEq + std::fmt::Debug>(
        packed: &[u8],
        width: u32,
        rows: std::ops::Range<usize>,
        base: T,
    ) {
        let bit = |bit: usize| packed.get(bit / 8).map_or(0, |byte| u64::from(byte >> (bit % 8) & 1));
        let value = |value: usize| (0..width as usize).fold(0, |all, at| all | bit(value * width as usize + at) << at);
        let expected: Vec<T> = rows.clone().map(|row| base.plus(value(row))).collect();
        for level in Level::available() {
            let mut out = vec![T::default(); rows.len()];
            unpack_consecutive(level, width, packed, rows.start, base, &mut out);
            assert_eq!(out, expected, "{width} bits by {}", level.name());
        }
    }

    proptest! {
        #[test]
        fn all_levels_agree_with_single_bits(
            width in 0..=64u32,
            packed in prop::collection::vec(any::<u8>(), 0..300),
            first in 0usize..40,
            count in 0usize..200,
            base: i64,
        ) {
            check(&packed, width, first..first + count, 0u32);
            check(&packed, width, first..first + count, base as i32);
            check(&packed, width, first..first + count, base);
        }
    }

    #[test]
    fn many_of_every_width() {
        let packed: Vec<u8> = (0..4000u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        for width in 0..=64 {
            check(&packed, width, 0..900, 0u32);
            check(&packed, width, 5..900, i64::MAX);
        }
    }
}
