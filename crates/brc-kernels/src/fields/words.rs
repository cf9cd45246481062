//! One field after the other, as two words of eight bytes: for processors without AVX-512, and the twin of its kernels.
//!
//! No step depends on how many digits a field has, and none waits for the field before.

use super::{FieldColumn, FloatShapes, Parsed};
use crate::cpu::Kernel;
use brc_core::decimal::{FLOAT_POWERS, POWERS};

/// The bytes that a field may have.
const WIDTH: usize = 16;

const EACH: u64 = u64::from_le_bytes([1; 8]);

/// `-` and `.` as digits, of which `0` is 0.
const MINUS: u8 = b'-' ^ b'0';
const POINT: u8 = b'.' ^ b'0';

/// For each number of bytes: ones for as many at the end of both words.
static LAST: [[u64; 2]; WIDTH + 1] = {
    let mut last = [[0; 2]; WIDTH + 1];
    let mut count = 1;
    while count <= WIDTH {
        let ones = u128::MAX << (8 * (WIDTH - count));
        last[count] = [ones as u64, (ones >> 64) as u64];
        count += 1;
    }
    last
};

/// A field of 1 to [`WIDTH`] bytes.
#[derive(Clone, Copy)]
struct Field {
    /// The digits, right-aligned behind zeros: of the first eight and the last eight of sixteen bytes. A minus at the start
    /// has become a zero.
    low: u64,
    high: u64,
    /// How many bytes there are, without the minus.
    count: usize,
    is_negative: bool,
    /// The first digit, if there is one.
    first: u8,
}

impl Field {
    /// The field that ends with these bytes; nothing if it is empty or too long.
    #[inline(always)]
    fn new(bytes: &[u8; WIDTH], length: usize) -> Option<Self> {
        if length.wrapping_sub(1) >= WIDTH {
            return None;
        }
        let is_negative = bytes[WIDTH - length] == b'-';
        let count = length - usize::from(is_negative);
        let first = bytes[(WIDTH - count) % WIDTH] ^ b'0';
        let word = u128::from_le_bytes(*bytes);
        let zeros = EACH * u64::from(b'0');
        let [low, high] = LAST[count];
        let (low, high) = ((word as u64 ^ zeros) & low, ((word >> 64) as u64 ^ zeros) & high);
        Some(Self { low, high, count, is_negative, first })
    }

    /// The number that all bytes are; nothing if one is not a digit.
    #[inline(always)]
    fn value(&self) -> Option<i64> {
        let value = eight_digits(self.low) * 100_000_000 + eight_digits(self.high);
        (not_digits(self.low) | not_digits(self.high) == 0).then_some(value as i64)
    }

    #[inline(always)]
    fn signed(&self, value: i64) -> i64 {
        if self.is_negative { -value } else { value }
    }
}

/// A number with digits before the point and behind it.
struct Number {
    /// All digits as one number, without sign.
    value: i64,
    decimals: usize,
    /// How many digits there are before the point.
    whole: usize,
}

impl Number {
    /// Nothing if there are no digits before the point or behind it, other zeros before them, or a minus before zero.
    #[inline(always)]
    fn new(field: &Field) -> Option<Self> {
        let behind = bytes_behind_last(field, POINT);
        let has_point = behind < WIDTH;
        // What is before the point moves on by a byte, into its place.
        let [low, high] = LAST[behind];
        let moved = (field.low << 8, field.high << 8 | field.low >> 56);
        let closed =
            Field { low: moved.0 & !low | field.low & low, high: moved.1 & !high | field.high & high, ..*field };
        let decimals = if has_point { behind } else { 0 };
        let whole = field.count.wrapping_sub(decimals + usize::from(has_point));
        let value = closed.value()?;
        let is_bare = (whole == 0) | (has_point & (decimals == 0));
        let is_negative_zero = field.is_negative & (value == 0);
        let has_leading_zero = (field.first == 0) & (whole > 1);
        (!(is_bare | is_negative_zero | has_leading_zero)).then_some(Self { value, decimals, whole })
    }
}

