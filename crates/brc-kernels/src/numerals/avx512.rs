//! Four strings, and eight numbers, in registers of 64 bytes.

use super::{MAX_DIGITS, Numerals};
use std::arch::x86_64::*;

/// The number of strings that are processed together.
const STRINGS: usize = 4;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2")]
pub(super) fn numbers(numerals: &Numerals, offsets: &[i32], bytes: &[u8], fits: &mut [bool], numbers: &mut Vec<u64>) {
    let steps = Steps::new(numerals);
    let mut rest = offsets;
    let (groups, last) = fits.as_chunks_mut::<STRINGS>();
    let before = numbers.len();
    numbers.resize(before + groups.len() * STRINGS, 0);
    for (fits, numbers) in groups.iter_mut().zip(numbers[before..].as_chunks_mut().0) {
        let Some(ends) = rest.first_chunk::<{ STRINGS + 1 }>() else { return };
        let valid;
        (*numbers, valid) = steps.numbers(ends, bytes);
        if valid != (1 << STRINGS) - 1 {
            fits.iter_mut().enumerate().for_each(|(string, fits)| *fits &= valid >> string & 1 == 1);
        }
        rest = &rest[STRINGS..];
    }
    numerals.portable(rest, bytes, last, numbers);
}

/// The number of numbers that are processed together.
const NUMBERS: usize = 8;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,popcnt")]
pub(super) fn strings(numerals: &Numerals, numbers: &[u64], ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
    let halves = Halves::new(numerals);
    let (groups, last) = numbers.as_chunks::<NUMBERS>();
    let mut end = bytes.len();
    bytes.resize(end + (groups.len() * NUMBERS + 1) * MAX_DIGITS, 0);
    ends.reserve(numbers.len());
    for numbers in groups {
        let [even, odd] = halves.strings(numbers);
        ends.extend_from_slice(&std::array::from_fn::<_, NUMBERS, _>(|number| {
            let (texts, used) = [&even, &odd][number % 2];
            let place = number / 2;
            // The bytes written after a string are overwritten by the next one.
            bytes[end..end + MAX_DIGITS].copy_from_slice(&texts[place]);
            end += (used >> (MAX_DIGITS * place) & 0xffff).count_ones() as usize;
            end
        }));
    }
    bytes.truncate(end);
    last.iter().for_each(|&number| numerals.write(number, ends, bytes));
}

/// The constants of each halving: a power of the base, and its approximate reciprocal.
struct Halves {
    eight: (__m512i, __m512d),
    four: (__m512i, __m512d),
    two: (__m512i, __m512),
    one: (__m512i, __m512i),
    symbols: [__m512i; 2],
    /// Shuffles the digits of a string to the start of its bytes.
    moved: __m512i,
}

impl Halves {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(numerals: &Numerals) -> Self {
        let power = |exponent| numerals.base.wrapping_pow(exponent);
        let moved: [i8; 64] = numerals.to_start();
        let (low, high) = numerals.symbols.split_at(64);
        // SAFETY: all three have 64 bytes.
        let [low, high, moved] = unsafe {
            [low.as_ptr(), high.as_ptr(), moved.as_ptr().cast()].map(|bytes| _mm512_loadu_epi8(bytes.cast()))
        };
        // A slightly smaller reciprocal yields the quotient, or one less: rounding errors are below the difference.
        let double =
            |power: u64| (_mm512_set1_epi64(power as i64), _mm512_set1_pd((1.0 - f64::EPSILON * 4.0) / power as f64));
        let single =
            |power: u64| (_mm512_set1_epi32(power as i32), _mm512_set1_ps((1.0 - f32::EPSILON * 4.0) / power as f32));
        let word = |power: u64| (_mm512_set1_epi16(power as i16), _mm512_set1_epi16(((1u64 << 16) / power) as i16));
        Self {
            // Numbers with fewer digits have no upper half; their power could be out of range.
            eight: double(if numerals.count > 8 { power(8) } else { 1 << 62 }),
            four: double(if numerals.count > 4 { power(4) } else { 1 << 62 }),
            two: single(power(2)),
            one: word(power(1)),
            symbols: [low, high],
            moved,
        }
    }

    /// The strings of the numbers with even and with odd indexes, padded with zeros, and a bit for each byte that
    /// is not padding.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn strings(&self, numbers: &[u64; NUMBERS]) -> [([[u8; MAX_DIGITS]; NUMBERS / 2], u64); 2] {
        // SAFETY: there are eight numbers.
        let numbers = unsafe { _mm512_loadu_epi64(numbers.as_ptr().cast()) };
        let (high, low) = divide(numbers, self.eight);
        let (first, last) = (self.digits(high), self.digits(low));
        [_mm512_unpacklo_epi64(first, last), _mm512_unpackhi_epi64(first, last)].map(|digits| {
            let digits = _mm512_shuffle_epi8(digits, self.moved);
            let symbols = _mm512_permutex2var_epi8(self.symbols[0], digits, self.symbols[1]);
            let mut texts = [[0; MAX_DIGITS]; NUMBERS / 2];
            // SAFETY: there is room for four strings.
            unsafe { _mm512_storeu_epi8(texts.as_mut_ptr().cast(), symbols) };
            (texts, _mm512_test_epi8_mask(digits, digits))
        })
    }

    /// The eight digits of each number, as bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn digits(&self, numbers: __m512i) -> __m512i {
        let (high, low) = divide(numbers, self.four);
        let fours = _mm512_or_si512(high, _mm512_slli_epi64::<32>(low));
        let (power, inverse) = self.two;
        let high = _mm512_cvttps_epu32(_mm512_mul_ps(_mm512_cvtepu32_ps(fours), inverse));
        let low = _mm512_sub_epi32(fours, _mm512_mullo_epi32(high, power));
        let more = _mm512_cmpge_epu32_mask(low, power);
        let high = _mm512_mask_add_epi32(high, more, high, _mm512_set1_epi32(1));
        let low = _mm512_mask_sub_epi32(low, more, low, power);
        let pairs = _mm512_or_si512(high, _mm512_slli_epi32::<16>(low));
        let (power, inverse) = self.one;
        let high = _mm512_mulhi_epu16(pairs, inverse);
        let low = _mm512_sub_epi16(pairs, _mm512_mullo_epi16(high, power));
        let more = _mm512_cmpge_epu16_mask(low, power);
        let high = _mm512_mask_add_epi16(high, more, high, _mm512_set1_epi16(1));
        let low = _mm512_mask_sub_epi16(low, more, low, power);
        _mm512_or_si512(high, _mm512_slli_epi16::<8>(low))
    }
}

