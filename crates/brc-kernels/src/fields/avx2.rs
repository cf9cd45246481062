//! Parses four fields at once, one in each 64-bit lane, in the same steps as AVX-512, where they are explained.
//!
//! A lane is odd if any of its bits is set.

use super::avx512::{LOADED, Loaded, MINUS, POINT, WIDTH};
use super::{FieldColumn, FloatShapes, Parsed};
use crate::cpu::four_lanes;
use brc_core::decimal::{FLOAT_POWERS, POWERS};
use std::arch::x86_64::*;
use std::ops::Range;

/// The number of fields per register.
const LANES: usize = 4;

/// The digits of four fields, right-aligned in sixteen bytes: `low` has the first eight bytes and `high` the last
/// eight.
#[derive(Clone, Copy)]
struct Digits {
    high: __m256i,
    low: __m256i,
    length: __m256i,
    /// All ones in lanes that start with a minus. The minus becomes a zero, like all bytes before the field.
    negative: __m256i,
    /// The first digit; the byte after the minus, if there is one.
    first: __m256i,
    /// Lanes of fields that are empty or too long.
    odd: __m256i,
    /// Whether some field has more than eight bytes.
    is_long: bool,
}

/// Numbers, with the counts of digits before and after the point.
struct Numbers {
    /// All digits as one unsigned number.
    values: __m256i,
    decimals: __m256i,
    /// The number of digits before the point.
    whole: __m256i,
    odd: __m256i,
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn integers(column: &FieldColumn<'_>, out: &mut Vec<i64>) -> Parsed {
    each(column, out, |digits| {
        let (values, not_digits) = value(&digits);
        let bare = _mm256_and_si256(digits.negative, is_zero(digits.first));
        let odd = any(any(digits.odd, leading_zero(&digits, digits.length)), any(not_digits, bare));
        (signed(values, digits.negative), odd, _mm256_setzero_si256())
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn decimals(column: &FieldColumn<'_>, scale: u8, digits: u8, exact: bool, out: &mut Vec<i64>) -> Parsed {
    let most = set(10i64.pow(digits.into()) - 1);
    let (scale, most_whole) = (set(scale.into()), set(18 - i64::from(scale)));
    let exact = set(if exact { -1 } else { 0 });
    each(column, out, |digits| {
        let numbers = numbers(&digits);
        let missing = _mm256_sub_epi64(scale, numbers.decimals);
        let too_many = _mm256_cmpgt_epi64(_mm256_setzero_si256(), missing);
        let odd = any(numbers.odd, any(too_many, _mm256_cmpgt_epi64(numbers.whole, most_whole)));
        let mut values = numbers.values;
        if _mm256_testz_si256(missing, missing) == 0 {
            values = multiplied(values, missing);
        }
        let odd = any(odd, any(_mm256_cmpgt_epi64(values, most), _mm256_and_si256(missing, exact)));
        (signed(values, digits.negative), odd, missing)
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn floats(column: &FieldColumn<'_>, exact: bool, out: &mut Vec<f64>, shapes: &mut FloatShapes) -> Parsed {
    let (mut most_whole, mut most_decimals) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    let mut least_decimals = set(u8::MAX.into());
    let exact = set(if exact { -1 } else { 0 });
    let parsed = each(column, out, |digits| {
        let Numbers { values, decimals, whole, odd } = numbers(&digits);
        let odd = any(odd, _mm256_cmpgt_epi64(_mm256_add_epi64(whole, decimals), set(15)));
        // Both operands are exact, so the quotient is the float nearest to the number.
        let floats = _mm256_div_pd(as_floats(values), powers_of(decimals));
        // Smaller floats are written with an exponent.
        let small = _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(floats, _mm256_set1_pd(1e-4)));
        let odd = any(odd, _mm256_andnot_si256(is_zero(values), small));
        let last_is_zero = is_zero(_mm256_srli_epi64::<56>(digits.high));
        let altered = any(is_zero(decimals), _mm256_and_si256(last_is_zero, _mm256_cmpgt_epi64(decimals, set(1))));
        let odd = any(odd, _mm256_and_si256(altered, exact));
        // All of these values fit in a byte.
        let good = is_zero(odd);
        let whole = _mm256_and_si256(_mm256_andnot_si256(is_zero(digits.first), whole), good);
        most_whole = _mm256_max_epu8(most_whole, whole);
        most_decimals = _mm256_max_epu8(most_decimals, _mm256_and_si256(decimals, good));
        let or_most = _mm256_andnot_si256(good, set(u8::MAX.into()));
        least_decimals = _mm256_min_epu8(least_decimals, any(decimals, or_most));
        let sign = _mm256_and_si256(digits.negative, set(i64::MIN));
        (any(_mm256_castpd_si256(floats), sign), odd, altered)
    });
    let (most_whole, most_decimals, least_decimals) =
        (four_lanes(most_whole), four_lanes(most_decimals), four_lanes(least_decimals));
    shapes.most = [most_whole, most_decimals].map(|lanes| lanes.into_iter().max().unwrap_or(0) as u8);
    shapes.least_decimals = least_decimals.into_iter().map(|lane| lane as u8).min().unwrap_or(u8::MAX);
    parsed
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn dates(column: &FieldColumn<'_>, out: &mut Vec<i64>) -> Parsed {
    const DASHES: i64 = i64::from_le_bytes([0, 0, 0xff, 0, 0, 0xff, 0, 0]);
    let (dashes, expected) = (set(DASHES), set(DASHES & (MINUS * 0x0101_0101_0101_0101)));
    // The number of days before each month, in years that start in March; the second table is multiplied by 256. The
    // first entry is 0, which is looked up by all bytes of a month except the lowest.
    let table = |entries: [i8; 16]| {
        // SAFETY: the array is as large as half a register.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(entries.as_ptr().cast())) }
    };
    let before = table([0, 50, 81, 0, 31, 61, 92, 122, -103, -72, -42, -11, 19, 0, 0, 0]);
    let more_before = table([0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    let days_in = table([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0]);
    each(column, out, |digits| {
        let no_dashes = _mm256_xor_si256(_mm256_and_si256(digits.high, dashes), expected);
        let high = _mm256_andnot_si256(dashes, digits.high);
        let century = _mm256_srli_epi64::<48>(digits.low);
        let not_ten = _mm256_xor_si256(digits.length, set(10));
        let odd = any(any(digits.odd, not_ten), any(no_dashes, any(not_digits(high), not_digits(century))));
        let pairs = _mm256_maddubs_epi16(high, set(i64::from_le_bytes([10, 1, 0, 10, 1, 0, 10, 1])));
        let century = _mm256_maddubs_epi16(century, set(0x010a));
        let low16 = set(0xffff);
        let year = _mm256_add_epi64(_mm256_mul_epu32(century, set(100)), _mm256_and_si256(pairs, low16));
        let tens_and_ones = _mm256_add_epi64(_mm256_srli_epi64::<16>(pairs), _mm256_srli_epi64::<32>(pairs));
        let month = _mm256_and_si256(tens_and_ones, low16);
        let day = _mm256_srli_epi64::<48>(pairs);
        let too_late =
            any(_mm256_cmpgt_epi64(month, set(12)), _mm256_cmpgt_epi64(day, _mm256_shuffle_epi8(days_in, month)));
        let odd = any(odd, any(too_late, any(is_zero(year), is_zero(day))));
        // January and February belong to the previous year.
        let year = _mm256_add_epi64(year, _mm256_cmpgt_epi64(set(3), month));
        // Division by a hundred, exact up to 43,698.
        let centuries = _mm256_srli_epi64::<19>(_mm256_mul_epu32(year, set(5243)));
        let leap_days = _mm256_sub_epi64(_mm256_srli_epi64::<2>(year), centuries);
        let leap_days = _mm256_add_epi64(leap_days, _mm256_srli_epi64::<2>(centuries));
        let days = _mm256_add_epi64(_mm256_mul_epu32(year, set(365)), leap_days);
        let more = _mm256_slli_epi64::<8>(_mm256_shuffle_epi8(more_before, month));
        let of_year = _mm256_add_epi64(any(_mm256_shuffle_epi8(before, month), more), day);
        (_mm256_add_epi64(_mm256_add_epi64(days, of_year), set(-719_469)), odd, _mm256_setzero_si256())
    })
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
pub(super) fn strings(column: &FieldColumn<'_>, ranges: &mut Vec<Range<usize>>) -> Vec<u32> {
    let contains = |range: Range<usize>, byte: u8| {
        let mut found = 0;
        for at in range.clone().step_by(32) {
            let left = range.end - at;
            found |= match column.text.get(at..at + 32) {
                Some(block) => {
                    // SAFETY: the block is as large as the register.
                    let block = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
                    let equal = _mm256_movemask_epi8(_mm256_cmpeq_epi8(block, _mm256_set1_epi8(byte as i8)));
                    _bzhi_u32(equal as u32, left.min(32) as u32)
                }
                None => u32::from(column.text[at..range.end].contains(&byte)),
            };
        }
        found != 0
    };
    column.strings_by(contains, ranges)
}

/// Parses all fields, four at once. `parse` returns their values, the odd lanes, and the lanes that would be written
/// differently.
#[inline(always)]
fn each<T: Copy + Default>(
    column: &FieldColumn<'_>,
    out: &mut Vec<T>,
    mut parse: impl FnMut(Digits) -> (__m256i, __m256i, __m256i),
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
            let (odd, altered) = unsafe {
                let (values, odd, altered) = parse(digits(&loaded, at));
                let place = &mut out[first + start + at..][..LANES];
                _mm256_storeu_si256(place.as_mut_ptr().cast(), values);
                (some(odd), some(altered))
            };
            let inside = (1u32 << (count - at).min(LANES)) - 1;
            parsed.altered += u64::from((altered & !odd & inside).count_ones());
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

#[inline]
#[target_feature(enable = "avx2")]
fn set(value: i64) -> __m256i {
    _mm256_set1_epi64x(value)
}

#[inline]
#[target_feature(enable = "avx2")]
fn any(one: __m256i, other: __m256i) -> __m256i {
    _mm256_or_si256(one, other)
}

/// All ones in lanes that are 0.
#[inline]
#[target_feature(enable = "avx2")]
fn is_zero(lanes: __m256i) -> __m256i {
    _mm256_cmpeq_epi64(lanes, _mm256_setzero_si256())
}

/// A bit for each lane that is not 0.
#[inline]
#[target_feature(enable = "avx2")]
fn some(lanes: __m256i) -> u32 {
    !_mm256_movemask_pd(_mm256_castsi256_pd(is_zero(lanes))) as u32 & 0xf
}

/// Multiplies values by ten to the power of the number of missing decimals, or by 0 if that is out of range.
#[inline]
#[target_feature(enable = "avx2")]
fn multiplied(values: __m256i, missing: __m256i) -> __m256i {
    let mut products = four_lanes(values);
    for (product, missing) in products.iter_mut().zip(four_lanes(missing)) {
        *product = product.wrapping_mul(*POWERS.get(missing as usize).unwrap_or(&0));
    }
    // SAFETY: the array is as large as the register.
    unsafe { _mm256_loadu_si256(products.as_ptr().cast()) }
}

/// Converts integers below 2^52 to floats, by placing them in the lowest bits of a float whose last bit has the value
/// 1.
#[inline]
#[target_feature(enable = "avx2")]
fn as_floats(values: __m256i) -> __m256d {
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    let ones = _mm256_set1_pd(TWO_TO_52);
    _mm256_sub_pd(_mm256_castsi256_pd(any(values, _mm256_castpd_si256(ones))), ones)
}

/// Powers of ten for exponents up to fifteen.
#[inline]
#[target_feature(enable = "avx2")]
fn powers_of(exponents: __m256i) -> __m256d {
    let [a, b, c, d] = four_lanes(exponents);
    let power = |exponent: i64| FLOAT_POWERS[exponent as usize % FLOAT_POWERS.len()];
    _mm256_setr_pd(power(a), power(b), power(c), power(d))
}

/// The digits of four loaded fields.
#[inline]
#[target_feature(enable = "avx2")]
fn digits(loaded: &Loaded, at: usize) -> Digits {
    let (words, lengths) = (&loaded.words[at..at + LANES], &loaded.lengths[at..at + LANES]);
    // SAFETY: four times sixteen bytes, and four times eight.
    let (front, back, length) = unsafe {
        let words: *const u8 = words.as_ptr().cast();
        (
            _mm256_loadu_si256(words.cast()),
            _mm256_loadu_si256(words.add(32).cast()),
            _mm256_loadu_si256(lengths.as_ptr().cast()),
        )
    };
    let zeros = _mm256_set1_epi8(b'0' as i8);
    let in_order = |pairs: __m256i| _mm256_xor_si256(_mm256_permute4x64_epi64::<0b11_01_10_00>(pairs), zeros);
    let high = in_order(_mm256_unpackhi_epi64(front, back));
    let low = in_order(_mm256_unpacklo_epi64(front, back));
    let bits = _mm256_slli_epi64::<3>(length);
    let cut = |word: __m256i, before: __m256i| _mm256_sllv_epi64(_mm256_srlv_epi64(word, before), before);
    let is_long = _mm256_cmpgt_epi64(length, set(8));
    let before_high = _mm256_andnot_si256(is_long, _mm256_sub_epi64(set(64), bits));
    let before_low = _mm256_sub_epi64(set(128), bits);
    let odd = any(is_zero(length), _mm256_cmpgt_epi64(length, set(WIDTH as i64)));
    let (high, low) = (cut(high, before_high), cut(low, before_low));
    let from_low = _mm256_srlv_epi64(low, before_low);
    let nine = _mm256_cmpeq_epi64(length, set(9));
    let across = any(from_low, _mm256_and_si256(nine, _mm256_slli_epi64::<8>(high)));
    let from_first = _mm256_blendv_epi8(_mm256_srlv_epi64(high, before_high), across, is_long);
    let byte = |word: __m256i| _mm256_and_si256(word, set(0xff));
    let negative = _mm256_cmpeq_epi64(byte(from_first), set(MINUS));
    let first = _mm256_blendv_epi8(from_first, _mm256_srli_epi64::<8>(from_first), negative);
    // The minus becomes a zero.
    let minus = _mm256_and_si256(negative, set(0xff));
    let in_high = _mm256_sllv_epi64(_mm256_andnot_si256(is_long, minus), before_high);
    let in_low = _mm256_sllv_epi64(_mm256_and_si256(is_long, minus), before_low);
    Digits {
        high: _mm256_andnot_si256(in_high, high),
        low: _mm256_andnot_si256(in_low, low),
        length,
        negative,
        first: byte(first),
        odd,
        is_long: _mm256_testz_si256(is_long, is_long) == 0,
    }
}

/// The decimal point of each word.
struct Point {
    /// All ones if there is one.
    is_there: __m256i,
    /// All bits up to and including it.
    up_to: __m256i,
    /// The number of bytes after it.
    after: __m256i,
    /// Not 0 if there is a second one.
    odd: __m256i,
}

#[inline]
#[target_feature(enable = "avx2")]
fn point(word: __m256i) -> Point {
    let points = _mm256_cmpeq_epi8(word, _mm256_set1_epi8(POINT));
    let is_there = _mm256_andnot_si256(is_zero(points), set(-1));
    let up_to = _mm256_and_si256(is_there, any(points, _mm256_sub_epi64(points, set(1))));
    let ones = _mm256_andnot_si256(up_to, _mm256_set1_epi8(1));
    let after = _mm256_and_si256(is_there, _mm256_sad_epu8(ones, _mm256_setzero_si256()));
    let lowest = _mm256_and_si256(points, _mm256_sub_epi64(_mm256_setzero_si256(), points));
    let only = _mm256_sub_epi64(_mm256_slli_epi64::<8>(lowest), lowest);
    Point { is_there, up_to, after, odd: _mm256_xor_si256(points, only) }
}

/// Splits numbers at their decimal points.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers(digits: &Digits) -> Numbers {
    let Digits { high, low, .. } = *digits;
    let of_high = point(high);
    // Shifts the digits before the point by one byte, over the point.
    let moved_high = any(_mm256_slli_epi64::<8>(high), _mm256_srli_epi64::<56>(low));
    let mut closed = Digits { high: _mm256_blendv_epi8(high, moved_high, of_high.up_to), ..*digits };
    let (mut decimals, mut has_point, mut odd) = (of_high.after, of_high.is_there, any(digits.odd, of_high.odd));
    if digits.is_long {
        let of_low = point(low);
        closed.low = _mm256_blendv_epi8(low, _mm256_slli_epi64::<8>(low), any(of_low.up_to, of_high.is_there));
        let behind_low = _mm256_and_si256(of_low.is_there, _mm256_add_epi64(of_low.after, set(8)));
        decimals = _mm256_blendv_epi8(behind_low, decimals, of_high.is_there);
        odd = any(odd, any(of_low.odd, _mm256_and_si256(of_low.is_there, of_high.is_there)));
        has_point = any(has_point, of_low.is_there);
    }
    // Masks are -1 in lanes where they are set.
    let without_sign = _mm256_add_epi64(digits.length, digits.negative);
    let whole = _mm256_sub_epi64(_mm256_add_epi64(without_sign, has_point), decimals);
    let (values, not_digits) = value(&closed);
    // No digits before or after the point, or negative zero.
    let bare = any(is_zero(whole), _mm256_and_si256(has_point, is_zero(decimals)));
    let negative_zero = _mm256_and_si256(digits.negative, is_zero(values));
    odd = any(any(odd, not_digits), any(bare, any(negative_zero, leading_zero(digits, whole))));
    Numbers { values, decimals, whole, odd }
}

/// Lanes with a leading zero, given the number of digits before the point.
#[inline]
#[target_feature(enable = "avx2")]
fn leading_zero(digits: &Digits, whole: __m256i) -> __m256i {
    _mm256_and_si256(is_zero(digits.first), _mm256_cmpgt_epi64(whole, set(1)))
}

/// The number formed by sixteen digits, and the lanes with other bytes than digits.
#[inline]
#[target_feature(enable = "avx2")]
fn value(digits: &Digits) -> (__m256i, __m256i) {
    let high = eight(digits.high);
    if !digits.is_long {
        return (high, not_digits(digits.high));
    }
    let low = _mm256_mul_epu32(eight(digits.low), set(100_000_000));
    (_mm256_add_epi64(low, high), any(not_digits(digits.high), not_digits(digits.low)))
}

/// The number formed by eight digits.
#[inline]
#[target_feature(enable = "avx2")]
fn eight(digits: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064));
    _mm256_add_epi64(_mm256_mul_epu32(fours, set(10_000)), _mm256_srli_epi64::<32>(fours))
}

/// Not 0 in lanes with bytes above nine.
#[inline]
#[target_feature(enable = "avx2")]
fn not_digits(digits: __m256i) -> __m256i {
    let carried = any(digits, _mm256_adds_epu8(digits, _mm256_set1_epi8(6)));
    _mm256_and_si256(carried, _mm256_set1_epi8(0xf0u8 as i8))
}

#[inline]
#[target_feature(enable = "avx2")]
fn signed(values: __m256i, negative: __m256i) -> __m256i {
    _mm256_sub_epi64(_mm256_xor_si256(values, negative), negative)
}