/// How many bytes come after the last one that is the given one; [`WIDTH`] if there is none.
#[inline(always)]
fn bytes_behind_last(field: &Field, byte: u8) -> usize {
    const LOW_BITS: u64 = 0x7f * EACH;
    // The highest bit of each byte that is equal; no carry leaves a byte.
    let equal = |word: u64| {
        let difference = word ^ (EACH * u64::from(byte));
        !(((difference & LOW_BITS) + LOW_BITS) | difference | LOW_BITS)
    };
    let (low, high) = (equal(field.low), equal(field.high));
    let behind = if high != 0 { high.leading_zeros() } else { 64 + low.leading_zeros() };
    behind as usize / 8
}

/// The number that eight digits are.
#[inline(always)]
fn eight_digits(word: u64) -> u64 {
    const LOW_BYTES: u64 = 0x0000_00ff_0000_00ff;
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let upper = (pairs & LOW_BYTES).wrapping_mul(100 + (1_000_000 << 32));
    let lower = (pairs >> 16 & LOW_BYTES).wrapping_mul(1 + (10_000 << 32));
    upper.wrapping_add(lower) >> 32
}

/// Not 0 if some byte is above nine.
#[inline(always)]
fn not_digits(word: u64) -> u64 {
    (word | word.wrapping_add(6 * EACH)) & (0xf0 * EACH)
}

/// Parses all fields: `parse` gives the value of a field, and whether its text is another one than that of the value;
/// nothing if it is odd.
#[inline(always)]
fn each<T: Copy + Default>(
    column: &FieldColumn<'_>,
    out: &mut Vec<T>,
    mut parse: impl FnMut(&Field) -> Option<(T, bool)>,
) -> Parsed {
    let rows = column.starts.len();
    let first = out.len();
    out.resize(first + rows, T::default());
    let mut parsed = Parsed::default();
    for (row, value) in out[first..].iter_mut().enumerate() {
        let (start, end) = column.place(row);
        let bytes = match column.text.get(end.wrapping_sub(WIDTH)..end).and_then(<[u8]>::first_chunk) {
            Some(bytes) => *bytes,
            None => first_bytes(&column.text[..end]),
        };
        match Field::new(&bytes, end - start).as_ref().and_then(&mut parse) {
            Some((parsed_value, is_altered)) => {
                *value = parsed_value;
                parsed.altered += u64::from(is_altered);
            }
            None => parsed.odd.push(row as u32),
        }
    }
    parsed
}

/// The last sixteen bytes of a text, with zeros before its beginning.
#[cold]
pub(super) fn first_bytes(text: &[u8]) -> [u8; WIDTH] {
    let mut bytes = [0; WIDTH];
    bytes[WIDTH - text.len().min(WIDTH)..].copy_from_slice(&text[text.len() - text.len().min(WIDTH)..]);
    bytes
}

/// [`FieldColumn::integers`].
pub(super) struct Integers<'a, 't> {
    pub(super) column: &'a FieldColumn<'t>,
    pub(super) out: &'a mut Vec<i64>,
}

impl Kernel for Integers<'_, '_> {
    type Output = Parsed;

    #[inline(always)]
    fn run(self) -> Parsed {
        each(self.column, self.out, |field| {
            // Zeros before other digits, or a minus before a zero.
            let is_bare = (field.count == 0) | (field.first == 0) & ((field.count > 1) | field.is_negative);
            field.value().filter(|_| !is_bare).map(|value| (field.signed(value), false))
        })
    }
}

/// [`FieldColumn::decimals`].
pub(super) struct Decimals<'a, 't> {
    pub(super) column: &'a FieldColumn<'t>,
    pub(super) scale: u8,
    pub(super) digits: u8,
    pub(super) exact: bool,
    pub(super) out: &'a mut Vec<i64>,
}

impl Kernel for Decimals<'_, '_> {
    type Output = Parsed;

