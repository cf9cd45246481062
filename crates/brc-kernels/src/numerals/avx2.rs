//! Four strings, or four numbers, in two registers of 32 bytes.
//!
//! There is no lookup among 128 bytes and no division of 64-bit integers: bytes are looked up in those tables of 16
//! that have entries, and numbers are halved one by one until their halves fit 32 bits.

use super::{MAX_DIGITS, Numerals};
use std::arch::x86_64::*;

/// The number of strings or numbers that are processed together.
const STRINGS: usize = 4;

#[target_feature(enable = "avx2")]
pub(super) fn numbers(numerals: &Numerals, offsets: &[i32], bytes: &[u8], fits: &mut [bool], numbers: &mut Vec<u64>) {
    let steps = Steps::new(numerals);
    let mut rest = offsets;
    let (groups, last) = fits.as_chunks_mut::<STRINGS>();
    numbers.reserve(groups.len() * STRINGS + last.len());
    for fits in groups {
        let Some(ends) = rest.first_chunk::<{ STRINGS + 1 }>() else { return };
        let one = steps.two_numbers([ends[0], ends[1], ends[2]], bytes);
        let other = steps.two_numbers([ends[2], ends[3], ends[4]], bytes);
        for ((number, valid), fits) in one.into_iter().chain(other).zip(fits) {
            *fits &= valid;
            numbers.push(number);
        }
        rest = &rest[STRINGS..];
    }
    numerals.portable(rest, bytes, last, numbers);
}

/// A table of 128 bytes, as those tables of 16 that are not all 0, each with 16 times its index.
struct Table {
    parts: [(__m256i, __m256i); 8],
    count: usize,
}

impl Table {
    #[target_feature(enable = "avx2")]
    fn new(bytes: &[u8; 128]) -> Self {
        let mut table = Self { parts: [(_mm256_setzero_si256(), _mm256_setzero_si256()); 8], count: 0 };
        for (part, first) in bytes.as_chunks::<16>().0.iter().zip((0..).step_by(16)) {
            if *part != [0; 16] {
                // SAFETY: there are 16 bytes.
                let part = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
                table.parts[table.count] = (_mm256_broadcastsi128_si256(part), _mm256_set1_epi8(first));
                table.count += 1;
            }
        }
        table
    }

    /// The entries at these indexes; 0 for those above 127.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn look_up(&self, indexes: __m256i) -> __m256i {
        let mut found = _mm256_setzero_si256();
        for (part, first) in &self.parts[..self.count] {
            // The high bit of indexes from 16 on, and so of all others, makes the shuffle yield 0.
            let index = _mm256_adds_epu8(_mm256_sub_epi8(indexes, *first), _mm256_set1_epi8(0x70));
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(*part, index));
        }
        found
    }
}

/// The constants for finding numbers.
struct Steps {
    values: Table,
    /// Shuffles the digits of a string to the end of its bytes.
    moved: __m256i,
    /// The powers of the base by which one of two neighbours is multiplied.
    bytes: __m256i,
    words: __m256i,
    doubles: __m256i,
    eighth: u64,
    most: usize,
}

impl Steps {
    #[target_feature(enable = "avx2")]
    fn new(numerals: &Numerals) -> Self {
        let power = |exponent| numerals.base.wrapping_pow(exponent);
        let moved: [i8; 32] = numerals.to_end();
        Self {
            values: Table::new(&numerals.values),
            // SAFETY: there are 32 bytes.
            moved: unsafe { _mm256_loadu_si256(moved.as_ptr().cast()) },
            bytes: _mm256_set1_epi16((power(1) | 1 << 8) as i16),
            words: _mm256_set1_epi32((power(2) | 1 << 16) as i32),
            doubles: _mm256_set1_epi64x(power(4) as i64),
            eighth: power(8),
            most: numerals.count,
        }
    }

