//! Parses eight fields at once, one in each 64-bit lane.

use super::words::last_bytes;
use super::{FieldColumn, FloatShapes, Parsed};
use brc_core::decimal::{FLOAT_POWERS, POWERS};
use std::arch::x86_64::*;
use std::ops::Range;

/// The number of fields per register.
const LANES: usize = 8;

/// The number of fields that are loaded before they are parsed: reading back narrow stores with a wide load too soon
/// would stall.
pub(super) const LOADED: usize = 64;

/// The maximum length of a field in bytes.
pub(super) const WIDTH: usize = 16;

/// `-` and `.` after the XOR that maps `0` to 0.
pub(super) const MINUS: i64 = (b'-' ^ b'0') as i64;
pub(super) const POINT: i8 = (b'.' ^ b'0') as i8;

/// The loaded ends of fields.
pub(super) struct Loaded {
    /// The last 16 bytes up to the end of each field.
    pub(super) words: [[u8; WIDTH]; LOADED],
    pub(super) lengths: [u64; LOADED],
}

/// The digits of eight fields, right-aligned in sixteen bytes: `low` has the first eight bytes and `high` the last
/// eight.
#[derive(Clone, Copy)]
struct Digits {
    high: __m512i,
    low: __m512i,
    length: __m512i,
    /// Lanes that start with a minus. The minus becomes a zero, like all bytes before the field.
    negative: __mmask8,
    /// The first digit; the byte after the minus, if there is one.
    first: __m512i,
    /// Lanes of fields that are empty or too long.
    odd: __mmask8,
    /// Whether some field has more than eight bytes.
    is_long: bool,
}