    #[inline(always)]
    fn run(self) -> Parsed {
        let Self { column, scale, digits, exact, out } = self;
        let (scale, most) = (usize::from(scale), POWERS[usize::from(digits)]);
        each(column, out, |field| {
            let Number { value, decimals, whole } = Number::new(field)?;
            let missing = scale.checked_sub(decimals)?;
            let value = value.wrapping_mul(*POWERS.get(missing)?);
            let is_odd = (whole + scale > 18) | (value >= most) | (exact & (missing > 0));
            (!is_odd).then_some((field.signed(value), missing > 0))
        })
    }
}

/// [`FieldColumn::floats`].
pub(super) struct Floats<'a, 't> {
    pub(super) column: &'a FieldColumn<'t>,
    pub(super) exact: bool,
    pub(super) out: &'a mut Vec<f64>,
    pub(super) shapes: &'a mut FloatShapes,
}

impl Kernel for Floats<'_, '_> {
    type Output = Parsed;

    #[inline(always)]
    fn run(self) -> Parsed {
        let Self { column, exact, out, shapes } = self;
        let FloatShapes { most: [mut most_whole, mut most_decimals], mut least_decimals } = FloatShapes::NONE;
        let parsed = each(column, out, |field| {
            let Number { value, decimals, whole } = Number::new(field)?;
            if whole + decimals > 15 {
                return None;
            }
            // Both are exact, so that the quotient is the float nearest to the number.
            let float = value as f64 / FLOAT_POWERS[decimals];
            // Smaller ones are written with an exponent.
            let is_small = (float < 1e-4) & (value != 0);
            let last_is_zero = field.high >> 56 == 0;
            let is_altered = (decimals == 0) | (last_is_zero & (decimals > 1));
            if is_small | (exact & is_altered) {
                return None;
            }
            most_whole = most_whole.max(if field.first == 0 { 0 } else { whole as u8 });
            most_decimals = most_decimals.max(decimals as u8);
            least_decimals = least_decimals.min(decimals as u8);
            Some((if field.is_negative { -float } else { float }, is_altered))
        });
        *shapes = FloatShapes { most: [most_whole, most_decimals], least_decimals };
        parsed
    }
}

/// [`FieldColumn::dates`].
pub(super) struct Dates<'a, 't> {
    pub(super) column: &'a FieldColumn<'t>,
    pub(super) out: &'a mut Vec<i64>,
}

impl Kernel for Dates<'_, '_> {
    type Output = Parsed;

    #[inline(always)]
    fn run(self) -> Parsed {
        const DASHES: u64 = u64::from_le_bytes([0, 0, 0xff, 0, 0, 0xff, 0, 0]);
        each(self.column, self.out, |field| {
            let (digits, century) = (field.high & !DASHES, field.low >> 48);
            let are_dashes = field.high & DASHES == DASHES & (EACH * u64::from(MINUS));
            let is_date = (field.count == 10) & !field.is_negative & are_dashes;
            if !is_date | (not_digits(digits) | not_digits(century) != 0) {
                return None;
            }
            // Two digits at a time: the tens are in the lower byte.
            let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
            let pair = |bits: u32| pairs >> bits & 0xff;
            let year = 100 * (10 * (century & 0xff) + (century >> 8)) + pair(0);
            day(year as i64, pair(24) as usize, pair(48) as i64).map(|day| (day, false))
        })
    }
}

/// The days from 1970-01-01 to a date, unless there is none of these numbers or it is a 29 February.
#[inline(always)]
fn day(year: i64, month: usize, day: i64) -> Option<i64> {
    /// Of years that begin in March: how many days come before a month. No entry is without a month.
    const BEFORE: [i64; 16] = [0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 0, 0, 0];
    const DAYS_IN: [i64; 16] = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 0, 0, 0];
    let days_in = *DAYS_IN.get(month)?;
    if (year == 0) | (day == 0) | (day > days_in) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let centuries = year / 100;
    Some(365 * year + year / 4 - centuries + centuries / 4 + BEFORE[month] + day - 719_469)
}