    /// The numbers of strings with these ends, and whether they are valid; the others are 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn two_numbers(&self, ends: [i32; 3], bytes: &[u8]) -> [(u64, bool); 2] {
        let (one, one_length) = first_bytes(bytes, ends[0] as usize, ends[1] as usize);
        let (other, other_length) = first_bytes(bytes, ends[1] as usize, ends[2] as usize);
        // NUL may have a digit, too.
        let inside = _mm256_set_m128i(inside(other_length), inside(one_length));
        let digits = _mm256_and_si256(self.values.look_up(_mm256_set_m128i(other, one)), inside);
        let missing = _mm256_movemask_epi8(_mm256_cmpeq_epi8(digits, _mm256_setzero_si256())) as u32;
        let pairs = _mm256_maddubs_epi16(_mm256_shuffle_epi8(digits, self.moved), self.bytes);
        let fours = _mm256_madd_epi16(pairs, self.words);
        let eights = _mm256_add_epi64(_mm256_mul_epu32(fours, self.doubles), _mm256_srli_epi64::<32>(fours));
        let mut halves = [[0u64; 2]; 2];
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(halves.as_mut_ptr().cast(), eights) };
        let number = |string: usize, length: usize| {
            let missing = missing >> (MAX_DIGITS * string);
            let is_valid = length <= self.most && missing & ((1 << length.min(MAX_DIGITS)) - 1) == 0;
            let [high, low] = halves[string];
            // Only numbers of strings that are not valid may overflow.
            let number = high.wrapping_mul(self.eighth).wrapping_add(low);
            (if is_valid { number } else { 0 }, is_valid)
        };
        [number(0, one_length), number(1, other_length)]
    }
}

/// The first bytes of a string, followed by any others, and its length.
///
/// # Panics
/// If it is out of bounds.
#[inline]
#[target_feature(enable = "avx2")]
fn first_bytes(bytes: &[u8], start: usize, end: usize) -> (__m128i, usize) {
    let string = &bytes[start..end];
    let mut copy = [0; MAX_DIGITS];
    let text = match bytes[start..].first_chunk::<MAX_DIGITS>() {
        Some(text) => text,
        None => {
            copy[..string.len()].copy_from_slice(string);
            &copy
        }
    };
    // SAFETY: there are 16 bytes.
    (unsafe { _mm_loadu_si128(text.as_ptr().cast()) }, string.len())
}

/// A mask of the first `length` bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn inside(length: usize) -> __m128i {
    // SAFETY: at least 16 bytes are readable from the start of any mask.
    unsafe { _mm_loadu_si128(crate::interner::aes::inside(length.min(MAX_DIGITS)).cast()) }
}

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn strings(numerals: &Numerals, numbers: &[u64], ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
    let halves = Halves::new(numerals);
    let (groups, last) = numbers.as_chunks::<STRINGS>();
    let mut end = bytes.len();
    bytes.resize(end + (groups.len() * STRINGS + 1) * MAX_DIGITS, 0);
    ends.reserve(numbers.len());
    for numbers in groups {
        let (texts, missing) = halves.strings(numbers);
        ends.extend_from_slice(&std::array::from_fn::<_, STRINGS, _>(|string| {
            // The bytes written after a string are overwritten by the next one.
            bytes[end..end + MAX_DIGITS].copy_from_slice(&texts[string]);
            let missing = missing >> (MAX_DIGITS * string) & 0xffff;
            end += MAX_DIGITS - missing.count_ones() as usize;
            end
        }));
    }
    bytes.truncate(end);
    last.iter().for_each(|&number| numerals.write(number, ends, bytes));
}

/// A power of the base, and 2⁶⁴ divided by it.
#[derive(Clone, Copy)]
struct Power {
    power: u64,
    inverse: u64,
}

impl Power {
    fn new(power: u64) -> Self {
        Self { power, inverse: u64::MAX / power }
    }

    /// The quotient and the remainder of a number below 2⁶².
    #[inline(always)]
    fn divide(self, number: u64) -> (u64, u64) {
        // At most one less than the quotient.
        let quotient = ((u128::from(number) * u128::from(self.inverse)) >> 64) as u64;
        let rest = number.wrapping_sub(quotient.wrapping_mul(self.power));
        let more = u64::from(rest >= self.power);
        (quotient.wrapping_add(more), rest.wrapping_sub(more.wrapping_mul(self.power)))
    }
}

