//! Encoded numbers; small ones are copied from a table.

use super::buffer::RowBuffer;
use super::short::{Short, copy_start};

/// The encoded numbers of one column, each with the bytes around it.
pub(super) struct EncodedNumbers {
    before: Vec<u8>,
    after: Vec<u8>,
    /// For each number from -[`EncodedNumbers::REACH`] on: its bytes and those around it, and in the last byte their
    /// number, or [`EncodedNumbers::LONG`]. Empty if no entry can hold a number, or there are too many columns.
    near_zero: Vec<[u8; 8]>,
}

impl EncodedNumbers {
    /// Large enough for a temperature in tenths.
    const REACH: i64 = 2048;
    /// Marks a number with more bytes than an entry holds.
    const LONG: u8 = u8::MAX;

    /// The maximum number of columns that have a table of small numbers each: for more, these would not fit the caches.
    const MANY_COLUMNS: usize = 256;

    /// Numbers encoded by `encode`, with bytes before and after them, in a table of that many columns.
    pub(super) fn new(before: &[u8], after: &[u8], columns: usize, encode: impl Fn(i64) -> Short) -> Self {
        let one = |number| {
            let bytes = [before, encode(number).as_slice(), after].concat();
            let mut padded = [Self::LONG; 8];
            if let Some(start) = padded[..7].get_mut(..bytes.len()) {
                start.copy_from_slice(&bytes);
                padded[7] = bytes.len() as u8;
            }
            padded
        };
        let are_held = before.len() + after.len() < 7 && columns <= Self::MANY_COLUMNS;
        let near_zero = if are_held { (-Self::REACH..Self::REACH).map(one).collect() } else { Vec::new() };
        Self { before: before.into(), after: after.into(), near_zero }
    }

    /// Writes a number to the start of `room`, possibly with excess bytes after it. A large number is encoded by
    /// `encode`, the function given to [`EncodedNumbers::new`]. Returns its length; `None` if there is too little
    /// space.
    #[inline]
    pub(super) fn write_short(&self, number: i64, room: &mut [u8], encode: impl FnOnce(i64) -> Short) -> Option<usize> {
        let index = number.wrapping_add(Self::REACH) as u64;
        match usize::try_from(index).ok().and_then(|index| self.near_zero.get(index)) {
            Some(bytes) if bytes[7] != Self::LONG => {
                copy_start::<8>(bytes, room)?;
                Some(bytes[7].into())
            }
            _ if self.before.is_empty() && self.after.is_empty() => encode(number).write(room),
            _ => self.write_around(encode(number), room),
        }
    }

    fn write_around(&self, number: Short, room: &mut [u8]) -> Option<usize> {
        let mut length = 0;
        for piece in [&self.before, number.as_slice(), &self.after] {
            room.get_mut(length..)?.get_mut(..piece.len())?.copy_from_slice(piece);
            length += piece.len();
        }
        Some(length)
    }

    /// Appends a number.
    pub(super) fn write(&self, number: Short, out: &mut RowBuffer) {
        out.push(&self.before);
        out.push(number.as_slice());
        out.push(&self.after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes numbers in various lengths.
    fn of_any_length(number: i64) -> Short {
        Short::new(&number.to_le_bytes()[..number.rem_euclid(9) as usize])
    }

    fn check(before: &[u8], after: &[u8], columns: usize, encode: fn(i64) -> Short) {
        let numbers = EncodedNumbers::new(before, after, columns, encode);
        for number in (-3000..3000).chain([i64::MIN, i64::MIN + 2048, i64::MAX, i64::MAX - 2048]) {
            let expected = [before, encode(number).as_slice(), after].concat();
            let mut out = RowBuffer::default();
            numbers.write(encode(number), &mut out);
            assert_eq!(out.as_slice(), expected);
            let mut room = [0; 100];
            let length = numbers.write_short(number, &mut room, encode).unwrap();
            assert_eq!(room[..length], expected);
            for room in 0..expected.len() {
                assert_eq!(numbers.write_short(number, &mut vec![0; room], encode), None);
            }
        }
    }

    #[test]
    fn written_numbers_equal_encoded_ones() {
        for around in [[&b""[..], b""], [b"", b"\n"], [b"{\"key\":", b"}"], [b"", b",\"another key\":"]] {
            for columns in [1, 5_000] {
                check(around[0], around[1], columns, of_any_length);
                check(around[0], around[1], columns, |number| Short::new(&number.to_le_bytes()));
                check(around[0], around[1], columns, |number| Short::new(&number.to_le_bytes()[..2]));
            }
        }
    }
}
