//! Finds the slots of sixteen keys, at once if the table is small.

use crate::interner::{Key, KeyTable, aes};
use crate::text::isa::{GROUP, SLOT_SHIFT};
use crate::text::lookup as one_by_one;
use std::arch::x86_64::*;

/// What is needed of a table to find keys.
#[derive(Clone, Copy)]
pub(crate) struct KeyLookup {
    one_by_one: one_by_one::KeyLookup,
    /// The displacements, if they are few enough for four registers.
    few: Option<Displacements>,
}

impl KeyLookup {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    pub(super) unsafe fn new(table: &KeyTable) -> Self {
        // SAFETY: promised by the caller.
        let few = table.few.as_deref().map(|few| unsafe { Displacements::new(few) });
        Self { one_by_one: one_by_one::KeyLookup::new(table), few }
    }

    /// Writes the offsets in bytes, from the first slot for names, of the only slots that may hold the keys of a group.
    ///
    /// # Safety
    /// The processor has AVX2 and AES instructions; the table has not changed. The keys of a group are readable, and
    /// there is room for their offsets.
    #[inline(always)]
    pub(super) unsafe fn offsets(self, keys: *const Key, out: *mut i32) {
        // SAFETY: promised by the caller.
        unsafe {
            let Some(few) = self.few else {
                for row in 0..GROUP {
                    let hash = _mm_cvtsi128_si32(hashed(keys.add(row))) as u32;
                    *out.add(row) = self.one_by_one.offset(hash);
                }
                return;
            };
            let hashes = [eight_hashes(keys), eight_hashes(keys.add(8))];
            let displacements = few.of(hashes);
            let mask = _mm256_set1_epi32(self.one_by_one.mask as i32);
            for half in 0..2 {
                let upper = _mm256_srli_epi32::<16>(hashes[half]);
                let home = _mm256_add_epi32(hashes[half], _mm256_mullo_epi32(upper, displacements[half]));
                let offsets = _mm256_and_si256(_mm256_slli_epi32::<{ SLOT_SHIFT as i32 }>(home), mask);
                _mm256_storeu_si256(out.add(8 * half).cast(), offsets);
            }
        }
    }
}

/// The displacements of a small table: in each register sixteen of the first half and sixteen of the second half.
#[derive(Clone, Copy)]
struct Displacements([__m256i; 4]);

impl Displacements {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn new(few: &[u8; KeyTable::MAX_FEW_GROUPS]) -> Self {
        // SAFETY: promised by the caller; there are eight times sixteen displacements.
        unsafe {
            let sixteen = |part: usize| _mm_loadu_si128(few.as_ptr().add(16 * part).cast());
            Self([
                side_by_side(sixteen(0), sixteen(4)),
                side_by_side(sixteen(1), sixteen(5)),
                side_by_side(sixteen(2), sixteen(6)),
                side_by_side(sixteen(3), sixteen(7)),
            ])
        }
    }

    /// The displacements for sixteen hashes.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn of(self, hashes: [__m256i; 2]) -> [__m256i; 2] {
        // SAFETY: promised by the caller.
        unsafe {
            let groups =
                |half: usize| _mm256_srli_epi32::<{ 32 - KeyTable::MAX_FEW_GROUPS.ilog2() as i32 }>(hashes[half]);
            let words = _mm256_packs_epi32(groups(0), groups(1));
            let bytes = _mm256_packus_epi16(words, words);
            // Packing leaves groups of four from alternating registers. All sixteen are needed in both halves.
            let groups = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
            // A shuffle looks up the low four bits, and a blend chooses by the highest bit of a byte.
            let found = |part: usize| _mm256_shuffle_epi8(self.0[part], groups);
            let (bit_4, bit_5) = (_mm256_slli_epi16::<3>(groups), _mm256_slli_epi16::<2>(groups));
            let low = _mm256_blendv_epi8(found(0), found(1), bit_4);
            let high = _mm256_blendv_epi8(found(2), found(3), bit_4);
            let halves = _mm256_blendv_epi8(low, high, bit_5);
            let bit_6 = _mm_slli_epi16::<1>(_mm256_castsi256_si128(groups));
            let (low, high) = (_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
            let displacements = _mm_blendv_epi8(low, high, bit_6);
            [_mm256_cvtepu8_epi32(displacements), _mm256_cvtepu8_epi32(_mm_srli_si128::<8>(displacements))]
        }
    }
}

/// A key whose first four bytes are its hash.
///
/// # Safety
/// The processor has AES instructions, and the key is readable.
#[inline(always)]
unsafe fn hashed(key: *const Key) -> __m128i {
    // SAFETY: promised by the caller.
    unsafe {
        let round = _mm_set_epi64x(aes::ROUND[1], aes::ROUND[0]);
        let mut key = _mm_loadu_si128(key.cast());
        for _ in 0..aes::ROUNDS {
            key = _mm_aesenc_si128(key, round);
        }
        key
    }
}

/// The hashes of eight keys.
///
/// # Safety
/// The processor has AES instructions and AVX2; eight keys are readable.
#[inline(always)]
unsafe fn eight_hashes(keys: *const Key) -> __m256i {
    // SAFETY: promised by the caller.
    unsafe {
        let two = |at: usize| _mm_unpacklo_epi32(hashed(keys.add(at)), hashed(keys.add(at + 1)));
        side_by_side(_mm_unpacklo_epi64(two(0), two(2)), _mm_unpacklo_epi64(two(4), two(6)))
    }
}

/// Concatenates two registers.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
unsafe fn side_by_side(low: __m128i, high: __m128i) -> __m256i {
    // SAFETY: promised by the caller.
    unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high) }
}