/// The constants of each halving.
struct Halves {
    eight: Power,
    four: Power,
    /// A power of the base, and its approximate reciprocal.
    two: (__m256i, __m256),
    one: (__m256i, __m256i),
    symbols: Table,
    /// Shuffles the digits of a string to the start of its bytes.
    moved: __m256i,
}

impl Halves {
    #[target_feature(enable = "avx2")]
    fn new(numerals: &Numerals) -> Self {
        let power = |exponent| numerals.base.wrapping_pow(exponent);
        let moved: [i8; 32] = numerals.to_start();
        let (square, base) = (power(2), power(1));
        Self {
            // Numbers with fewer digits have no upper half; their power could be out of range.
            eight: Power::new(if numerals.count > 8 { power(8) } else { 1 << 62 }),
            four: Power::new(if numerals.count > 4 { power(4) } else { 1 << 62 }),
            // A slightly smaller reciprocal yields the quotient, or one less: rounding errors are below the difference.
            two: (_mm256_set1_epi32(square as i32), _mm256_set1_ps((1.0 - f32::EPSILON * 4.0) / square as f32)),
            one: (_mm256_set1_epi16(base as i16), _mm256_set1_epi16(((1u64 << 16) / base) as i16)),
            symbols: Table::new(&numerals.symbols),
            // SAFETY: there are 32 bytes.
            moved: unsafe { _mm256_loadu_si256(moved.as_ptr().cast()) },
        }
    }

    /// The strings of numbers, padded with zeros, and a bit for each byte that is padding.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn strings(&self, numbers: &[u64; STRINGS]) -> ([[u8; MAX_DIGITS]; STRINGS], u64) {
        let (mut texts, mut missing) = ([[0; MAX_DIGITS]; STRINGS], 0);
        for (half, (numbers, texts)) in numbers.as_chunks().0.iter().zip(texts.as_chunks_mut::<2>().0).enumerate() {
            let digits = _mm256_shuffle_epi8(self.digits(self.fours(numbers)), self.moved);
            let of_zeros = _mm256_movemask_epi8(_mm256_cmpeq_epi8(digits, _mm256_setzero_si256()));
            missing |= u64::from(of_zeros as u32) << (32 * half);
            // SAFETY: there is room for two strings.
            unsafe { _mm256_storeu_si256(texts.as_mut_ptr().cast(), self.symbols.look_up(digits)) };
        }
        (texts, missing)
    }

    /// The four parts of two numbers. They are joined in registers, because memory written in parts is slow to load.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fours(&self, numbers: &[u64; 2]) -> __m256i {
        let (first, second) = self.eight.divide(numbers[0]);
        let (third, fourth) = self.eight.divide(numbers[1]);
        let [a, b, c, d] = [self.two(first), self.two(second), self.two(third), self.two(fourth)];
        _mm256_set_epi64x(d, c, b, a)
    }

    /// The two parts of half a number.
    #[inline(always)]
    fn two(&self, half: u64) -> i64 {
        let (high, low) = self.four.divide(half);
        (high | low << 32) as i64
    }

    /// The four digits of each number, as bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn digits(&self, fours: __m256i) -> __m256i {
        let (power, inverse) = self.two;
        let high = _mm256_cvttps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(fours), inverse));
        let low = _mm256_sub_epi32(fours, _mm256_mullo_epi32(high, power));
        let is_less = _mm256_cmpgt_epi32(power, low);
        let high = _mm256_add_epi32(_mm256_add_epi32(high, is_less), _mm256_set1_epi32(1));
        let low = _mm256_sub_epi32(low, _mm256_andnot_si256(is_less, power));
        let pairs = _mm256_or_si256(high, _mm256_slli_epi32::<16>(low));
        let (power, inverse) = self.one;
        let high = _mm256_mulhi_epu16(pairs, inverse);
        let low = _mm256_sub_epi16(pairs, _mm256_mullo_epi16(high, power));
        let is_less = _mm256_cmpgt_epi16(power, low);
        let high = _mm256_add_epi16(_mm256_add_epi16(high, is_less), _mm256_set1_epi16(1));
        let low = _mm256_sub_epi16(low, _mm256_andnot_si256(is_less, power));
        _mm256_or_si256(high, _mm256_slli_epi16::<8>(low))
    }
}
