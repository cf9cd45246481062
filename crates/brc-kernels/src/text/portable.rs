//! Rows in plain Rust, one after another: the portable variant.

use super::isa::{Found, GROUP, TextIsa, skip, unequal};
use super::lookup::KeyLookup;
use super::marks::{self, Separators};
use crate::accumulate::slots::Slot as State;
use crate::interner::{Key, KeyTable, SHORT, Slot, equal_long, hash_by_multiplying, multiplied, padded};
use crate::isa::Portable;
use crate::structure::{count_bytes, equal_bytes};

impl Separators for Portable {
    type Count = usize;

    #[inline(always)]
    unsafe fn no_delimiters() -> usize {
        0
    }

    #[inline(always)]
    unsafe fn line_feeds(block: &[u8; 64], delimiter: u8, delimiters: &mut usize) -> u64 {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        *delimiters += count_bytes(&words, delimiter);
        equal_bytes(&words, b'\n')
    }

    #[inline(always)]
    unsafe fn sum(delimiters: usize) -> usize {
        delimiters
    }
}

impl TextIsa for Portable {
    /// Not 0 if there are faults.
    type Faults = u32;
    type KeyLookup<'a> = KeyLookup;

    #[inline(always)]
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<Found> {
        // SAFETY: promised by the caller.
        unsafe { marks::write::<Self>(text, delimiter, out) }
    }

    #[inline(always)]
    unsafe fn no_faults() -> u32 {
        0
    }

    #[inline(always)]
    unsafe fn is_any(faults: u32) -> bool {
        faults != 0
    }

    #[inline(always)]
    unsafe fn numbers(text: *const u8, marks: *mut u16, delimiter: u8, mut faults: u32, out: *mut i16) -> u32 {
        let (mut heads, mut tails, mut values) = ([0; GROUP], [0; GROUP], [0; GROUP]);
        // SAFETY: promised by the caller; a word starts at most eight bytes before the text, within its margin. A group
        // has two marks and one number for each row.
        let mut pairs = unsafe {
            for row in 0..GROUP {
                let end = text.add(usize::from(*marks.add(2 * row + 1)));
                heads[row] = u32::from_le(end.wrapping_sub(8).cast::<u32>().read_unaligned());
                tails[row] = u32::from_le(end.wrapping_sub(4).cast::<u32>().read_unaligned());
            }
            marks.cast::<[[u16; 2]; GROUP]>().read()
        };
        // Compilers turn this loop over local arrays into vector instructions.
        for row in 0..GROUP {
            let number = number(heads[row], tails[row], delimiter);
            values[row] = number.value as i16;
            pairs[row][0] = pairs[row][1].wrapping_sub(number.length as u16);
            faults |= number.fault;
        }
        // SAFETY: as above.
        unsafe {
            out.cast::<[i16; GROUP]>().write(values);
            marks.cast::<[[u16; 2]; GROUP]>().write(pairs);
        }
        faults
    }

    #[inline(always)]
    unsafe fn keys(text: *const u8, marks: *const u16, here: u16, out: *mut Key) -> u16 {
        let mut other = 0u32;
        for row in 0..GROUP {
            // SAFETY: promised by the caller; a name is read up to sixteen bytes beyond the text, within its margin.
            unsafe {
                let start = *marks.add(2 * row).sub(1);
                let length = usize::from((*marks.add(2 * row)).wrapping_sub(start + 1));
                let is_other = length.wrapping_sub(1) >= SHORT;
                other |= u32::from(is_other) << row;
                let bytes = text.add(usize::from(start)).cast::<[u8; SHORT]>().read();
                let length = if is_other || here >> row & 1 == 0 { 0 } else { length };
                *out.add(row) = padded(&bytes, length);
            }
        }
        other as u16
    }

    #[inline(always)]
    unsafe fn list(mut bits: u16, first: u16, mut out: *mut u16) {
        while bits != 0 {
            // SAFETY: promised by the caller.
            unsafe {
                *out = first + bits.trailing_zeros() as u16;
                out = out.add(1);
            }
            bits &= bits - 1;
        }
    }

