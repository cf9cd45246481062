//! Numbers of up to 18 decimal digits: all with the same number of digits, or none with a leading zero.

use super::{Input, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer, Strings};
use crate::array::{self, PackedArray};
use brc_core::bounds::bounds;
use brc_core::decimal::DIGIT_PAIRS;
use std::ops::Range;

/// The maximum number of digits, so that every number fits 64 bits.
pub(in crate::strings) const MAX_DIGITS: usize = 18;

const TOO_MANY: Malformed = Malformed("a number has too many digits");

pub(super) struct Digits;

impl Scheme for Digits {
    fn id(&self) -> u8 {
        4
    }

    fn name(&self) -> &'static str {
        "digits"
    }

    fn cost(&self) -> u32 {
        3
    }

    fn plan(&self, input: Input<'_>) -> Option<Plan> {
        let digits = digits(input.values);
        let numbers = input.values.iter().map(|value| number(value, digits));
        let integers = numbers.collect::<Option<Vec<_>>>()?;
        let (smallest, largest) = bounds(&integers)?;
        Some(Plan { bytes: 1 + array::size(smallest, largest, integers.len()), integers })
    }

    fn encode(&self, input: Input<'_>, plan: &Plan, out: &mut Vec<u8>) {
        out.push(digits(input.values) as u8);
        array::write(&plan.integers, out);
    }

    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        let packed = Packed::open(stored)?;
        let digits = packed.digits;
        packed.read(rows, &mut scratch.integers)?;
        let integers = scratch.integers.as_slice();
        let length = |integer: i64| if digits == 0 { integer.checked_ilog10().unwrap_or(0) + 1 } else { digits as u32 };
        out.set_lengths(integers.iter().map(|&integer| length(integer)), 0)?;
        let (offsets, room) = out.room();
        for (ends, &integer) in offsets.windows(2).zip(integers) {
            write(integer as u64, &mut room[ends[0] as usize..ends[1] as usize]);
        }
        Ok(())
    }

    fn numbers<'a>(&self, stored: Stored<'a>) -> Result<Option<Packed<'a>>, Malformed> {
        Packed::open(stored).map(Some)
    }
}

/// The numbers of a block.
pub(in crate::strings) struct Packed<'a> {
    array: PackedArray<'a>,
    /// The number of digits of each; 0 if none has a leading zero.
    pub(in crate::strings) digits: usize,
}

impl<'a> Packed<'a> {
    fn open(stored: Stored<'a>) -> Result<Self, Malformed> {
        let (&digits, mut bytes) = stored.bytes.split_first().ok_or(Malformed("the digits are cut off"))?;
        let array = PackedArray::take(&mut bytes, stored.rows)?;
        let digits = usize::from(digits);
        if !bytes.is_empty() || digits > MAX_DIGITS {
            return Err(TOO_MANY);
        }
        Ok(Self { array, digits })
    }

    /// Replaces `out` with the numbers of some rows.
    pub(in crate::strings) fn read(&self, rows: Range<usize>, out: &mut Vec<i64>) -> Result<(), Malformed> {
        self.array.read_rows(rows, out);
        let most = 10u64.pow(if self.digits == 0 { MAX_DIGITS } else { self.digits } as u32);
        // Without an early exit, so that it vectorises.
        if out.iter().fold(false, |above, &integer| above | (integer as u64 >= most)) {
            return Err(TOO_MANY);
        }
        Ok(())
    }
}

/// The common length of all values; 0 if their lengths differ.
fn digits(values: Strings<'_>) -> usize {
    let mut lengths = values.lengths();
    let first = lengths.next().unwrap_or(0);
    if lengths.all(|length| length == first) { first as usize } else { 0 }
}

/// The number in a value, if its text can be restored from it.
pub(in crate::strings) fn number(value: &[u8], digits: usize) -> Option<i64> {
    let numeric = (1..=MAX_DIGITS).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    let comes_back = if digits > 0 { value.len() == digits } else { value[..] == *b"0" || numeric && value[0] != b'0' };
    (numeric && comes_back).then(|| value.iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0')))
}

/// Fills `out` with the last digits of a number.
#[inline]
fn write(mut number: u64, out: &mut [u8]) {
    let (first, pairs) = out.as_rchunks_mut();
    for pair in pairs.iter_mut().rev() {
        *pair = DIGIT_PAIRS[(number % 100) as usize];
        number /= 100;
    }
    if let [digit] = first {
        *digit = b'0' + (number % 10) as u8;
    }
}
