//! Rows with AVX-512: sixteen numbers per register, four names per register.
//!
//! Loops over arrays are written out: `array::map` is not compiled for these instructions, and the functions it calls
//! are inlined or not by chance.

use super::isa::{Found, SKIPPED, SLOT_SHIFT, TextIsa};
use crate::accumulate::slots::{Slot as State, x86 as states};
use crate::cpu::BYTE_INDEXES;
use crate::interner::{Key, KeyTable, PADDING, SHORT, Slot, aes};
use crate::isa::Avx512;
use std::arch::x86_64::*;

/// Evaluates an expression for each quarter of a group of rows.
macro_rules! four {
    ($part:ident => $value:expr) => {{
        let mut all = [_mm512_setzero_si512(); 4];
        for $part in 0..4 {
            all[$part] = $value;
        }
        all
    }};
}

/// The part of [`KeyTable`] that is needed to find keys, in registers.
#[derive(Clone, Copy)]
pub(crate) struct KeyLookup {
    round: __m512i,
    /// The bits of slot offsets.
    mask: __m512i,
    group_shift: __m128i,
    /// The displacements, if they fit in two registers.
    few: Option<(__m512i, __m512i)>,
    displacements: *const i32,
}

impl TextIsa for Avx512 {
    type Faults = __m512i;
    type KeyLookup<'a> = KeyLookup;

    #[inline(always)]
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<Found> {
        // SAFETY: promised by the caller; a block extends at most 63 bytes beyond the text, within its margin.
        unsafe {
            let delimiters = _mm512_set1_epi8(delimiter as i8);
            let line_feeds = _mm512_set1_epi8(b'\n' as i8);
            let indexes = _mm512_loadu_si512(BYTE_INDEXES.as_ptr().cast());
            let mut base = _mm256_set1_epi16(1);
            let mut next = out;
            let mut at = 0;
            while at < text.len() {
                let bytes = _mm512_loadu_si512(text.as_ptr().add(at).cast());
                let is_separator = _mm512_cmpeq_epi8_mask(bytes, delimiters);
                let marks = _kor_mask64(is_separator, _mm512_cmpeq_epi8_mask(bytes, line_feeds));
                let packed = _mm512_maskz_compress_epi8(marks, indexes);
                let positions = _mm256_add_epi16(_mm256_cvtepu8_epi16(_mm512_castsi512_si128(packed)), base);
                _mm256_storeu_si256(next.cast(), positions);
                let count = marks.count_ones() as usize;
                if count > 16 {
                    if count > 32 {
                        return None;
                    }
                    let more = _mm512_extracti32x4_epi32::<1>(packed);
                    let positions = _mm256_add_epi16(_mm256_cvtepu8_epi16(more), base);
                    _mm256_storeu_si256(next.add(16).cast(), positions);
                }
                base = _mm256_add_epi16(base, _mm256_set1_epi16(64));
                next = next.add(count);
                at += 64;
            }
            let mut rows = next.offset_from(out) as usize / 2;
            // The last block may extend beyond the text.
            while rows > 0 && usize::from(*out.add(2 * rows - 1)) > text.len() {
                rows -= 1;
            }
            // Delimiters and line feeds alternate: otherwise the numbers have faults.
            Some(Found { rows, one_delimiter_each: true })
        }
    }

    #[inline(always)]
    unsafe fn no_faults() -> __m512i {
        // SAFETY: promised by the caller.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn is_any(faults: __m512i) -> bool {
        // SAFETY: promised by the caller.
        unsafe { _mm512_test_epi64_mask(faults, faults) != 0 }
    }

