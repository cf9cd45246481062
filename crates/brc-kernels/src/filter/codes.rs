//! Tests codes for membership in a set.

use super::{gathered, words};
use crate::cpu::{Kernel, Level, run_at};
use crate::direct::bounds;

/// A set of dictionary codes: one bit for each known code.
#[derive(Debug, Clone, Default)]
pub struct CodeSet {
    /// Padded with zeros to a multiple of [`PADDING`] words.
    words: Vec<u32>,
    known: usize,
}

/// The number of words in two registers.
const PADDING: usize = 32;

impl CodeSet {
    /// The number of known codes; all codes below it are known.
    #[must_use]
    pub fn known(&self) -> usize {
        self.known
    }

    /// Adds the next known code, which is in the set if `is_in`.
    pub fn push(&mut self, is_in: bool) {
        if self.known == self.words.len() * 32 {
            self.words.resize(self.words.len() + PADDING, 0);
        }
        self.words[self.known / 32] |= u32::from(is_in) << (self.known % 32);
        self.known += 1;
    }

    /// Whether a code is in the set; `None` if it is unknown.
    #[must_use]
    pub fn get(&self, code: u32) -> Option<bool> {
        ((code as usize) < self.known).then(|| self.words[code as usize / 32] >> (code % 32) & 1 == 1)
    }

    /// Sets the bits of the rows whose code is in the set, and clears the others. Returns `false` if a code is unknown;
    /// the contents of `mask` are then unspecified.
    ///
    /// # Panics
    /// If `mask` does not have exactly [`words`] words.
    #[must_use]
    pub fn select(&self, level: Level, codes: &[u32], mask: &mut [u64]) -> bool {
        assert_eq!(mask.len(), words(codes.len()), "one word for 64 rows");
        if bounds(level, codes).is_some_and(|(_, largest)| largest >= self.known as i64) {
            return false;
        }
        match level.min(Level::best()) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected; all codes are known, so each has a word.
            Level::Avx512 => unsafe { x86::select(&self.words, codes, mask) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is not above the best one that was detected.
            Level::Avx2 if self.known <= x86::MAX_CODES => unsafe { x86::select_few(&self.words, codes, mask) },
            _ => run_at(level, Select { words: &self.words, codes, mask }),
        }
        true
    }
}

/// Selects the rows whose codes are in a set that has a word for each code.
struct Select<'a> {
    words: &'a [u32],
    codes: &'a [u32],
    mask: &'a mut [u64],
}

impl Kernel for Select<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (word, codes) in self.mask.iter_mut().zip(self.codes.chunks(64)) {
            let mut are_in = [0u8; 64];
            for (is_in, &code) in are_in.iter_mut().zip(codes) {
                *is_in = (self.words[code as usize / 32] >> (code % 32)) as u8 & 1;
            }
            *word = gathered(&are_in);
        }
    }
}

impl FromIterator<bool> for CodeSet {
    fn from_iter<I: IntoIterator<Item = bool>>(codes: I) -> Self {
        let mut all = Self::default();
        codes.into_iter().for_each(|is_in| all.push(is_in));
        all
    }
}

/// Expands the bits of `rows` rows to bytes: 1 if a bit is set, else 0.
///
/// # Panics
/// If `mask` does not have exactly [`words`] words.
#[must_use]
pub fn bytes(level: Level, mask: &[u64], rows: usize) -> Vec<i8> {
    assert_eq!(mask.len(), words(rows), "one word for 64 rows");
    let mut bytes = vec![0; mask.len() * 64];
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::bytes(mask, &mut bytes) },
        _ => run_at(level, Bytes { mask, bytes: &mut bytes }),
    }
    bytes.truncate(rows);
    bytes
}

/// Expands bits to bytes.
struct Bytes<'a> {
    mask: &'a [u64],
    bytes: &'a mut [i8],
}

