//! Reads samples with AVX-512: collects the digits before each white space by compressing registers.

use super::block::{Block, Carry, first};
use super::{Kernel, Split};
use crate::text::Window;
use std::arch::x86_64::*;

/// The number of numbers that are written at once, most of which may be ignored.
const ROOM: usize = 32;

/// [`super::read`] of numbers of up to `DIGITS` digits: three if they are up to 255, else five.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn read<const DIGITS: usize>(window: Window<'_>, maximum: u16, numbers: &mut Vec<u16>) -> usize {
    let text = window.text();
    numbers.reserve(text.len() / 2 + ROOM);
    let (mut at, mut done, mut carry) = (0, 0, Carry::default());
    let mut count = numbers.len();
    while at < text.len() {
        // SAFETY: a window has readable margins of 64 bytes on both sides.
        let bytes = unsafe { _mm512_loadu_si512(text.as_ptr().add(at).cast()) };
        let digits = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(48)), _mm512_set1_epi8(10));
        let controls = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(9)), _mm512_set1_epi8(5));
        let white = controls | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(32));
        let Some(block) = Block::new::<DIGITS>(digits, white, first(text.len() - at), &mut carry) else { break };
        // SAFETY: as above.
        let (values, is_too_large) = unsafe { values::<DIGITS>(text.as_ptr().add(at), &block, maximum) };
        if is_too_large {
            break;
        }
        // SAFETY: there is room for a number for every two bytes of the text, and for a whole register after them.
        unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().add(count).cast(), values) };
        count += block.ends.count_ones() as usize;
        if block.ends != 0 {
            done = at + 63 - block.ends.leading_zeros() as usize;
        }
        at += 64;
    }
    // SAFETY: `count` numbers were written.
    unsafe { numbers.set_len(count) };
    done
}

/// The numbers that end in a block, and whether one of them exceeds `maximum` or does not fit.
///
/// # Safety
/// The 64 bytes at `text` and those before are readable.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
#[inline]
unsafe fn values<const DIGITS: usize>(text: *const u8, block: &Block, maximum: u16) -> (__m512i, bool) {
    // SAFETY: the caller's promise.
    let before = |place: usize| unsafe { _mm512_loadu_si512(text.sub(place).cast()) };
    if DIGITS == 3 {
        // The low half of a digit's byte is its value. The contribution of each decimal place is looked up for all
        // bytes, and those after a number are compressed once they are added up: in eight bits, if nothing is too
        // large.
        let times = |places: u64, table: i128, bytes| {
            _mm512_maskz_shuffle_epi8(
                places,
                _mm512_broadcast_i32x4(_mm_set_epi64x((table >> 64) as i64, table as i64)),
                bytes,
            )
        };
        let bytes = before(3);
        let hundreds = times(block.after_digits[2], HUNDREDS, bytes);
        let ones = times(block.after_digits[0], ONES, before(1));
        let low = _mm512_add_epi8(ones, times(block.after_digits[1], TENS, before(2)));
        let sums = _mm512_add_epi8(low, hundreds);
        let too_large = _mm512_cmplt_epu8_mask(sums, hundreds)
            | _mm512_mask_cmpgt_epu8_mask(block.after_digits[2], bytes, _mm512_set1_epi8(b'2' as i8))
            | _mm512_cmpgt_epu8_mask(sums, _mm512_set1_epi8(maximum as i8));
        let gathered = _mm512_maskz_compress_epi8(block.ends, sums);
        return (_mm512_cvtepu8_epi16(_mm512_castsi512_si256(gathered)), too_large & block.ends != 0);
    }
    let digit = |place: usize| {
        let digits = _mm512_maskz_sub_epi8(block.after_digits[place - 1], before(place), _mm512_set1_epi8(48));
        let gathered = _mm512_maskz_compress_epi8(block.ends, digits);
        _mm512_cvtepu8_epi16(_mm512_castsi512_si256(gathered))
    };
    let times = |values, factor: i16| _mm512_mullo_epi16(values, _mm512_set1_epi16(factor));
    let mut sums = _mm512_add_epi16(digit(1), times(digit(2), 10));
    sums = _mm512_add_epi16(sums, times(digit(3), 100));
    sums = _mm512_add_epi16(sums, times(digit(4), 1000));
    let last = digit(5);
    let top = times(last, 10_000);
    sums = _mm512_add_epi16(sums, top);
    let too_large = _mm512_cmplt_epu16_mask(sums, top)
        | _mm512_cmpgt_epu16_mask(last, _mm512_set1_epi16(6))
        | _mm512_cmpgt_epu16_mask(sums, _mm512_set1_epi16(maximum as i16));
    (sums, too_large & first(block.ends.count_ones() as usize) as u32 != 0)
}