    /// Parses the last eight bytes of each row, such as `me;12.3\n` or `;-12.3\n`, using the row's marks.
    #[inline(always)]
    unsafe fn numbers(text: *const u8, marks: *mut u16, delimiter: u8, faults: __m512i, out: *mut i16) -> __m512i {
        /// The truth table of a three-way OR.
        const OR: i32 = 0xfe;
        // SAFETY: promised by the caller; a word starts at most eight bytes before the text, within its margin. The
        // tables are as large as registers.
        unsafe {
            let set = |bytes: [u8; 4]| _mm512_set1_epi32(i32::from_le_bytes(bytes));
            let pair = |at: usize| _mm_unpacklo_epi64(last_word(text, marks, at), last_word(text, marks, at + 1));
            let words_low = side_by_side(pair(0), pair(2), pair(4), pair(6));
            let words_high = side_by_side(pair(8), pair(10), pair(12), pair(14));
            let marks = _mm512_loadu_si512(marks.cast());
            let (even, odd) = (_mm512_loadu_si512(EVEN.as_ptr().cast()), _mm512_loadu_si512(ODD.as_ptr().cast()));
            // "2.3\n"
            let tails = _mm512_permutex2var_epi32(words_low, odd, words_high);
            let tails = _mm512_xor_si512(tails, set(*b"0.0\n"));
            // "me;1" or ";-1" from the delimiter on. If the delimiter is not in these bytes, the shift yields zeros,
            // which do not match the delimiter.
            let heads = _mm512_permutex2var_epi32(words_low, even, words_high);
            // 56 minus eight times the distance of delimiter and line feed: 24, 16 or 8.
            let starts = _mm512_madd_epi16(marks, _mm512_set1_epi32(0xfff8_0008_u32 as i32));
            let starts = _mm512_add_epi32(starts, _mm512_set1_epi32(56));
            let heads = _mm512_srlv_epi32(heads, starts);
            let distances = _mm512_xor_si512(heads, set([delimiter, b'-', 0, 0]));
            let negative = _mm512_testn_epi32_mask(distances, set([0, 0xff, 0, 0]));
            // After the delimiter and the minus there is one more digit if this is 16, or none if it is 24.
            let starts = _mm512_mask_add_epi32(starts, negative, starts, _mm512_set1_epi32(8));
            let two_digits = _mm512_cmpneq_epi32_mask(starts, _mm512_set1_epi32(24));
            let digit = _mm512_srli_epi32::<8>(heads);
            let digit = _mm512_mask_srli_epi32::<8>(digit, negative, digit);
            let tens = _mm512_maskz_sub_epi32(two_digits, digit, _mm512_set1_epi32(i32::from(b'0')));

            // (starts & !8) ^ 16
            let neither = _mm512_ternarylogic_epi32::<0x9a>(starts, _mm512_set1_epi32(8), _mm512_set1_epi32(16));
            let no_digits =
                _mm512_or_si512(_mm512_subs_epu8(tails, set([9, 0, 9, 0])), _mm512_subs_epu8(tens, set([9, 0, 0, 0])));
            let no_separator = _mm512_and_si512(distances, set([0xff, 0, 0, 0]));
            let faults = _mm512_ternarylogic_epi32::<OR>(faults, neither, no_digits);
            let faults = _mm512_or_si512(faults, no_separator);

            // The byte of the point has room for the tens.
            let digits = _mm512_or_si512(tails, _mm512_slli_epi32::<8>(tens));
            let sums = _mm512_maddubs_epi16(digits, set([10, 100, 1, 0]));
            let sums = _mm512_madd_epi16(sums, _mm512_set1_epi16(1));
            let signed = _mm512_mask_sub_epi32(sums, negative, _mm512_setzero_si512(), sums);
            _mm256_storeu_si256(out.cast(), _mm512_cvtepi32_epi16(signed));
            faults
        }
    }