/// Quotients and remainders of numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn divide(numbers: __m512i, (power, inverse): (__m512i, __m512d)) -> (__m512i, __m512i) {
    let high = _mm512_cvttpd_epu64(_mm512_mul_pd(_mm512_cvtepu64_pd(numbers), inverse));
    let low = _mm512_sub_epi64(numbers, _mm512_mullo_epi64(high, power));
    let more = _mm512_cmpge_epu64_mask(low, power);
    let high = _mm512_mask_add_epi64(high, more, high, _mm512_set1_epi64(1));
    (high, _mm512_mask_sub_epi64(low, more, low, power))
}

/// The constants of the steps.
struct Steps {
    values: [__m512i; 2],
    /// Shuffles the digits of a string to the end of its bytes.
    moved: __m512i,
    /// The powers of the base by which one of two neighbours is multiplied.
    bytes: __m512i,
    words: __m512i,
    doubles: __m512i,
    quads: __m512i,
    most: u32,
}

impl Steps {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(numerals: &Numerals) -> Self {
        let power = |exponent| numerals.base.wrapping_pow(exponent);
        let moved: [i8; 64] = numerals.to_end();
        let (low, high) = numerals.values.split_at(64);
        // SAFETY: all three have 64 bytes.
        let [low, high, moved] = unsafe {
            [low.as_ptr(), high.as_ptr(), moved.as_ptr().cast()].map(|bytes| _mm512_loadu_epi8(bytes.cast()))
        };
        Self {
            values: [low, high],
            moved,
            bytes: _mm512_set1_epi16((power(1) | 1 << 8) as i16),
            words: _mm512_set1_epi32((power(2) | 1 << 16) as i32),
            doubles: _mm512_set1_epi64(power(4) as i64),
            quads: _mm512_set4_epi64(1, power(8) as i64, 1, power(8) as i64),
            most: numerals.count as u32,
        }
    }

    /// The numbers of strings with these ends, and a mask of those that are valid; the others are 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2")]
    fn numbers(&self, ends: &[i32; STRINGS + 1], bytes: &[u8]) -> ([u64; STRINGS], u8) {
        let mut there = [0u64; STRINGS];
        let mut long = 0;
        let mut load = |string: usize| {
            let text = &bytes[ends[string] as usize..ends[string + 1] as usize];
            long |= u8::from(text.len() > self.most as usize) << string;
            let mask = _bzhi_u32(0xffff, text.len().min(MAX_DIGITS) as u32);
            there[string] = u64::from(mask);
            // SAFETY: only bytes of the string are loaded.
            unsafe { _mm_maskz_loadu_epi8(mask as __mmask16, text.as_ptr().cast()) }
        };
        let [one, two, three, four] = [load(0), load(1), load(2), load(3)];
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(one), two);
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(three), four);
        let text = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        let there = there[0] | there[1] << 16 | there[2] << 32 | there[3] << 48;
        let values = _mm512_permutex2var_epi8(self.values[0], text, self.values[1]);
        let wrong = there & (_mm512_movepi8_mask(text) | _mm512_testn_epi8_mask(values, values));
        let digits = _mm512_shuffle_epi8(_mm512_maskz_mov_epi8(there, values), self.moved);
        let pairs = _mm512_maddubs_epi16(digits, self.bytes);
        let fours = _mm512_madd_epi16(pairs, self.words);
        let eights = _mm512_add_epi64(_mm512_mul_epu32(fours, self.doubles), _mm512_srli_epi64::<32>(fours));
        let parts = _mm512_mullo_epi64(eights, self.quads);
        let sums = _mm512_add_epi64(parts, _mm512_shuffle_epi32::<0b01_00_11_10>(parts));
        let is_wrong = |string: u32| u8::from(wrong >> (16 * string) & 0xffff != 0) << string;
        let valid = !(long | is_wrong(0) | is_wrong(1) | is_wrong(2) | is_wrong(3)) & 0xf;
        let spread = valid & 1 | (valid & 2) << 1 | (valid & 4) << 2 | (valid & 8) << 3;
        let numbers = _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0x55, _mm512_maskz_mov_epi64(spread, sums)));
        let mut found = [0; STRINGS];
        // SAFETY: there is room for four numbers.
        unsafe { _mm256_storeu_epi64(found.as_mut_ptr().cast(), numbers) };
        (found, valid)
    }
}
