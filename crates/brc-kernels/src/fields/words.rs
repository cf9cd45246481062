//! Parses one field after another, as two words of eight bytes: the portable variant.
//!
//! No step depends on the number of digits, and none waits for the previous field.

use super::{FieldColumn, FloatShapes, Parsed};
use crate::cpu::Kernel;
use brc_core::decimal::{FLOAT_POWERS, POWERS};

/// The maximum length of a field in bytes.
const WIDTH: usize = 16;

const EACH: u64 = u64::from_le_bytes([1; 8]);

/// `-` and `.` after the XOR that maps `0` to 0.
const MINUS: u8 = b'-' ^ b'0';
const POINT: u8 = b'.' ^ b'0';

/// Masks of the last `n` bytes of both words, for each `n`.
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
pub(super) struct Field {
    /// The digits, right-aligned and preceded by zeros: `low` has the first eight of sixteen bytes and `high` the last
    /// eight. A minus at the start becomes a zero.
    low: u64,
    high: u64,
    /// The number of bytes, without the minus.
    count: usize,
    is_negative: bool,
    /// The first digit, if there is one.
    first: u8,
}

impl Field {
    /// The field that ends with these bytes; `None` if it is empty or too long.
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
        Some(Self { low: apart(low), high, count, is_negative, first })
    }

    /// The number formed by all bytes; `None` if one is not a digit.
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

/// A number, with the counts of digits before and after the point.
struct Number {
    /// All digits as one unsigned number.
    value: i64,
    decimals: usize,
    /// The number of digits before the point.
    whole: usize,
}

impl Number {
    /// `None` if there are no digits before or after the point, leading zeros, or a minus before zero.
    #[inline(always)]
    fn new(field: &Field) -> Option<Self> {
        let after = bytes_after_last(field, POINT);
        let has_point = after < WIDTH;
        // Shifts the digits before the point by one byte, over the point.
        let [low, high] = LAST[after];
        let moved = (field.low << 8, field.high << 8 | field.low >> 56);
        let closed =
            Field { low: moved.0 & !low | field.low & low, high: moved.1 & !high | field.high & high, ..*field };
        let decimals = if has_point { after } else { 0 };
        let whole = field.count.wrapping_sub(decimals + usize::from(has_point));
        let value = closed.value()?;
        let is_bare = (whole == 0) | (has_point & (decimals == 0));
        let is_negative_zero = field.is_negative & (value == 0);
        let has_leading_zero = (field.first == 0) & (whole > 1);
        (!(is_bare | is_negative_zero | has_leading_zero)).then_some(Self { value, decimals, whole })
    }
}

/// Forces a word into a general-purpose register. The compiler would otherwise combine both words of a field in a
/// vector, for which there is no 64-bit multiplication.
#[inline(always)]
fn apart(word: u64) -> u64 {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    {
        let mut kept = word;
        // SAFETY: the assembly contains no instruction.
        unsafe { std::arch::asm!("/* {0} */", inout(reg) kept, options(pure, nomem, nostack, preserves_flags)) };
        kept
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    word
}

/// The number of bytes after the last occurrence of `byte`; [`WIDTH`] if there is none.
#[inline(always)]
fn bytes_after_last(field: &Field, byte: u8) -> usize {
    let (low, high) = (equal(field.low, byte), equal(field.high, byte));
    let after = if high != 0 { high.leading_zeros() } else { 64 + low.leading_zeros() };
    after as usize / 8
}

/// The highest bit of each byte that equals `byte`.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    const LOW_BITS: u64 = 0x7f * EACH;
    let difference = word ^ (EACH * u64::from(byte));
    // No carry leaves its byte.
    !(((difference & LOW_BITS) + LOW_BITS) | difference | LOW_BITS)
}

/// The number formed by eight digits.
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

/// How the fields of a column are parsed. This is a trait because a closure would be compiled without the instruction
/// set of its caller.
pub(super) trait Parse {
    type Value: Copy + Default;

    /// The value of a field, and whether it would be written differently; `None` if the field is odd. Must be inlined.
    fn parse(&mut self, field: &Field) -> Option<(Self::Value, bool)>;
}

/// Parses all fields.
pub(super) struct Each<'a, 't, P: Parse> {
    pub(super) column: &'a FieldColumn<'t>,
    pub(super) out: &'a mut Vec<P::Value>,
    pub(super) parser: &'a mut P,
}

impl<P: Parse> Kernel for Each<'_, '_, P> {
    type Output = Parsed;

