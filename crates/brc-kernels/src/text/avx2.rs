//! Rows with AVX2: eight numbers per register, one name per half register.

use super::avx512::{last_word, single};
use super::isa::{Found, GROUP, SKIPPED, SLOT_SHIFT, TextIsa};
use super::lookup;
use super::marks::{self, Separators};
use crate::accumulate::slots::{Slot as State, x86 as states};
use crate::cpu::ONES;
use crate::interner::{Key, KeyTable, LONGEST, PADDING, SHORT, Slot, aes};
use crate::isa::Avx2;
use std::arch::x86_64::*;

impl Separators for Avx2 {
    /// For each position in a register: a tile has 128 times as many bytes.
    type Count = __m256i;

    #[inline(always)]
    unsafe fn no_delimiters() -> __m256i {
        // SAFETY: promised by the caller.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn line_feeds(block: &[u8; 64], delimiter: u8, delimiters: &mut __m256i) -> u64 {
        // SAFETY: promised by the caller; the block is two registers long.
        unsafe {
            let (delimiter, line_feed) = (_mm256_set1_epi8(delimiter as i8), _mm256_set1_epi8(b'\n' as i8));
            let low = _mm256_loadu_si256(block.as_ptr().cast());
            let high = _mm256_loadu_si256(block.as_ptr().add(32).cast());
            // A comparison yields -1.
            *delimiters = _mm256_sub_epi8(*delimiters, _mm256_cmpeq_epi8(low, delimiter));
            *delimiters = _mm256_sub_epi8(*delimiters, _mm256_cmpeq_epi8(high, delimiter));
            let low = _mm256_movemask_epi8(_mm256_cmpeq_epi8(low, line_feed)) as u32;
            let high = _mm256_movemask_epi8(_mm256_cmpeq_epi8(high, line_feed)) as u32;
            u64::from(high) << 32 | u64::from(low)
        }
    }

    #[inline(always)]
    unsafe fn sum(delimiters: __m256i) -> usize {
        // SAFETY: promised by the caller.
        unsafe {
            let four = _mm256_sad_epu8(delimiters, _mm256_setzero_si256());
            let two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256::<1>(four));
            (_mm_cvtsi128_si64(two) + _mm_extract_epi64::<1>(two)) as usize
        }
    }
}

impl TextIsa for Avx2 {
    type Faults = __m256i;
    type KeyLookup<'a> = KeyLookup;

    #[inline(always)]
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<Found> {
        // SAFETY: promised by the caller.
        unsafe { marks::write::<Self>(text, delimiter, out) }
    }

    #[inline(always)]
    unsafe fn no_faults() -> __m256i {
        // SAFETY: promised by the caller.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    unsafe fn is_any(faults: __m256i) -> bool {
        // SAFETY: promised by the caller.
        unsafe { _mm256_testz_si256(faults, faults) == 0 }
    }