/// Numbers, with the counts of digits before and after the point.
struct Numbers {
    /// All digits as one unsigned number.
    values: __m512i,
    decimals: __m512i,
    /// The number of digits before the point.
    whole: __m512i,
    odd: __mmask8,
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
pub(super) fn integers(column: &FieldColumn<'_>, out: &mut Vec<i64>) -> Parsed {
    each(column, out, |digits| {
        let odd = digits.odd | leading_zero(&digits, digits.length);
        let (values, not_digits) = value(&digits);
        let bare = _mm512_mask_testn_epi64_mask(digits.negative, digits.first, digits.first);
        (signed(values, digits.negative), odd | not_digits | bare, 0)
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
pub(super) fn decimals(column: &FieldColumn<'_>, scale: u8, digits: u8, exact: bool, out: &mut Vec<i64>) -> Parsed {
    let set = |value: i64| _mm512_set1_epi64(value);
    let most = set(10i64.pow(digits.into()));
    each(column, out, |digits| {
        let numbers = numbers(&digits);
        let missing = _mm512_sub_epi64(set(scale.into()), numbers.decimals);
        let too_many = _mm512_cmplt_epi64_mask(missing, _mm512_setzero_si512());
        let too_long = _mm512_cmpgt_epi64_mask(numbers.whole, set(18 - i64::from(scale)));
        let mut odd = numbers.odd | too_many | too_long;
        let altered = _mm512_test_epi64_mask(missing, missing) & !odd;
        let mut values = numbers.values;
        if altered != 0 {
            // SAFETY: fields that are not odd miss at most all decimals, so they index existing entries.
            let powers = unsafe { _mm512_mask_i64gather_epi64::<8>(set(1), altered, missing, POWERS.as_ptr()) };
            values = _mm512_mullo_epi64(values, powers);
        }
        odd |= _mm512_cmpge_epi64_mask(values, most) | if exact { altered } else { 0 };
        (signed(values, digits.negative), odd, altered & !odd)
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
pub(super) fn floats(column: &FieldColumn<'_>, exact: bool, out: &mut Vec<f64>, shapes: &mut FloatShapes) -> Parsed {
    let set = |value: i64| _mm512_set1_epi64(value);
    let (mut most_whole, mut most_decimals) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let mut least_decimals = set(u8::MAX.into());
    // SAFETY: the table has sixteen entries.
    let powers = unsafe { (_mm512_loadu_pd(FLOAT_POWERS.as_ptr()), _mm512_loadu_pd(FLOAT_POWERS[LANES..].as_ptr())) };
    let parsed = each(column, out, |digits| {
        let Numbers { values, decimals, whole, mut odd } = numbers(&digits);
        odd |= _mm512_cmpgt_epi64_mask(_mm512_add_epi64(whole, decimals), set(15));
        // Both operands are exact, so the quotient is the float nearest to the number.
        let power = _mm512_permutex2var_pd(powers.0, decimals, powers.1);
        let floats = _mm512_div_pd(_mm512_cvtepi64_pd(values), power);
        // Smaller floats are written with an exponent.
        let small = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(floats, _mm512_set1_pd(1e-4));
        odd |= small & _mm512_test_epi64_mask(values, values);
        let last_is_zero = _mm512_testn_epi64_mask(digits.high, set(0xff << 56));
        let without = _mm512_testn_epi64_mask(decimals, decimals);
        let altered = without | (last_is_zero & _mm512_cmpgt_epi64_mask(decimals, set(1)));
        odd |= if exact { altered } else { 0 };
        let whole = _mm512_maskz_mov_epi64(_mm512_test_epi64_mask(digits.first, digits.first), whole);
        most_whole = _mm512_mask_max_epu64(most_whole, !odd, most_whole, whole);
        most_decimals = _mm512_mask_max_epu64(most_decimals, !odd, most_decimals, decimals);
        least_decimals = _mm512_mask_min_epu64(least_decimals, !odd, least_decimals, decimals);
        let sign = _mm512_maskz_mov_epi64(digits.negative, set(i64::MIN));
        (_mm512_or_si512(_mm512_castpd_si512(floats), sign), odd, altered & !odd)
    });
    shapes.most = [_mm512_reduce_max_epu64(most_whole) as u8, _mm512_reduce_max_epu64(most_decimals) as u8];
    shapes.least_decimals = _mm512_reduce_min_epu64(least_decimals) as u8;
    parsed
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
pub(super) fn dates(column: &FieldColumn<'_>, out: &mut Vec<i64>) -> Parsed {
    const DASHES: i64 = i64::from_le_bytes([0, 0, 0xff, 0, 0, 0xff, 0, 0]);
    let set = |value: i64| _mm512_set1_epi64(value);
    let (dashes, expected) = (set(DASHES), set(DASHES & (MINUS * 0x0101_0101_0101_0101)));
    // The number of days before each month, in years that start in March. Entries without a month are 0.
    let table = |entries: [i32; 16]| {
        // SAFETY: the array is as large as the register.
        unsafe { _mm512_loadu_si512(entries.as_ptr().cast()) }
    };
    let before = table([0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 0, 0, 0]);
    let days_in = table([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0]);
    each(column, out, |digits| {
        let not_dashes = _mm512_cmpneq_epi64_mask(_mm512_and_si512(digits.high, dashes), expected);
        let high = _mm512_andnot_si512(dashes, digits.high);
        let century = _mm512_srli_epi64::<48>(digits.low);
        let mut odd = digits.odd
            | _mm512_cmpneq_epi64_mask(digits.length, set(10))
            | not_dashes
            | not_digits(high)
            | not_digits(century);
        let weights = set(i64::from_le_bytes([10, 1, 0, 10, 1, 0, 10, 1]));
        let pairs = _mm512_maddubs_epi16(high, weights);
        let low16 = |value: __m512i| _mm512_and_si512(value, set(0xffff));
        let century = _mm512_maddubs_epi16(century, set(0x010a));
        let year = _mm512_add_epi64(_mm512_mul_epu32(century, set(100)), low16(pairs));
        let tens_and_ones = _mm512_add_epi64(_mm512_srli_epi64::<16>(pairs), _mm512_srli_epi64::<32>(pairs));
        let month = low16(tens_and_ones);
        let day = _mm512_srli_epi64::<48>(pairs);
        let of_month = |table: __m512i| _mm512_and_si512(_mm512_permutexvar_epi32(month, table), set(0xffff_ffff));
        odd |= _mm512_cmpgt_epi64_mask(month, set(12)) | _mm512_testn_epi64_mask(year, year);
        odd |= _mm512_testn_epi64_mask(day, day) | _mm512_cmpgt_epi64_mask(day, of_month(days_in));
        let is_later = _mm512_cmple_epi64_mask(month, set(2));
        let year = _mm512_mask_sub_epi64(year, is_later, year, set(1));
        // Division by a hundred, exact up to 43,698.
        let centuries = _mm512_srli_epi64::<19>(_mm512_mul_epu32(year, set(5243)));
        let leap_days = _mm512_sub_epi64(_mm512_srli_epi64::<2>(year), centuries);
        let leap_days = _mm512_add_epi64(leap_days, _mm512_srli_epi64::<2>(centuries));
        let days = _mm512_add_epi64(_mm512_mul_epu32(year, set(365)), leap_days);
        let of_year = _mm512_add_epi64(of_month(before), day);
        (_mm512_add_epi64(_mm512_add_epi64(days, of_year), set(-719_469)), odd, 0)
    })
}

#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
pub(super) fn strings(column: &FieldColumn<'_>, ranges: &mut Vec<Range<usize>>) -> Vec<u32> {
    let contains = |range: Range<usize>, byte: u8| {
        let (bytes, mut found) = (&column.text[range], 0);
        for at in (0..bytes.len()).step_by(64) {
            let inside = _bzhi_u64(u64::MAX, (bytes.len() - at).min(64) as u32);
            // SAFETY: only bytes of the slice are read.
            let bytes = unsafe { _mm512_maskz_loadu_epi8(inside, bytes.as_ptr().add(at).cast()) };
            found |= _mm512_mask_cmpeq_epi8_mask(inside, bytes, _mm512_set1_epi8(byte as i8));
        }
        found != 0
    };
    column.strings_by(contains, ranges)
}

/// Parses all fields, eight at once. `parse` returns their values, the odd lanes, and which of the others would be
/// written differently.
#[inline(always)]
fn each<T: Copy + Default>(
    column: &FieldColumn<'_>,
    out: &mut Vec<T>,
    mut parse: impl FnMut(Digits) -> (__m512i, __mmask8, __mmask8),
) -> Parsed {
    const { assert!(size_of::<T>() == 8, "a value is as long as a lane") };
    let rows = column.starts.len();
    let first = out.len();
    // Whole registers are written.
    out.resize(first + rows + LANES, T::default());
    let mut parsed = Parsed::default();
    let mut loaded = Loaded::new();
    for start in (0..rows).step_by(LOADED) {
        let count = LOADED.min(rows - start);
        loaded.fill(column, start, count);
        for at in (0..count).step_by(LANES) {
            // SAFETY: the callers have these instructions.
            let (values, odd, altered) = parse(unsafe { loaded.digits(at) });
            let inside = ((1u32 << (count - at).min(LANES)) - 1) as u8;
            let place = &mut out[first + start + at..][..LANES];
            // SAFETY: there is room for eight values of eight bytes.
            unsafe { _mm512_storeu_si512(place.as_mut_ptr().cast(), values) };
            parsed.altered += u64::from((altered & inside).count_ones());
            let mut odd = odd & inside;
            while odd != 0 {
                parsed.odd.push((start + at) as u32 + odd.trailing_zeros());
                odd &= odd - 1;
            }
        }
    }
    out.truncate(first + rows);
    parsed
}

impl Loaded {
    pub(super) fn new() -> Self {
        Self { words: [[0; WIDTH]; LOADED], lengths: [0; LOADED] }
    }

    /// Loads the fields of `count` rows.
    #[inline(always)]
    pub(super) fn fill(&mut self, column: &FieldColumn<'_>, first: usize, count: usize) {
        for at in 0..count {
            let (start, end) = column.range(first + at);
            self.words[at] = match column.text.get(end.wrapping_sub(WIDTH)..end).and_then(<[u8]>::first_chunk) {
                Some(bytes) => *bytes,
                None => last_bytes(&column.text[..end]),
            };
            self.lengths[at] = (end - start) as u64;
        }
        for length in &mut self.lengths[count..] {
            *length = 0;
        }
    }

    /// The digits of eight loaded fields.
    ///
    /// # Safety
    /// The processor has AVX-512 F and BW.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
    unsafe fn digits(&self, at: usize) -> Digits {
        let set = |value: i64| _mm512_set1_epi64(value);
        let (words, lengths) = (&self.words[at..at + LANES], &self.lengths[at..at + LANES]);
        // SAFETY: eight times sixteen bytes, and eight times eight.
        let (front, back, length) = unsafe {
            let words: *const u8 = words.as_ptr().cast();
            (
                _mm512_loadu_si512(words.cast()),
                _mm512_loadu_si512(words.add(64).cast()),
                _mm512_loadu_si512(lengths.as_ptr().cast()),
            )
        };
        let zeros = _mm512_set1_epi8(b'0' as i8);
        let every_second = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
        let high = _mm512_permutex2var_epi64(front, _mm512_add_epi64(every_second, set(1)), back);
        let low = _mm512_permutex2var_epi64(front, every_second, back);
        let bits = _mm512_slli_epi64::<3>(length);
        let cut = |word: __m512i, before: __m512i| {
            _mm512_sllv_epi64(_mm512_srlv_epi64(_mm512_xor_si512(word, zeros), before), before)
        };
        // The number of bits of each word before the field; all bits of the low word if the field is short. Shifts by
        // more bits than a word has yield zero.
        let before_high = _mm512_maskz_sub_epi64(_mm512_cmple_epu64_mask(length, set(8)), set(64), bits);
        let before_low = _mm512_sub_epi64(set(128), bits);
        let is_long = _mm512_cmpgt_epu64_mask(length, set(8));
        let odd = _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(length, set(1)), set(WIDTH as i64 - 1));
        let (high, low) = (cut(high, before_high), cut(low, before_low));
        // The word from the first byte on, which must contain the first two bytes.
        let from_first = _mm512_srlv_epi64(high, before_high);
        let across = _mm512_or_si512(_mm512_srlv_epi64(low, before_low), _mm512_slli_epi64::<8>(high));
        let nine = _mm512_cmpeq_epi64_mask(length, set(9));
        let long = _mm512_mask_blend_epi64(nine, _mm512_srlv_epi64(low, before_low), across);
        let from_first = _mm512_mask_blend_epi64(is_long, from_first, long);
        let byte = |word: __m512i| _mm512_and_si512(word, set(0xff));
        let negative = _mm512_cmpeq_epi64_mask(byte(from_first), set(MINUS));
        let first = _mm512_mask_srli_epi64::<8>(from_first, negative, from_first);
        // The minus becomes a zero.
        let minus = |before: __m512i, mask: __mmask8| _mm512_maskz_sllv_epi64(mask, set(0xff), before);
        Digits {
            high: _mm512_andnot_si512(minus(before_high, negative & !is_long), high),
            low: _mm512_andnot_si512(minus(before_low, negative & is_long), low),
            length,
            negative,
            first: byte(first),
            odd,
            is_long: is_long != 0,
        }
    }
}

/// Splits numbers at their decimal points.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi1,bmi2")]
fn numbers(digits: &Digits) -> Numbers {
    let set = |value: i64| _mm512_set1_epi64(value);
    let ones = set(-1);
    // The number of bits after the last point; 64 if there is none.
    let after =
        |word: __m512i| _mm512_lzcnt_epi64(_mm512_movm_epi8(_mm512_cmpeq_epi8_mask(word, _mm512_set1_epi8(POINT))));
    // Shifts the digits before the point by one byte, over the point.
    let close = |word: __m512i, moved: __m512i, after: __m512i| {
        _mm512_ternarylogic_epi64::<0xca>(_mm512_srlv_epi64(ones, after), moved, word)
    };
    let Digits { high, low, .. } = *digits;
    let behind_high = after(high);
    let in_high = _mm512_cmplt_epu64_mask(behind_high, set(64));
    let moved_high = _mm512_or_si512(_mm512_slli_epi64::<8>(high), _mm512_srli_epi64::<56>(low));
    let mut closed = Digits { high: close(high, moved_high, behind_high), ..*digits };
    let (mut decimals, mut has_point) = (_mm512_maskz_srli_epi64::<3>(in_high, behind_high), in_high);
    if digits.is_long {
        let behind_low = after(low);
        let in_low = _mm512_cmplt_epu64_mask(behind_low, set(64)) & !in_high;
        let moved_low = _mm512_slli_epi64::<8>(low);
        let behind_low = _mm512_mask_mov_epi64(behind_low, in_high, _mm512_setzero_si512());
        closed.low = close(low, moved_low, behind_low);
        let of_low = _mm512_add_epi64(_mm512_srli_epi64::<3>(behind_low), set(8));
        decimals = _mm512_mask_mov_epi64(decimals, in_low, of_low);
        has_point |= in_low;
    }
    let one = set(1);
    let without_sign = _mm512_mask_sub_epi64(digits.length, digits.negative, digits.length, one);
    let count = _mm512_mask_sub_epi64(without_sign, has_point, without_sign, one);
    let whole = _mm512_sub_epi64(count, decimals);
    let (values, not_digits) = value(&closed);
    // No digits before or after the point, or negative zero.
    let bare = _mm512_testn_epi64_mask(whole, whole) | (has_point & _mm512_testn_epi64_mask(decimals, decimals));
    let negative_zero = _mm512_mask_testn_epi64_mask(digits.negative, values, values);
    let odd = digits.odd | not_digits | bare | negative_zero | leading_zero(digits, whole);
    Numbers { values, decimals, whole, odd }
}

/// Lanes with a leading zero, given the number of digits before the point.
#[inline]
#[target_feature(enable = "avx512f")]
fn leading_zero(digits: &Digits, whole: __m512i) -> __mmask8 {
    let zero = _mm512_testn_epi64_mask(digits.first, digits.first);
    zero & _mm512_cmpgt_epi64_mask(whole, _mm512_set1_epi64(1))
}

/// The number formed by sixteen digits, and the lanes with other bytes than digits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn value(digits: &Digits) -> (__m512i, __mmask8) {
    let high = eight(digits.high);
    if !digits.is_long {
        return (high, not_digits(digits.high));
    }
    let low = _mm512_mul_epu32(eight(digits.low), _mm512_set1_epi64(100_000_000));
    (_mm512_add_epi64(low, high), not_digits(digits.high) | not_digits(digits.low))
}

/// The number formed by eight digits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn eight(digits: __m512i) -> __m512i {
    let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
    let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064));
    _mm512_add_epi64(_mm512_mul_epu32(fours, _mm512_set1_epi64(10_000)), _mm512_srli_epi64::<32>(fours))
}

/// Lanes with bytes above nine.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn not_digits(digits: __m512i) -> __mmask8 {
    let carried = _mm512_or_si512(digits, _mm512_adds_epu8(digits, _mm512_set1_epi8(6)));
    _mm512_test_epi64_mask(carried, _mm512_set1_epi8(0xf0u8 as i8))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn signed(values: __m512i, negative: __mmask8) -> __m512i {
    _mm512_mask_sub_epi64(values, negative, _mm512_setzero_si512(), values)
}