    #[inline(always)]
    fn run(self) -> Parsed {
        let Self { column, out, parser } = self;
        let rows = column.starts.len();
        let first = out.len();
        out.resize(first + rows, P::Value::default());
        let mut parsed = Parsed::default();
        for (row, out) in out[first..].iter_mut().enumerate() {
            let (start, end) = column.range(row);
            let field = match column.text.get(end.wrapping_sub(WIDTH)..end).and_then(<[u8]>::first_chunk) {
                Some(bytes) => Field::new(bytes, end - start),
                None => Field::new(&last_bytes(&column.text[..end]), end - start),
            };
            let value = match &field {
                Some(field) => parser.parse(field),
                None => None,
            };
            match value {
                Some((value, is_altered)) => {
                    *out = value;
                    parsed.altered += u64::from(is_altered);
                }
                None => parsed.odd.push(row as u32),
            }
        }
        parsed
    }
}

/// The last sixteen bytes of a text, preceded by zeros if it is shorter.
#[cold]
pub(super) fn last_bytes(text: &[u8]) -> [u8; WIDTH] {
    let mut bytes = [0; WIDTH];
    bytes[WIDTH - text.len().min(WIDTH)..].copy_from_slice(&text[text.len() - text.len().min(WIDTH)..]);
    bytes
}

/// The parser of [`FieldColumn::integers`].
pub(super) struct Integers;

impl Parse for Integers {
    type Value = i64;

    #[inline(always)]
    fn parse(&mut self, field: &Field) -> Option<(i64, bool)> {
        // Leading zeros, or a minus before a zero.
        let is_bare = (field.count == 0) | ((field.first == 0) & ((field.count > 1) | field.is_negative));
        let value = field.value()?;
        if is_bare { None } else { Some((field.signed(value), false)) }
    }
}

/// The parser of [`FieldColumn::decimals`].
pub(super) struct Decimals {
    pub(super) scale: usize,
    /// The exclusive limit of the magnitude.
    pub(super) most: i64,
    pub(super) exact: bool,
}

impl Parse for Decimals {
    type Value = i64;

    #[inline(always)]
    fn parse(&mut self, field: &Field) -> Option<(i64, bool)> {
        let Number { value, decimals, whole } = Number::new(field)?;
        let missing = self.scale.checked_sub(decimals)?;
        let value = value.wrapping_mul(*POWERS.get(missing)?);
        let is_odd = (whole + self.scale > 18) | (value >= self.most) | (self.exact & (missing > 0));
        if is_odd { None } else { Some((field.signed(value), missing > 0)) }
    }
}

/// The parser of [`FieldColumn::floats`].
pub(super) struct Floats {
    pub(super) exact: bool,
    pub(super) shapes: FloatShapes,
}

impl Parse for Floats {
    type Value = f64;

    #[inline(always)]
    fn parse(&mut self, field: &Field) -> Option<(f64, bool)> {
        let Number { value, decimals, whole } = Number::new(field)?;
        if whole + decimals > 15 {
            return None;
        }
        // Both operands are exact, so the quotient is the float nearest to the number.
        let float = value as f64 / FLOAT_POWERS[decimals];
        // Smaller floats are written with an exponent.
        let is_small = (float < 1e-4) & (value != 0);
        let last_is_zero = field.high >> 56 == 0;
        let is_altered = (decimals == 0) | (last_is_zero & (decimals > 1));
        if is_small | (self.exact & is_altered) {
            return None;
        }
        let FloatShapes { most: [most_whole, most_decimals], least_decimals } = &mut self.shapes;
        *most_whole = (*most_whole).max(if field.first == 0 { 0 } else { whole as u8 });
        *most_decimals = (*most_decimals).max(decimals as u8);
        *least_decimals = (*least_decimals).min(decimals as u8);
        Some((if field.is_negative { -float } else { float }, is_altered))
    }
}

/// The parser of [`FieldColumn::dates`].
pub(super) struct Dates;

impl Parse for Dates {
    type Value = i64;

    #[inline(always)]
    fn parse(&mut self, field: &Field) -> Option<(i64, bool)> {
        const DASHES: u64 = u64::from_le_bytes([0, 0, 0xff, 0, 0, 0xff, 0, 0]);
        let (digits, century) = (field.high & !DASHES, field.low >> 48);
        let are_dashes = field.high & DASHES == DASHES & (EACH * u64::from(MINUS));
        let is_date = (field.count == 10) & !field.is_negative & are_dashes;
        if !is_date | (not_digits(digits) | not_digits(century) != 0) {
            return None;
        }
        // Two digits at a time; the tens are in the lower byte.
        let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
        let pair = (pairs & 0xff, pairs >> 24 & 0xff, pairs >> 48 & 0xff);
        let year = 100 * (10 * (century & 0xff) + (century >> 8)) + pair.0;
        let day = day(year as i64, pair.1 as usize, pair.2 as i64)?;
        Some((day, false))
    }
}

/// The days from 1970-01-01 to a date; `None` if there is no such date or it is 29 February.
#[inline(always)]
fn day(year: i64, month: usize, day: i64) -> Option<i64> {
    /// The number of days before each month, in years that start in March. Entries without a month are 0.
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