    #[inline(always)]
    unsafe fn keys(text: *const u8, marks: *const u16, here: u16, out: *mut Key) -> u16 {
        // SAFETY: promised by the caller; a name is read up to sixteen bytes beyond the text, within its margin.
        unsafe {
            let indexes = _mm512_broadcast_i32x4(_mm_loadu_si128(BYTE_INDEXES.as_ptr().cast()));
            let own = _mm512_loadu_si512(marks.cast());
            let before = _mm512_loadu_si512(marks.sub(1).cast());
            let lengths = _mm512_sub_epi32(_mm512_sub_epi32(own, before), _mm512_set1_epi32(1));
            let lengths = _mm512_and_si512(lengths, _mm512_set1_epi32(0xffff));
            let wrapped = _mm512_sub_epi32(lengths, _mm512_set1_epi32(1));
            let other = _mm512_cmpge_epu32_mask(wrapped, _mm512_set1_epi32(SHORT as i32));
            let lengths = _mm512_maskz_mov_epi32(!(other | !here), lengths);
            for (part, spread) in SPREAD.iter().enumerate() {
                let name = |at: usize| {
                    let start = single(marks.add(2 * (4 * part + at)).sub(1));
                    _mm_loadu_si128(text.add(usize::from(start)).cast())
                };
                let names = side_by_side(name(0), name(1), name(2), name(3));
                let spread = _mm512_permutexvar_epi8(_mm512_loadu_si512(spread.as_ptr().cast()), lengths);
                let inside = _mm512_cmplt_epu8_mask(indexes, spread);
                let keys = _mm512_mask_blend_epi8(inside, _mm512_set1_epi8(PADDING as i8), names);
                _mm512_storeu_si512(out.add(4 * part).cast(), keys);
            }
            other
        }
    }

    #[inline(always)]
    unsafe fn list(bits: u16, first: u16, out: *mut u16) {
        // SAFETY: promised by the caller.
        unsafe {
            let counting = _mm256_cvtepu8_epi16(_mm_loadu_si128(BYTE_INDEXES.as_ptr().cast()));
            let numbered = _mm512_cvtepu16_epi32(_mm256_add_epi16(counting, _mm256_set1_epi16(first as i16)));
            let listed = _mm512_maskz_compress_epi32(bits, numbered);
            _mm256_storeu_si256(out.cast(), _mm512_cvtepi32_epi16(listed));
        }
    }

    #[inline(always)]
    unsafe fn digest(name: &[u8]) -> Key {
        // SAFETY: promised by the caller; a key has sixteen bytes.
        unsafe {
            let mut key = [0; 2];
            _mm_storeu_si128(key.as_mut_ptr().cast(), aes::digest_avx512(name.as_ptr(), name.len()));
            key
        }
    }

    #[inline(always)]
    unsafe fn equal(found: &[u8], name: &[u8]) -> bool {
        // SAFETY: promised by the caller.
        found.len() == name.len() && unsafe { aes::equal_avx512(found.as_ptr(), name.as_ptr(), name.len()) }
    }

    #[inline(always)]
    unsafe fn lookup(table: &KeyTable) -> KeyLookup {
        // SAFETY: promised by the caller; the displacements, if they are few, are as large as two registers.
        unsafe {
            let load = |few: &[u8; KeyTable::MAX_FEW_GROUPS]| {
                (_mm512_loadu_si512(few.as_ptr().cast()), _mm512_loadu_si512(few.as_ptr().add(64).cast()))
            };
            KeyLookup {
                round: _mm512_broadcast_i32x4(_mm_set_epi64x(aes::ROUND[1], aes::ROUND[0])),
                mask: _mm512_set1_epi32(((1 << table.bits) - 1) << SLOT_SHIFT),
                group_shift: _mm_cvtsi32_si128(32 - table.displacements.len().trailing_zeros() as i32),
                few: table.few.as_deref().map(load),
                displacements: table.displacements.as_ptr().cast(),
            }
        }
    }