/// The contribution of a digit at each decimal place; only small hundreds fit in a byte.
const ONES: i128 = table(1);
const TENS: i128 = table(10);
const HUNDREDS: i128 = table(100);

const fn table(factor: u8) -> i128 {
    let mut bytes = [0; 16];
    let mut digit = 0;
    while digit < 10 {
        bytes[digit] = (digit as u8).wrapping_mul(factor);
        digit += 1;
    }
    i128::from_le_bytes(bytes)
}

/// The indexes of each colour's samples: first in two registers of `LANES` samples, then in the result of that and a
/// third register.
const fn places<const LANES: usize>() -> [[[u16; LANES]; 2]; 3] {
    let mut places = [[[0; LANES]; 2]; 3];
    let mut colour = 0;
    while colour < 3 {
        let mut pixel = 0;
        while pixel < LANES {
            let sample = 3 * pixel + colour;
            let is_first = sample < 2 * LANES;
            places[colour][0][pixel] = if is_first { sample as u16 } else { 0 };
            places[colour][1][pixel] = if is_first { pixel as u16 } else { (sample - LANES) as u16 };
            pixel += 1;
        }
        colour += 1;
    }
    places
}

static WORDS: [[[u16; 32]; 2]; 3] = places::<32>();

static BYTES: [[[u8; 64]; 2]; 3] = {
    let wide = places::<64>();
    let mut places = [[[0; 64]; 2]; 3];
    let mut at = 0;
    while at < 3 * 2 * 64 {
        places[at / 128][at / 64 % 2][at % 64] = wide[at / 128][at / 64 % 2][at % 64] as u8;
        at += 1;
    }
    places
};

/// [`super::split_words`].
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn split_words(samples: &[u16], mut planes: [&mut [i16]; 3]) {
    let (blocks, rest) = samples.as_chunks::<96>();
    for (index, block) in blocks.iter().enumerate() {
        for (plane, [first, second]) in planes.iter_mut().zip(&WORDS) {
            let target: &mut [i16; 32] = plane[32 * index..].first_chunk_mut().unwrap_or_else(|| unreachable!());
            // SAFETY: a block is as large as three registers; a table and the target as one each.
            unsafe {
                let load = |at: usize| _mm512_loadu_si512(block.as_ptr().add(at).cast());
                let first = _mm512_loadu_si512(first.as_ptr().cast());
                let second = _mm512_loadu_si512(second.as_ptr().cast());
                let most = _mm512_permutex2var_epi16(load(0), first, load(32));
                let all = _mm512_permutex2var_epi16(most, second, load(64));
                _mm512_storeu_si512(target.as_mut_ptr().cast(), all);
            }
        }
    }
    let planes = planes.map(|plane| &mut plane[32 * blocks.len()..]);
    Split { samples: rest, planes, widen: |sample: u16| sample as i16 }.run();
}

/// [`super::split_bytes`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn split_bytes(samples: &[u8], mut planes: [&mut [i16]; 3]) {
    let (blocks, rest) = samples.as_chunks::<192>();
    for (index, block) in blocks.iter().enumerate() {
        for (plane, [first, second]) in planes.iter_mut().zip(&BYTES) {
            let target: &mut [i16; 64] = plane[64 * index..].first_chunk_mut().unwrap_or_else(|| unreachable!());
            // SAFETY: a block is as large as three registers, a table as one, and the target as two.
            unsafe {
                let load = |at: usize| _mm512_loadu_si512(block.as_ptr().add(at).cast());
                let first = _mm512_loadu_si512(first.as_ptr().cast());
                let second = _mm512_loadu_si512(second.as_ptr().cast());
                let most = _mm512_permutex2var_epi8(load(0), first, load(64));
                let all = _mm512_permutex2var_epi8(most, second, load(128));
                let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(all));
                let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(all));
                _mm512_storeu_si512(target.as_mut_ptr().cast(), low);
                _mm512_storeu_si512(target.as_mut_ptr().add(32).cast(), high);
            }
        }
    }
    let planes = planes.map(|plane| &mut plane[64 * blocks.len()..]);
    Split { samples: rest, planes, widen: i16::from }.run();
}
