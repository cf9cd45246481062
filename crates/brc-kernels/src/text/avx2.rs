//! Rows with AVX2: eight numbers per register, one name per half register.

mod lookup;

use super::avx512::{last_word, single};
use super::isa::{Found, GROUP, TextIsa, skip, unequal, without_keys};
use super::marks::{self, Separators};
use crate::accumulate::slots::{Slot as State, x86 as states};
use crate::cpu::ONES;
use crate::interner::{Key, KeyTable, PADDING, SHORT, Slot, aes};
use crate::isa::Avx2;
use lookup::KeyLookup;
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
                let inside = _mm_loadu_si128(aes::inside(inside[row] as usize).cast());
                let key = _mm_blendv_epi8(padding, _mm_loadu_si128(text.add(start).cast()), inside);
                _mm_storeu_si128(out.add(row).cast(), key);
            }
            without_keys(!here, out);
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
        found.len() == name.len() && unsafe { aes::equal_parts(found.as_ptr(), name.as_ptr(), name.len()) }
    }

    #[inline(always)]
    unsafe fn lookup(table: &KeyTable) -> KeyLookup {
        // SAFETY: promised by the caller.
        unsafe { KeyLookup::new(table) }
    }

    #[inline(always)]
    unsafe fn slots(keys: *const Key, skipped: u16, lookup: KeyLookup, out: *mut i32) {
        // SAFETY: promised by the caller.
        unsafe {
            lookup.offsets(keys, out);
            skip(skipped, out);
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
            if _mm_testz_si128(any, any) == 1 { 0 } else { unequal(keys, slots, table) }
        }
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        // SAFETY: promised by the caller.
        unsafe { states::rows_at(values, slots, rows, first) }
    }
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