    #[inline(always)]
    unsafe fn slots(keys: *const Key, skipped: u16, lookup: KeyLookup, out: *mut i32) {
        // SAFETY: promised by the caller. The shift keeps the group's number below the number of groups.
        unsafe {
            let mut mixed = four!(part => _mm512_loadu_si512(keys.add(4 * part).cast()));
            for _ in 0..aes::ROUNDS {
                mixed = four!(part => _mm512_aesenc_epi128(mixed[part], lookup.round));
            }
            let first_words = _mm512_loadu_si512(FIRST_WORDS.as_ptr().cast());
            let low = _mm512_permutex2var_epi32(mixed[0], first_words, mixed[1]);
            let high = _mm512_permutex2var_epi32(mixed[2], first_words, mixed[3]);
            let hashes = _mm512_inserti64x4::<1>(low, _mm512_castsi512_si256(high));
            let groups = _mm512_srl_epi32(hashes, lookup.group_shift);
            let displacements = match lookup.few {
                Some((low, high)) => _mm512_maskz_permutex2var_epi8(LOW_BYTES, low, groups, high),
                None => _mm512_i32gather_epi32::<4>(groups, lookup.displacements),
            };
            let moved = _mm512_mullo_epi32(_mm512_srli_epi32::<16>(hashes), displacements);
            let homes = _mm512_slli_epi32::<SLOT_SHIFT>(_mm512_add_epi32(hashes, moved));
            let offsets = _mm512_mask_and_epi32(_mm512_set1_epi32(SKIPPED), !skipped, homes, lookup.mask);
            _mm512_storeu_si512(out.cast(), offsets);
        }
    }

    #[inline(always)]
    unsafe fn differences<const CODES: bool>(
        keys: *const Key,
        slots: *const i32,
        table: *const u8,
        codes: *mut u32,
    ) -> u32 {
        let mut unequal = 0;
        for part in 0..4 {
            // SAFETY: promised by the caller.
            unsafe {
                let name = |at: usize| {
                    let slot = table.offset(*slots.add(4 * part + at) as isize).cast::<Slot>();
                    if CODES {
                        *codes.add(4 * part + at) = (*slot).code();
                    }
                    _mm_load_si128(slot.cast())
                };
                let found = side_by_side(name(0), name(1), name(2), name(3));
                let keys = _mm512_loadu_si512(keys.add(4 * part).cast());
                unequal |= u32::from(_mm512_cmpneq_epi64_mask(keys, found)) << (8 * part);
            }
        }
        unequal
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        // SAFETY: promised by the caller.
        unsafe { states::rows_at(values, slots, rows, first) }
    }
}

/// Loads one mark. Volatile, because the compiler would otherwise load eight of them at once and extract them from a
/// register, which costs twice as much.
///
/// # Safety
/// The mark is readable.
#[inline(always)]
pub(super) unsafe fn single(mark: *const u16) -> u16 {
    // SAFETY: as above.
    unsafe { mark.read_volatile() }
}

/// The last eight bytes of a row.
///
/// # Safety
/// The bytes are readable, and so are the row's marks.
#[inline(always)]
pub(super) unsafe fn last_word(text: *const u8, marks: *const u16, row: usize) -> __m128i {
    // SAFETY: promised by the caller; SSE2 is on every processor of the target.
    unsafe { _mm_loadl_epi64(text.add(usize::from(single(marks.add(2 * row + 1)))).wrapping_sub(8).cast()) }
}

/// Concatenates four registers.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline(always)]
unsafe fn side_by_side(a: __m128i, b: __m128i, c: __m128i, d: __m128i) -> __m512i {
    // SAFETY: promised by the caller.
    unsafe {
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }
}

/// 0, 2, 4 … 30.
static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

/// 1, 3, 5 … 31.
static ODD: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];

/// Indexes that repeat the low byte of each of four words sixteen times: one register for each four of sixteen words.
static SPREAD: [[u8; 64]; 4] = {
    let mut spread = [[0; 64]; 4];
    let mut at = 0;
    while at < 256 {
        spread[at / 64][at % 64] = (at / 16 * 4) as u8;
        at += 1;
    }
    spread
};

/// A mask of the low byte of each of sixteen words.
const LOW_BYTES: u64 = 0x1111_1111_1111_1111;

/// The indexes of the first word of four keys, and of four more in a second register.
static FIRST_WORDS: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0];
