//! Parses the numbers and takes the names of a tile's rows, sixteen rows at a time.
//!
//! Arrays are written out: `array::map` is not compiled for these instructions, and what it calls is inlined or not by chance.

use super::Tile;
use crate::cpu::PLACES;
use crate::interner::{PADDING, SHORT};
use std::arch::x86_64::*;

impl Tile {
    /// Writes the numbers, and returns whether every row is `name;number` with a plain number; only the names are not
    /// looked at.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    pub(super) unsafe fn parse_numbers(&self, text: *const u8, delimiter: u8, rows: usize, numbers: *mut i16) -> bool {
        let mut parser = Numbers::new(delimiter);
        // SAFETY: the marks are filled up to a whole group; a word starts at most eight bytes before the text, inside
        // its margin; `numbers` has room for a whole group.
        unsafe {
            let marks = self.marks.as_ptr().add(Self::FIRST);
            for row in (0..rows).step_by(16) {
                let end = |at: usize| text.add(usize::from(single(marks.add(2 * (row + at) + 1))));
                let words = [
                    last_words(end(0), end(1), end(2), end(3)),
                    last_words(end(4), end(5), end(6), end(7)),
                    last_words(end(8), end(9), end(10), end(11)),
                    last_words(end(12), end(13), end(14), end(15)),
                ];
                let values = parser.parse(_mm512_loadu_si512(marks.add(2 * row).cast()), words);
                _mm256_storeu_si256(numbers.add(row).cast(), values);
            }
        }
        parser.all_plain()
    }

    /// Writes the keys of all short names, and lists the rows with other names as if they were long.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,popcnt")]
    #[inline]
    pub(super) unsafe fn take_keys(&mut self, text: *const u8, rows: usize) -> usize {
        let mut others = 0;
        // SAFETY: the marks are filled up to a whole group; a name is read up to sixteen bytes behind the text, inside
        // its margin.
        unsafe {
            let marks = self.marks.as_ptr().add(Self::FIRST);
            let places = _mm512_broadcast_i32x4(_mm_loadu_si128(PLACES.as_ptr().cast()));
            for row in (0..rows).step_by(16) {
                let here = if rows - row >= 16 { !0u16 } else { (1 << (rows - row)) - 1 };
                let own = _mm512_loadu_si512(marks.add(2 * row).cast());
                let before = _mm512_loadu_si512(marks.add(2 * row).sub(1).cast());
                let lengths = _mm512_sub_epi32(_mm512_sub_epi32(own, before), _mm512_set1_epi32(1));
                let lengths = _mm512_and_si512(lengths, _mm512_set1_epi32(0xffff));
                let wrapped = _mm512_sub_epi32(lengths, _mm512_set1_epi32(1));
                let other = _mm512_cmpge_epu32_mask(wrapped, _mm512_set1_epi32(SHORT as i32));
                let left_out = other | !here;
                self.left_out[row / 16] = left_out;
                let numbered =
                    _mm512_add_epi32(_mm512_loadu_si512(COUNTING.as_ptr().cast()), _mm512_set1_epi32(row as i32));
                let listed = _mm512_maskz_compress_epi32(other & here, numbered);
                _mm256_storeu_si256(self.long.as_mut_ptr().add(others).cast(), _mm512_cvtepi32_epi16(listed));
                others += (other & here).count_ones() as usize;
                let lengths = _mm512_maskz_mov_epi32(!left_out, lengths);
                for (part, spread) in SPREAD.iter().enumerate() {
                    let start = |at: usize| single(marks.add(2 * (row + 4 * part + at)).sub(1));
                    let name = |at: usize| _mm_loadu_si128(text.add(usize::from(start(at))).cast());
                    let names = side_by_side([name(0), name(1), name(2), name(3)]);
                    let spread = _mm512_permutexvar_epi8(_mm512_loadu_si512(spread.as_ptr().cast()), lengths);
                    let inside = _mm512_cmplt_epu8_mask(places, spread);
                    let keys = _mm512_mask_blend_epi8(inside, _mm512_set1_epi8(PADDING as i8), names);
                    _mm512_storeu_si512(self.keys.as_mut_ptr().add(row + 4 * part).cast(), keys);
                }
            }
        }
        others
    }
}

/// One mark. Volatile, because the compiler would rather load eight of them at once and take them out of a register, which
/// costs twice as much.
///
/// # Safety
/// It is readable.
#[inline(always)]
unsafe fn single(mark: *const u16) -> u16 {
    // SAFETY: as above.
    unsafe { mark.read_volatile() }
}

