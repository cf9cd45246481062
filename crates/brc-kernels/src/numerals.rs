//! Alphabet-encoded strings: strings over a small alphabet as numbers to any base.
//!
//! Addresses, dates and numbers as text are grouped and sorted as numbers. Converting them a byte at a time takes
//! longer than all further processing. Here the digits of four strings are looked up and summed at once, and eight
//! numbers are split at once, by halving: into two numbers of eight digits, four of four, eight of two.

use crate::cpu::Level;

/// The maximum number of digits of a number.
pub const MOST_DIGITS: usize = 16;

/// The exclusive limit of numbers.
const LIMIT: u64 = 1 << 62;

/// Maps strings of up to [`MOST_DIGITS`] bytes to numbers with the same order. The digit of a byte is its position in
/// the alphabet, counted from 1; missing bytes at the end are 0.
#[derive(Debug, Clone)]
pub struct Numerals {
    /// The digit of each byte; 0 if it is not in the alphabet.
    values: [u8; 128],
    /// The byte of each digit; 0 if there is none.
    symbols: [u8; 128],
    base: u64,
    count: usize,
}

impl Numerals {
    /// Creates a mapping for strings of at most `count` of these bytes, which must ascend. `None` if a byte is not
    /// ASCII, there are too many bytes or digits, or numbers would be too large.
    #[must_use]
    pub fn new(alphabet: &[u8], count: usize) -> Option<Self> {
        let base = alphabet.len() as u64 + 1;
        let largest = base.checked_pow(u32::try_from(count).ok()?)?;
        if count > MOST_DIGITS || base > 127 || largest >= LIMIT || !alphabet.is_sorted_by(|one, other| one < other) {
            return None;
        }
        let (mut values, mut symbols) = ([0; 128], [0; 128]);
        for (&symbol, value) in alphabet.iter().zip(1..) {
            *values.get_mut(usize::from(symbol))? = value;
            symbols[usize::from(value)] = symbol;
        }
        Some(Self { values, symbols, base, count })
    }

    /// The number of a string; `None` if the string is too long or has a byte that is not in the alphabet.
    #[must_use]
    pub fn number(&self, string: &[u8]) -> Option<u64> {
        if string.len() > self.count {
            return None;
        }
        let value = |&byte: &u8| self.values.get(usize::from(byte)).copied().filter(|&value| value > 0);
        (0..self.count).try_fold(0, |number, place| {
            let digit = string.get(place).map_or(Some(0), value)?;
            Some(number * self.base + u64::from(digit))
        })
    }