    #[inline(always)]
    unsafe fn numbers(text: *const u8, marks: *mut u16, delimiter: u8, faults: __m256i, out: *mut i16) -> __m256i {
        // SAFETY: promised by the caller.
        unsafe {
            let (low, faults) = eight_numbers(text, marks, delimiter, faults);
            let (high, faults) = eight_numbers(text, marks.add(GROUP), delimiter, faults);
            // Packing leaves groups of four from alternating registers, which are reordered.
            let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(low, high));
            _mm256_storeu_si256(out.cast(), packed);
            faults
        }
    }

    #[inline(always)]
    unsafe fn keys(text: *const u8, marks: *const u16, here: u16, out: *mut Key) -> u16 {
        let mut other = 0;
        let mut inside = [0u32; GROUP];
        // SAFETY: promised by the caller; a name is read up to sixteen bytes beyond the text, within its margin.
        unsafe {
            let padding = _mm_set1_epi8(PADDING as i8);
            for half in 0..2 {
                let (lengths, others) = eight_lengths(marks.add(GROUP * half));
                _mm256_storeu_si256(inside.as_mut_ptr().add(8 * half).cast(), lengths);
                other |= others << (8 * half);
            }
            for row in 0..GROUP {
                let start = usize::from(single(marks.add(2 * row).sub(1)));
                let inside = _mm_loadu_si128(INSIDE.as_ptr().add(SHORT - inside[row] as usize).cast());
                let key = _mm_blendv_epi8(padding, _mm_loadu_si128(text.add(start).cast()), inside);
                _mm_storeu_si128(out.add(row).cast(), key);
            }
            let mut elsewhere = !here;
            while elsewhere != 0 {
                _mm_storeu_si128(out.add(elsewhere.trailing_zeros() as usize).cast(), padding);
                elsewhere &= elsewhere - 1;
            }
        }
        other
    }

    #[inline(always)]
    unsafe fn list(bits: u16, first: u16, out: *mut u16) {
        // SAFETY: promised by the caller. The table has an entry for each value of a byte.
        unsafe {
            let ones = |bits: u8| _mm_cvtepu8_epi16(_mm_loadl_epi64(ONES.as_ptr().add(usize::from(bits)).cast()));
            let (low, high) = (bits as u8, (bits >> 8) as u8);
            _mm_storeu_si128(out.cast(), _mm_add_epi16(ones(low), _mm_set1_epi16(first as i16)));
            let second = out.add(low.count_ones() as usize);
            _mm_storeu_si128(second.cast(), _mm_add_epi16(ones(high), _mm_set1_epi16(first as i16 + 8)));
        }
    }

    #[inline(always)]
    unsafe fn digest(name: &[u8]) -> Key {
        // SAFETY: promised by the caller. For names of up to 64 bytes at most 64 bytes are read, and for longer ones at
        // most 63 bytes after the name, which are within the text's margin.
        unsafe { aes::digest_in_text(name.as_ptr(), name.len()) }
    }

    #[inline(always)]
    unsafe fn equal(found: &[u8], name: &[u8]) -> bool {
        // SAFETY: promised by the caller.
        found.len() == name.len() && unsafe { equal_parts(found.as_ptr(), name.as_ptr(), name.len()) }
    }

    #[inline(always)]
    unsafe fn lookup(table: &KeyTable) -> KeyLookup {
        let scalar = lookup::KeyLookup::new(table);
        // SAFETY: promised by the caller.
        let few = table.few.as_deref().map(|few| unsafe { Displacements::new(few) });
        KeyLookup { scalar, few }
    }

    #[inline(always)]
    unsafe fn slots(keys: *const Key, mut skipped: u16, lookup: KeyLookup, out: *mut i32) {
        // SAFETY: promised by the caller.
        unsafe {
            match lookup.few {
                Some(few) => {
                    let hashes = [eight_hashes(keys), eight_hashes(keys.add(8))];
                    let displacements = few.of(hashes);
                    let mask = _mm256_set1_epi32(lookup.scalar.mask as i32);
                    for half in 0..2 {
                        let upper = _mm256_srli_epi32::<16>(hashes[half]);
                        let home = _mm256_add_epi32(hashes[half], _mm256_mullo_epi32(upper, displacements[half]));
                        let offsets = _mm256_and_si256(_mm256_slli_epi32::<{ SLOT_SHIFT as i32 }>(home), mask);
                        _mm256_storeu_si256(out.add(8 * half).cast(), offsets);
                    }
                }
                None => {
                    for row in 0..GROUP {
                        *out.add(row) = lookup.scalar.offset(_mm_cvtsi128_si32(hashed(keys.add(row))) as u32);
                    }
                }
            }
            while skipped != 0 {
                *out.add(skipped.trailing_zeros() as usize) = SKIPPED;
                skipped &= skipped - 1;
            }
        }
    }

    #[inline(always)]
    unsafe fn differences<const CODES: bool>(
        keys: *const Key,
        slots: *const i32,
        table: *const u8,
        codes: *mut u32,
    ) -> u32 {
        // SAFETY: promised by the caller.
        unsafe {
            let slot = |row: usize| table.offset(*slots.add(row) as isize).cast::<Slot>();
            let difference = |row: usize| {
                let key = _mm_loadu_si128(keys.add(row).cast());
                _mm_xor_si128(key, _mm_load_si128(slot(row).cast()))
            };
            let mut any = _mm_setzero_si128();
            for row in 0..GROUP {
                if CODES {
                    *codes.add(row) = (*slot(row)).code();
                }
                any = _mm_or_si128(any, difference(row));
            }
            if _mm_testz_si128(any, any) == 1 {
                return 0;
            }
            let mut unequal = 0;
            for row in 0..GROUP {
                let difference = difference(row);
                unequal |= u32::from(_mm_testz_si128(difference, difference) == 0) << (2 * row);
            }
            unequal
        }
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        // SAFETY: promised by the caller.
        unsafe { states::rows_at(values, slots, rows, first) }
    }
}

/// Whether two names of the same length are equal, in the steps of [`equal_long`](crate::interner::equal_long) but without
/// checks of bounds: the One Billion Row Challenge with 10,000 names takes 3 % less time than with that function (2026-11).
///
/// # Safety
/// Both have `length` readable bytes, which is from sixteen to [`LONGEST`].
#[inline(always)]
unsafe fn equal_parts(one: *const u8, other: *const u8, length: usize) -> bool {
    // SAFETY: promised by the caller; no part ends after the name.
    unsafe {
        let different = |first: usize| {
            let mut different = _mm_setzero_si128();
            for part in 0..4 {
                let at = (first + 16 * part).min(length - 16);
                let one = _mm_loadu_si128(one.add(at).cast());
                let other = _mm_loadu_si128(other.add(at).cast());
                different = _mm_or_si128(different, _mm_xor_si128(one, other));
            }
            different
        };
        let mut any = different(0);
        if length > LONGEST / 2 {
            any = _mm_or_si128(any, different(LONGEST / 2));
        }
        _mm_testz_si128(any, any) == 1
    }
}

/// What is needed of a table to find keys.
#[derive(Clone, Copy)]
pub(crate) struct KeyLookup {
    scalar: lookup::KeyLookup,
    /// The displacements, if they are few enough for four registers.
    few: Option<Displacements>,
}