/// Four registers as one.
#[target_feature(enable = "avx512f")]
#[inline]
fn side_by_side(parts: [__m128i; 4]) -> __m512i {
    let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(parts[0]), parts[1]);
    let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(parts[2]), parts[3]);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// The eight bytes before each of four places.
///
/// # Safety
/// They are readable.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn last_words(a: *const u8, b: *const u8, c: *const u8, d: *const u8) -> __m256i {
    // SAFETY: as above.
    let word = |end: *const u8| unsafe { _mm_loadl_epi64(end.wrapping_sub(8).cast()) };
    let low = _mm256_castsi128_si256(_mm_unpacklo_epi64(word(a), word(b)));
    _mm256_inserti128_si256::<1>(low, _mm_unpacklo_epi64(word(c), word(d)))
}

/// The truth table of three bits of which any is set.
const OR: i32 = 0xfe;

/// Parses numbers, and remembers whether all of them were plain.
struct Numbers {
    delimiter: u8,
    /// All zeros as long as everything was plain.
    faults: __m512i,
}

impl Numbers {
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn new(delimiter: u8) -> Self {
        Self { delimiter, faults: _mm512_setzero_si512() }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn all_plain(&self) -> bool {
        _mm512_test_epi64_mask(self.faults, self.faults) == 0
    }

    /// The numbers of sixteen rows from their marks and the last eight bytes of each, such as `me;12.3\n` or `;-12.3\n`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    #[inline]
    fn parse(&mut self, marks: __m512i, words: [__m256i; 4]) -> __m256i {
        let set = |bytes: [u8; 4]| _mm512_set1_epi32(i32::from_le_bytes(bytes));
        let both = |low, high| _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        let words = [both(words[0], words[1]), both(words[2], words[3])];
        // SAFETY: both are sixteen readable words.
        let (even, odd) =
            unsafe { (_mm512_loadu_si512(EVEN.as_ptr().cast()), _mm512_loadu_si512(ODD.as_ptr().cast())) };
        // "2.3\n"
        let tails = _mm512_permutex2var_epi32(words[0], odd, words[1]);
        let tails = _mm512_xor_si512(tails, set([b'0', b'.', b'0', b'\n']));
        // "me;1" or ";-1" from the delimiter on. Where it is not there at all, shifting by as much leaves nothing, and
        // nothing is no delimiter.
        let heads = _mm512_permutex2var_epi32(words[0], even, words[1]);
        // 56 less eight times the distance of delimiter and line feed: 24, 16 or 8.
        let starts = _mm512_madd_epi16(marks, _mm512_set1_epi32(0xfff8_0008_u32 as i32));
        let starts = _mm512_add_epi32(starts, _mm512_set1_epi32(56));
        let heads = _mm512_srlv_epi32(heads, starts);
        let distances = _mm512_xor_si512(heads, set([self.delimiter, b'-', 0, 0]));
        let negative = _mm512_testn_epi32_mask(distances, set([0, 0xff, 0, 0]));
        // Behind the delimiter and the minus stand one more digit, if this is 16, or none, if it is 24.
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
        self.faults = _mm512_ternarylogic_epi32::<OR>(self.faults, neither, no_digits);
        self.faults = _mm512_or_si512(self.faults, no_separator);

        // Where the point was is room for the tens.
        let digits = _mm512_or_si512(tails, _mm512_slli_epi32::<8>(tens));
        let sums = _mm512_maddubs_epi16(digits, set([10, 100, 1, 0]));
        let sums = _mm512_madd_epi16(sums, _mm512_set1_epi16(1));
        let signed = _mm512_mask_sub_epi32(sums, negative, _mm512_setzero_si512(), sums);
        _mm512_cvtepi32_epi16(signed)
    }
}

/// 0, 2, 4 … 30.
static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

/// 1, 3, 5 … 31.
static ODD: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];

/// 0, 1, 2 … 15.
static COUNTING: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Repeats the low bytes of four of sixteen words sixteen times each: one register for each four.
static SPREAD: [[u8; 64]; 4] = {
    let mut spread = [[0; 64]; 4];
    let mut at = 0;
    while at < 256 {
        spread[at / 64][at % 64] = (at / 16 * 4) as u8;
        at += 1;
    }
    spread
};