impl Kernel for Bytes<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const EACH: u64 = u64::from_le_bytes([1; 8]);
        /// The bit that belongs to each of eight bytes.
        const OWN_BITS: u64 = 0x8040_2010_0804_0201;
        for (bytes, word) in self.bytes.as_chunks_mut::<64>().0.iter_mut().zip(self.mask) {
            for (bytes, bits) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(word.to_le_bytes()) {
                let own = (EACH * u64::from(bits)) & OWN_BITS;
                // The highest bit of each byte whose own bit is set; no carry leaves its byte.
                let ones = (own + 0x7f * EACH) >> 7 & EACH;
                *bytes = ones.to_le_bytes().map(u8::cast_signed);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::PADDING;
    use crate::filter::valid_bits;
    use std::arch::x86_64::*;

    /// # Safety
    /// Each code has a word.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2")]
    pub(super) unsafe fn select(words: &[u32], codes: &[u32], mask: &mut [u64]) {
        let Some(first) = words.first_chunk::<PADDING>() else { return mask.fill(0) };
        // SAFETY: there are 32 words.
        let (low, high) =
            unsafe { (_mm512_loadu_epi32(first.as_ptr().cast()), _mm512_loadu_epi32(first[16..].as_ptr().cast())) };
        let in_registers = words.len() == PADDING;
        let (low_bits, one) = (_mm512_set1_epi32(31), _mm512_set1_epi32(1));
        for (word, codes) in mask.iter_mut().zip(codes.chunks(64)) {
            *word = 0;
            for (part, codes) in codes.chunks(16).enumerate() {
                let there = valid_bits(codes.len(), 0) as __mmask16;
                // SAFETY: only existing codes are loaded.
                let codes = unsafe { _mm512_maskz_loadu_epi32(there, codes.as_ptr().cast()) };
                let places = _mm512_srli_epi32::<5>(codes);
                let found = match in_registers {
                    true => _mm512_permutex2var_epi32(low, places, high),
                    // SAFETY: each code has a word, as the caller promises, and so has code 0.
                    false => unsafe { _mm512_i32gather_epi32::<4>(places, words.as_ptr().cast()) },
                };
                let bits = _mm512_sllv_epi32(one, _mm512_and_si512(codes, low_bits));
                *word |= u64::from(_mm512_mask_test_epi32_mask(there, found, bits)) << (part * 16);
            }
        }
    }

    /// The number of codes whose bits fit in one AVX2 register.
    pub(super) const MAX_CODES: usize = 256;

    /// The same with AVX2, for at most [`MAX_CODES`] codes.
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn select_few(words: &[u32], codes: &[u32], mask: &mut [u64]) {
        let Some(first) = words.first_chunk::<PADDING>() else { return mask.fill(0) };
        // SAFETY: there are more than eight words.
        let words = unsafe { _mm256_loadu_si256(first.as_ptr().cast()) };
        let last_bit = _mm256_set1_epi32(31);
        for (word, codes) in mask.iter_mut().zip(codes.chunks(64)) {
            *word = 0;
            let (eights, rest) = codes.as_chunks::<8>();
            for (part, codes) in eights.iter().enumerate() {
                // SAFETY: there are eight codes.
                let codes = unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) };
                let found = _mm256_permutevar8x32_epi32(words, _mm256_srli_epi32::<5>(codes));
                // Moves the code's bit to the highest position.
                let bits = _mm256_sllv_epi32(found, _mm256_andnot_si256(codes, last_bit));
                let are_in = _mm256_movemask_ps(_mm256_castsi256_ps(bits)) as u32;
                *word |= u64::from(are_in) << (part * 8);
            }
            for (bit, &code) in (codes.len() - rest.len()..).zip(rest) {
                *word |= u64::from(first[code as usize / 32 % PADDING] >> (code % 32) & 1) << bit;
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn bytes(mask: &[u64], bytes: &mut [i8]) {
        for (bytes, &word) in bytes.as_chunks_mut::<64>().0.iter_mut().zip(mask) {
            // SAFETY: there are 64 bytes.
            unsafe { _mm512_storeu_epi8(bytes.as_mut_ptr(), _mm512_maskz_set1_epi8(word, 1)) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::valid_bits;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_levels_agree_with_plain_code(
            set in prop::collection::vec(any::<bool>(), 1..3000),
            most in prop::sample::select(vec![200, 900, 3000]),
            rows in prop::collection::vec(any::<prop::sample::Index>(), 0..300),
        ) {
            let set = &set[..set.len().min(most)];
            let codes: Vec<u32> = rows.iter().map(|row| row.index(set.len()) as u32).collect();
            let of_codes: CodeSet = set.iter().copied().collect();
            let expected: Vec<bool> = codes.iter().map(|&code| set[code as usize]).collect();
            for level in Level::available() {
                let mut mask = vec![7; words(codes.len())];
                prop_assert!(of_codes.select(level, &codes, &mut mask));
                let bits: Vec<bool> = bytes(level, &mask, codes.len()).iter().map(|&byte| byte == 1).collect();
                prop_assert_eq!(&bits, &expected);
                let last = mask.last().copied().unwrap_or(0);
                prop_assert_eq!(last & !valid_bits(codes.len(), mask.len().saturating_sub(1)), 0);
                prop_assert!(!of_codes.select(level, &[0, set.len() as u32], &mut [0]));
            }
            prop_assert_eq!(of_codes.get(set.len() as u32), None);
            prop_assert!(codes.iter().zip(expected).all(|(&code, is_in)| of_codes.get(code) == Some(is_in)));
        }
    }

    #[test]
    fn an_empty_set_has_no_codes() {
        for level in Level::available() {
            assert!(CodeSet::default().select(level, &[], &mut []));
            assert!(!CodeSet::default().select(level, &[0], &mut [0]));
        }
    }
}