/// The displacements of a small table: in each register sixteen of the first half and sixteen of the second half.
#[derive(Clone, Copy)]
struct Displacements([__m256i; 4]);

impl Displacements {
    /// # Safety
    /// The processor has AVX2.
    #[inline(always)]
    unsafe fn new(few: &[u8; KeyTable::FEW_GROUPS]) -> Self {
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
            let groups = |half: usize| _mm256_srli_epi32::<{ 32 - KeyTable::FEW_GROUPS.ilog2() as i32 }>(hashes[half]);
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

/// The lengths of the short names of eight rows, 0 for other names; and a mask of the other names.
///
/// # Safety
/// As for [`TextIsa::keys`].
#[inline(always)]
unsafe fn eight_lengths(marks: *const u16) -> (__m256i, u16) {
    // SAFETY: promised by the caller.
    unsafe {
        let ends = _mm256_loadu_si256(marks.cast());
        let starts = _mm256_loadu_si256(marks.sub(1).cast());
        let lengths = _mm256_sub_epi32(_mm256_sub_epi32(ends, starts), _mm256_set1_epi32(1));
        let lengths = _mm256_and_si256(lengths, _mm256_set1_epi32(0xffff));
        let short = _mm256_cmpgt_epi32(_mm256_set1_epi32(SHORT as i32 + 1), lengths);
        let empty = _mm256_cmpeq_epi32(lengths, _mm256_setzero_si256());
        let others = !(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_andnot_si256(empty, short))) as u16) & 0xff;
        (_mm256_and_si256(lengths, short), others)
    }
}

/// The numbers of eight rows and the accumulated faults, from the last eight bytes of each row, such as `me;12.3\n` or
/// `;-12.3\n`. Also writes the marks of their delimiters.
///
/// # Safety
/// As for [`TextIsa::numbers`].
#[inline(always)]
unsafe fn eight_numbers(text: *const u8, marks: *mut u16, delimiter: u8, faults: __m256i) -> (__m256i, __m256i) {
    // SAFETY: promised by the caller.
    unsafe {
        let set = |bytes: [u8; 4]| _mm256_set1_epi32(i32::from_le_bytes(bytes));
        let pair = |at: usize| _mm_unpacklo_epi64(last_word(text, marks, at), last_word(text, marks, at + 1));
        let four = |low: usize, high: usize| {
            let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(pair(low)), pair(high));
            _mm256_castsi256_ps(both)
        };
        let (one, other) = (four(0, 4), four(2, 6));
        // "2.3\n"
        let tails = _mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(one, other));
        let tails = _mm256_xor_si256(tails, set(*b"0.0\n"));
        // "me;1" or ";-12"
        let heads = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(one, other));
        let delimiters = _mm256_cmpeq_epi8(heads, _mm256_set1_epi8(delimiter as i8));
        let minuses = _mm256_cmpeq_epi8(heads, _mm256_set1_epi8(b'-' as i8));
        let signs = _mm256_and_si256(minuses, _mm256_slli_epi32::<8>(delimiters));
        // The last byte before the digits must be one of the last two.
        let before_digits = _mm256_or_si256(delimiters, signs);
        let neither = _mm256_cmpeq_epi32(_mm256_srli_epi32::<16>(before_digits), _mm256_setzero_si256());
        let one_digit = _mm256_srai_epi32::<31>(before_digits);
        let negative = _mm256_cmpgt_epi32(_mm256_srli_epi32::<16>(signs), _mm256_setzero_si256());
        let tens = _mm256_sub_epi32(_mm256_srli_epi32::<24>(heads), _mm256_set1_epi32(i32::from(b'0')));
        let tens = _mm256_andnot_si256(one_digit, tens);

        let no_digits =
            _mm256_or_si256(_mm256_subs_epu8(tails, set([9, 0, 9, 0])), _mm256_subs_epu8(tens, set([9, 0, 0, 0])));
        let faults = _mm256_or_si256(faults, _mm256_or_si256(neither, no_digits));

        // From 4 to 6 bytes after the delimiter; the masks are -1.
        let ends = _mm256_loadu_si256(marks.cast());
        let length = _mm256_add_epi32(_mm256_sub_epi32(one_digit, negative), _mm256_set1_epi32(5));
        let starts = _mm256_sub_epi32(_mm256_srli_epi32::<16>(ends), length);
        _mm256_storeu_si256(marks.cast(), _mm256_blend_epi16::<0b1010_1010>(starts, ends));

        // The byte of the point has room for the tens.
        let digits = _mm256_or_si256(tails, _mm256_slli_epi32::<8>(tens));
        let sums = _mm256_maddubs_epi16(digits, set([10, 100, 1, 0]));
        let sums = _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
        (_mm256_sub_epi32(_mm256_xor_si256(sums, negative), negative), faults)
    }
}

/// Sixteen bytes of ones followed by zeros: loading from offset `SHORT - n` yields a mask of the first `n` bytes.
static INSIDE: [u8; 2 * SHORT] = {
    let mut inside = [0; 2 * SHORT];
    let mut at = 0;
    while at < SHORT {
        inside[at] = 0xff;
        at += 1;
    }
    inside
};