    #[inline(always)]
    unsafe fn digest(name: &[u8]) -> Key {
        multiplied(name)
    }

    #[inline(always)]
    unsafe fn equal(found: &[u8], name: &[u8]) -> bool {
        equal_long(found, name)
    }

    #[inline(always)]
    unsafe fn lookup(table: &KeyTable) -> KeyLookup {
        KeyLookup::new(table)
    }

    #[inline(always)]
    unsafe fn slots(keys: *const Key, skipped: u16, lookup: KeyLookup, out: *mut i32) {
        // SAFETY: promised by the caller.
        unsafe {
            for row in 0..GROUP {
                *out.add(row) = lookup.offset(hash_by_multiplying(&*keys.add(row)));
            }
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
            let slot = |row: usize| &*table.offset(*slots.add(row) as isize).cast::<Slot>();
            let mut any = [0; 2];
            for row in 0..GROUP {
                let (key, found) = (&*keys.add(row), slot(row));
                if CODES {
                    *codes.add(row) = found.code();
                }
                any[0] |= key[0] ^ found.key[0];
                any[1] |= key[1] ^ found.key[1];
            }
            if any == [0; 2] { 0 } else { unequal(keys, slots, table) }
        }
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: promised by the caller.
        unsafe {
            crate::accumulate::slots::sse2::rows_at(values, slots, rows, first);
        }
        #[cfg(not(target_arch = "x86_64"))]
        for row in 0..rows {
            // SAFETY: promised by the caller.
            unsafe { (*first.byte_offset(*slots.add(row) as isize)).add_value(*values.add(row)) };
        }
    }
}

/// The number at the end of a row.
struct Number {
    value: u32,
    /// The number of bytes after the delimiter.
    length: u32,
    /// 0 if it is valid.
    fault: u32,
}

/// The number in a row's last eight bytes, in two halves such as `me;1` and `2.3\n`. All forms are computed, and those
/// that the place of the delimiter rules out are masked.
#[inline(always)]
fn number(head: u32, tail: u32, delimiter: u8) -> Number {
    let if_true = |condition: bool| u32::from(condition).wrapping_neg();
    let delimiter = u32::from(delimiter);
    let [last, second, third] = [head >> 24, head >> 16 & 0xff, head >> 8 & 0xff];
    // The number starts at "2.3\n", "12.3\n" or "-2.3\n", "-12.3\n".
    let [four, five, six] = [if_true(last == delimiter), if_true(second == delimiter), if_true(third == delimiter)];
    let (minus_last, minus_second) =
        (five & if_true(last == u32::from(b'-')), six & if_true(second == u32::from(b'-')));
    let negative = minus_last | minus_second;
    let one_digit = four | minus_last;
    let two_digits = (five | minus_second) & !one_digit;
    // XOR leaves only the values of the digits.
    let tens = (last ^ u32::from(b'0')) & two_digits;
    let tail = tail ^ u32::from_le_bytes(*b"0.0\n");
    // The high bits of digits above 9, and of the other bytes if they are not 0.
    let not_digits = (tail | tail.wrapping_add(0x7f76_7f76) | tens | tens.wrapping_add(0x76)) & 0x8080_8080;
    let (ones, tenths) = (tail & 0xff, tail >> 16 & 0xff);
    // SSE2 cannot multiply 32-bit lanes.
    let hundredfold = (tens << 6).wrapping_add(tens << 5).wrapping_add(tens << 2);
    let value = hundredfold.wrapping_add(ones << 3).wrapping_add(ones << 1).wrapping_add(tenths);
    Number {
        value: (value ^ negative).wrapping_sub(negative),
        // The masks are -1.
        length: one_digit.wrapping_sub(negative).wrapping_add(5),
        fault: !(one_digit | two_digits) | not_digits,
    }
}
