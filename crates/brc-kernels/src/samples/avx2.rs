//! Reads samples with AVX2: computes, for all bytes, the number that would end before the byte, and takes those where
//! one does.

use super::block::{Block, Carry, first};
use crate::text::Window;
use std::arch::x86_64::*;
use std::hint::black_box;

/// [`super::read`] of numbers of up to `DIGITS` digits.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn read<const DIGITS: usize>(window: Window<'_>, maximum: u16, numbers: &mut Vec<u16>) -> usize {
    let text = window.text();
    let (mut at, mut done, mut carry) = (0, 0, Carry::default());
    // Zeros replace the bytes before the text.
    let mut start = [0; 128];
    let known = text.len().min(64);
    start[64..][..known].copy_from_slice(&text[..known]);
    let mut low = [[0u16; 32]; 2];
    let mut high = [[0u16; 32]; 2];
    numbers.reserve(text.len() / 2 + 64);
    let mut count = numbers.len();
    while at < text.len() {
        let (mut digits, mut white) = (0, 0);
        for half in [0, 32] {
            // SAFETY: a window has readable margins of 64 bytes on both sides.
            let bytes = unsafe { _mm256_loadu_si256(text.as_ptr().add(at + half).cast()) };
            digits |= u64::from(_mm256_movemask_epi8(digit(bytes).1) as u32) << half;
            let controls = up_to(_mm256_sub_epi8(bytes, _mm256_set1_epi8(9)), 4);
            let blanks = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(32));
            white |= u64::from(_mm256_movemask_epi8(_mm256_or_si256(controls, blanks)) as u32) << half;
        }
        // Otherwise the compiler would compute with vectors of single bits, bit by bit.
        let (digits, white) = (black_box(digits), black_box(white));
        let Some(block) = Block::new::<DIGITS>(digits, white, first(text.len() - at), &mut carry) else { break };
        let place = if at == 0 { start.as_ptr().wrapping_add(64) } else { text.as_ptr().wrapping_add(at) };
        for (half, (low, high)) in low.iter_mut().zip(&mut high).enumerate() {
            // SAFETY: as above, or 64 bytes preceded by as many.
            unsafe { values::<DIGITS>(place.add(32 * half), low, high) };
        }
        let (low, high) = (low.as_flattened(), high.as_flattened());
        let (mut ends, mut largest, mut next) = (block.ends, 0, count);
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let number = u32::from(low[end]) + if DIGITS > 3 { 1000 * u32::from(high[end]) } else { 0 };
            largest = largest.max(number);
            // SAFETY: there is room for a number for every two bytes of the text.
            unsafe { numbers.as_mut_ptr().add(next).write(number as u16) };
            next += 1;
        }
        if largest > maximum.into() {
            break;
        }
        count = next;
        if block.ends != 0 {
            done = at + 63 - block.ends.leading_zeros() as usize;
        }
        at += 64;
    }
    // SAFETY: `count` numbers were written.
    unsafe { numbers.set_len(count) };
    done
}

/// The bytes that are at most `most`, unsigned.
#[target_feature(enable = "avx2")]
#[inline]
fn up_to(bytes: __m256i, most: i8) -> __m256i {
    _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(most)), bytes)
}

/// The values of bytes as digits, and a mask of those that are digits.
#[target_feature(enable = "avx2")]
#[inline]
fn digit(bytes: __m256i) -> (__m256i, __m256i) {
    let digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8(48));
    (digits, up_to(digits, 9))
}

/// For each of 32 bytes, the value of the last three digits before it, and of those before them.
///
/// # Safety
/// The 32 bytes at `text` and those before are readable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn values<const DIGITS: usize>(text: *const u8, low: &mut [u16; 32], high: &mut [u16; 32]) {
    let mut all = _mm256_set1_epi8(-1);
    let mut places = [_mm256_setzero_si256(); DIGITS];
    for (index, place) in places.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        let (digits, are_digits) = digit(unsafe { _mm256_loadu_si256(text.sub(index + 1).cast()) });
        all = _mm256_and_si256(all, are_digits);
        *place = _mm256_and_si256(digits, all);
    }
    // SAFETY: both are as large as two registers.
    unsafe {
        let sum = |from: usize, factors: &[i16], half: usize| {
            let mut sum = _mm256_setzero_si256();
            for (place, &factor) in places[from..].iter().zip(factors) {
                let own =
                    if half == 0 { _mm256_castsi256_si128(*place) } else { _mm256_extracti128_si256::<1>(*place) };
                let digits = _mm256_cvtepu8_epi16(own);
                sum = _mm256_add_epi16(sum, _mm256_mullo_epi16(digits, _mm256_set1_epi16(factor)));
            }
            sum
        };
        for half in 0..2 {
            _mm256_storeu_si256(low.as_mut_ptr().cast::<__m256i>().add(half), sum(0, &[1, 10, 100], half));
            if DIGITS > 3 {
                _mm256_storeu_si256(high.as_mut_ptr().cast::<__m256i>().add(half), sum(3, &[1, 10], half));
            }
        }
    }
}
