//! Rows in plain Rust, one after another: the portable variant, except for how separators are found.

use super::isa::{GROUP, SKIPPED, TextIsa};
use super::lookup::KeyLookup;
use super::marks::{self, Separators};
use crate::accumulate::slots::Slot as State;
use crate::interner::{Key, KeyTable, SHORT, Slot, equal_long, hash_by_multiplying, multiplied, padded};
use crate::isa::Portable;
use crate::structure::equal_bytes;

/// Instruction sets that are used only to find separators.
pub(crate) trait SeparatorsOnly: Separators {}

impl SeparatorsOnly for Portable {}

impl Separators for Portable {
    #[inline(always)]
    unsafe fn separators(block: &[u8; 64], delimiter: u8) -> u64 {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        equal_bytes(&words, delimiter) | equal_bytes(&words, b'\n')
    }
}

impl<I: SeparatorsOnly> TextIsa for I {
    /// Not 0 if there are faults.
    type Faults = u32;
    type KeyLookup<'a> = KeyLookup;

    #[inline(always)]
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<usize> {
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
    unsafe fn numbers(text: *const u8, marks: *const u16, delimiter: u8, mut faults: u32, out: *mut i16) -> u32 {
        let (mut heads, mut tails, mut values) = ([0; GROUP], [0; GROUP], [0; GROUP]);
        // SAFETY: promised by the caller; a word starts at most eight bytes before the text, within its margin. A group
        // has two marks and one number for each row.
        let pairs = unsafe {
            for row in 0..GROUP {
                let end = text.add(usize::from(*marks.add(2 * row + 1)));
                heads[row] = u32::from_le(end.wrapping_sub(8).cast::<u32>().read_unaligned());
                tails[row] = u32::from_le(end.wrapping_sub(4).cast::<u32>().read_unaligned());
            }
            marks.cast::<[[u16; 2]; GROUP]>().read()
        };
        // Compilers turn this loop over local arrays into vector instructions.
        for row in 0..GROUP {
            let length = u32::from(pairs[row][1]).wrapping_sub(u32::from(pairs[row][0]));
            let (value, fault) = number(heads[row], tails[row], length, delimiter);
            values[row] = value as i16;
            faults |= fault;
        }
        // SAFETY: as above.
        unsafe { out.cast::<[i16; GROUP]>().write(values) };
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
    unsafe fn slots(keys: *const Key, mut skipped: u16, lookup: KeyLookup, out: *mut i32) {
        // SAFETY: promised by the caller.
        unsafe {
            for row in 0..GROUP {
                *out.add(row) = lookup.offset(hash_by_multiplying(&*keys.add(row)));
            }
            while skipped != 0 {
                *out.add(skipped.trailing_zeros() as usize) = SKIPPED;
                skipped &= skipped - 1;
            }
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
            if any == [0; 2] {
                return 0;
            }
            (0..GROUP).filter(|&row| *keys.add(row) != slot(row).key).fold(0, |unequal, row| unequal | 1 << (2 * row))
        }
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        for row in 0..rows {
            // SAFETY: promised by the caller.
            unsafe { (*first.byte_offset(*slots.add(row) as isize)).add_value(*values.add(row)) };
        }
    }
}

/// The number at the end of a row, and its faults, 0 if it is valid: from the row's last eight bytes, in two halves such
/// as `me;1` and `2.3\n`, and the number of bytes after the delimiter. All cases are computed, and those that the length
/// rules out are masked.
#[inline(always)]
fn number(head: u32, tail: u32, length: u32, delimiter: u8) -> (u32, u32) {
    let if_true = |condition: bool| u32::from(condition).wrapping_neg();
    // "2.3\n", "12.3\n" or "-2.3\n", "-12.3\n".
    let [four, five, six] = [if_true(length == 4), if_true(length == 5), if_true(length == 6)];
    let shifted = head << 8;
    let before = (head & four | shifted & five | head << 16 & six) >> 24;
    let first = (head & five | shifted & six) >> 24;
    let minus = if_true(first == u32::from(b'-'));
    // XOR leaves only the values of the digits.
    let tens = (head >> 24 ^ u32::from(b'0')) & (six | five & !minus);
    let tail = tail ^ u32::from_le_bytes(*b"0.0\n");
    // The high bits of digits above 9, and of the other bytes if they are not 0.
    let not_digits = (tail | tail.wrapping_add(0x7f76_7f76) | tens | tens.wrapping_add(0x76)) & 0x8080_8080;
    let wrong_length = !(four | five | six) | six & !minus;
    let (ones, tenths) = (tail & 0xff, tail >> 16 & 0xff);
    // SSE2 cannot multiply 32-bit lanes.
    let hundredfold = (tens << 6).wrapping_add(tens << 5).wrapping_add(tens << 2);
    let value = hundredfold.wrapping_add(ones << 3).wrapping_add(ones << 1).wrapping_add(tenths);
    ((value ^ minus).wrapping_sub(minus), (before ^ u32::from(delimiter)) | wrong_length | not_digits)
}