    /// Appends the numbers of strings, each of which is in `bytes` from one offset to the next. A string without a
    /// number adds 0 and clears its entry in `fits`, which has one for each string.
    ///
    /// # Panics
    /// If offsets do not ascend, or are out of bounds.
    pub fn numbers(&self, level: Level, offsets: &[i32], bytes: &[u8], fits: &mut [bool], numbers: &mut Vec<u64>) {
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { x86::numbers(self, offsets, bytes, fits, numbers) },
            _ => self.portable(offsets, bytes, fits, numbers),
        }
    }

    /// Whether [`Numerals::strings`] is vectorised at this level.
    #[must_use]
    pub fn writes_several(level: Level) -> bool {
        level.min(Level::best()) == Level::Avx512
    }

    /// Appends the strings with these [numbers](Numerals::number), and where each ends in `bytes`. For other numbers,
    /// some string of at most [`MOST_DIGITS`] bytes is appended.
    pub fn strings(&self, level: Level, numbers: &[u64], ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx512 => unsafe { x86::strings(self, numbers, ends, bytes) },
            _ => numbers.iter().for_each(|&number| self.write(number, ends, bytes)),
        }
    }

    fn write(&self, number: u64, ends: &mut Vec<usize>, bytes: &mut Vec<u8>) {
        let mut digits = [0; MOST_DIGITS];
        let mut rest = number;
        for digit in digits[..self.count].iter_mut().rev() {
            *digit = (rest % self.base) as u8;
            rest /= self.base;
        }
        let used = digits.iter().take_while(|&&digit| digit > 0);
        bytes.extend(used.map(|&digit| self.symbols[usize::from(digit)]));
        ends.push(bytes.len());
    }

    fn portable(&self, offsets: &[i32], bytes: &[u8], fits: &mut [bool], numbers: &mut Vec<u64>) {
        numbers.extend(offsets.windows(2).zip(fits).map(|(ends, fits)| {
            let number = self.number(&bytes[ends[0] as usize..ends[1] as usize]);
            *fits &= number.is_some();
            number.unwrap_or(0)
        }));
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{MOST_DIGITS, Numerals};
    use std::arch::x86_64::*;

    /// The number of strings that are processed together.
    const STRINGS: usize = 4;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi2")]
    pub(super) fn numbers(
        numerals: &Numerals,
        offsets: &[i32],
        bytes: &[u8],
        fits: &mut [bool],
        numbers: &mut Vec<u64>,
    ) {
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
        bytes.resize(end + (groups.len() * NUMBERS + 1) * MOST_DIGITS, 0);
        ends.reserve(numbers.len());
        for numbers in groups {
            let [even, odd] = halves.strings(numbers);
            ends.extend_from_slice(&std::array::from_fn::<_, NUMBERS, _>(|number| {
                let (texts, used) = [&even, &odd][number % 2];
                let place = number / 2;
                // The bytes written after a string are overwritten by the next one.
                bytes[end..end + MOST_DIGITS].copy_from_slice(&texts[place]);
                end += (used >> (MOST_DIGITS * place) & 0xffff).count_ones() as usize;
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
            let skipped = MOST_DIGITS - numerals.count;
            let moved: [i8; 64] = std::array::from_fn(|byte| {
                if byte % MOST_DIGITS < numerals.count { (byte % MOST_DIGITS + skipped) as i8 } else { -1 }
            });
            let (low, high) = numerals.symbols.split_at(64);
            // SAFETY: all three have 64 bytes.
            let [low, high, moved] = unsafe {
                [low.as_ptr(), high.as_ptr(), moved.as_ptr().cast()].map(|bytes| _mm512_loadu_epi8(bytes.cast()))
            };
            // A slightly smaller reciprocal yields the quotient, or one less: rounding errors are below the difference.
            let double = |power: u64| {
                (_mm512_set1_epi64(power as i64), _mm512_set1_pd((1.0 - f64::EPSILON * 4.0) / power as f64))
            };
            let single = |power: u64| {
                (_mm512_set1_epi32(power as i32), _mm512_set1_ps((1.0 - f32::EPSILON * 4.0) / power as f32))
            };
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
        fn strings(&self, numbers: &[u64; NUMBERS]) -> [([[u8; MOST_DIGITS]; NUMBERS / 2], u64); 2] {
            // SAFETY: there are eight numbers.
            let numbers = unsafe { _mm512_loadu_epi64(numbers.as_ptr().cast()) };
            let (high, low) = divide(numbers, self.eight);
            let (first, last) = (self.digits(high), self.digits(low));
            [_mm512_unpacklo_epi64(first, last), _mm512_unpackhi_epi64(first, last)].map(|digits| {
                let digits = _mm512_shuffle_epi8(digits, self.moved);
                let symbols = _mm512_permutex2var_epi8(self.symbols[0], digits, self.symbols[1]);
                let mut texts = [[0; MOST_DIGITS]; NUMBERS / 2];
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
            let skipped = MOST_DIGITS - numerals.count;
            let moved: [i8; 64] =
                std::array::from_fn(|byte| (byte % MOST_DIGITS).checked_sub(skipped).map_or(-1, |from| from as i8));
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
                let mask = _bzhi_u32(0xffff, text.len().min(MOST_DIGITS) as u32);
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
            let numbers =
                _mm512_castsi512_si256(_mm512_maskz_compress_epi64(0x55, _mm512_maskz_mov_epi64(spread, sums)));
            let mut found = [0; STRINGS];
            // SAFETY: there is room for four numbers.
            unsafe { _mm256_storeu_epi64(found.as_mut_ptr().cast(), numbers) };
            (found, valid)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_find_the_same_numbers(
            strings in prop::collection::vec(prop_oneof![4 => "[0-9.]{0,18}", 1 => "[0-9.a\u{0}é]{0,18}"], 0..40),
            alphabet in prop::sample::select(vec![".0123456789", "0123456789", ".0123456789abcdef", "a"]),
            count in 0usize..17
        ) {
            let Some(numerals) = Numerals::new(alphabet.as_bytes(), count) else { return Ok(()) };
            let mut offsets = vec![0];
            strings.iter().for_each(|string| offsets.push(offsets[offsets.len() - 1] + string.len() as i32));
            let bytes = strings.concat();
            for level in Level::available() {
                let (mut numbers, mut fits) = (vec![7], vec![true; strings.len()]);
                numerals.numbers(level, &offsets, bytes.as_bytes(), &mut fits, &mut numbers);
                for ((string, number), fits) in strings.iter().zip(&numbers[1..]).zip(fits) {
                    prop_assert_eq!(fits.then_some(*number), numerals.number(string.as_bytes()), "{:?} {}", level, string);
                    prop_assert!(fits || *number == 0);
                }
                prop_assert_eq!(numbers.len(), strings.len() + 1);
            }
        }

        #[test]
        fn all_levels_write_the_strings_of_numbers(
            symbols in 1usize..127, count in 0usize..17, strings in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..17), 0..40)
        ) {
            let alphabet: Vec<u8> = (1..=symbols as u8).collect();
            let count = (0..=count).rev().find(|&count| Numerals::new(&alphabet, count).is_some()).unwrap();
            let numerals = Numerals::new(&alphabet, count).unwrap();
            let symbol = |byte: u8| if byte > 250 { symbols as u8 } else { byte % symbols as u8 + 1 };
            let strings = strings.into_iter().map(|string| string.into_iter().take(count).map(symbol).collect());
            let strings: Vec<Vec<u8>> = strings.chain([vec![symbols as u8; count]]).collect();
            let numbers: Vec<u64> = strings.iter().map(|string| numerals.number(string).unwrap()).collect();
            for level in Level::available() {
                let (mut ends, mut bytes) = (vec![2], vec![7, 8]);
                numerals.strings(level, &numbers, &mut ends, &mut bytes);
                let found: Vec<&[u8]> = ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
                prop_assert_eq!(&found, &strings, "{:?}", level);
                prop_assert_eq!(ends[strings.len()], bytes.len());
                // Numbers without a string are handled gracefully.
                numerals.strings(level, &[u64::MAX, u64::MAX - 1, 1 << 63, 1 << 61, 3, 2, 1, 0], &mut ends, &mut bytes);
                prop_assert!(ends.is_sorted() && *ends.last().unwrap() == bytes.len());
            }
        }

        #[test]
        fn numbers_order_as_strings(one in "[0-9.]{0,15}", other in "[0-9.]{0,15}") {
            let numerals = Numerals::new(b".0123456789", 15).unwrap();
            let [a, b] = [&one, &other].map(|string| numerals.number(string.as_bytes()).unwrap());
            prop_assert_eq!(a.cmp(&b), one.cmp(&other));
        }
    }

    #[test]
    fn invalid_alphabets_and_strings_are_rejected() {
        assert!(Numerals::new(b"ba", 3).is_none(), "not in order");
        assert!(Numerals::new(b"0123456789", 17).is_none(), "too long");
        assert!(Numerals::new("é".as_bytes(), 3).is_none(), "not ASCII");
        assert!(Numerals::new(b".0123456789abcdef", 16).is_none(), "too large");
        let numerals = Numerals::new(b"ab", 3).unwrap();
        let numbers = [&b""[..], b"a", b"ab", b"bbb", b"abab", b"c"].map(|string| numerals.number(string));
        assert_eq!(numbers, [Some(0), Some(9), Some(15), Some(26), None, None]);
    }
}
