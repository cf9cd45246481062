//! Rows in plain Rust, one after another: the portable variant, except for how separators are found.

use super::isa::{GROUP, SKIPPED, SLOT_SHIFT, TextIsa};
use crate::accumulate::slots::Slot as State;
use crate::interner::{Key, KeyTable, SHORT, Slot, equal_long, multiplied, padded};
use crate::isa::Portable;
use crate::structure::equal_bytes;

/// Instruction sets that are used only to find separators.
pub(crate) trait Separators: Copy {
    /// A mask of the bytes that are the delimiter or a line feed.
    fn separators(block: &[u8; 64], delimiter: u8) -> u64;
}

impl Separators for Portable {
    #[inline(always)]
    fn separators(block: &[u8; 64], delimiter: u8) -> u64 {
        let mut words = [0; 8];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        equal_bytes(&words, delimiter) | equal_bytes(&words, b'\n')
    }
}

impl<I: Separators> TextIsa for I {
    /// Not 0 if there are faults.
    type Faults = u32;
    type KeyLookup<'a> = &'a KeyTable;

    #[inline(always)]
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<usize> {
        /// The number of marks that are written without a branch: few blocks have more.
        const USUAL: usize = 12;
        let mut next = out;
        for at in (0..text.len()).step_by(64) {
            // SAFETY: promised by the caller; a block extends at most 63 bytes beyond the text, within its margin.
            unsafe {
                let mut marks = I::separators(&*text.as_ptr().add(at).cast(), delimiter);
                let count = marks.count_ones() as usize;
                if count > 32 {
                    return None;
                }
                let mut write = |place: usize| {
                    // Excess entries are overwritten by the next block.
                    next.add(place).write((marks.trailing_zeros() as usize + at + 1) as u16);
                    marks &= marks.wrapping_sub(1);
                };
                (0..USUAL).for_each(&mut write);
                (USUAL..count).for_each(&mut write);
                next = next.add(count);
            }
        }
        // SAFETY: both point into the same array.
        Some(unsafe { next.offset_from(out) } as usize)
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
        for row in 0..GROUP {
            // SAFETY: promised by the caller; a word starts at most eight bytes before the text, within its margin.
            unsafe {
                let (delimiter_mark, end) = (*marks.add(2 * row), *marks.add(2 * row + 1));
                let word = text.add(usize::from(end)).wrapping_sub(8).cast::<u64>().read_unaligned();
                let (value, fault) = number(u64::from_le(word), end.wrapping_sub(delimiter_mark), delimiter);
                *out.add(row) = value;
                faults |= fault;
            }
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
    unsafe fn lookup(table: &KeyTable) -> &KeyTable {
        table
    }

    #[inline(always)]
    unsafe fn slots(keys: *const Key, skipped: u16, table: &KeyTable, out: *mut i32) {
        for row in 0..GROUP {
            // SAFETY: promised by the caller.
            unsafe {
                let slot = table.index_by_multiplying(&*keys.add(row)) - 1;
                *out.add(row) = if skipped >> row & 1 == 1 { SKIPPED } else { (slot as i32) << SLOT_SHIFT };
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
        let mut unequal = 0;
        for row in 0..GROUP {
            // SAFETY: promised by the caller.
            unsafe {
                let slot = &*table.offset(*slots.add(row) as isize).cast::<Slot>();
                if CODES {
                    *codes.add(row) = slot.code();
                }
                let (key, found) = (&*keys.add(row), &slot.key);
                unequal |= u32::from((key[0] ^ found[0]) | (key[1] ^ found[1]) != 0) << (2 * row);
            }
        }
        unequal
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        for row in 0..rows {
            // SAFETY: promised by the caller.
            unsafe { (*first.byte_offset(*slots.add(row) as isize)).add_value(*values.add(row)) };
        }
    }
}

/// The number at the end of a row, from the row's last eight bytes and the distance between its delimiter and line
/// feed; and its faults, 0 if it is valid.
#[inline(always)]
fn number(word: u64, distance: u16, delimiter: u8) -> (i16, u32) {
    // "2.3\n"; the XOR leaves only the values of the digits.
    let tail = (word >> 32) as u32 ^ u32::from_le_bytes(*b"0.0\n");
    let [ones, _, tenths, _] = tail.to_le_bytes();
    // The high bits of digits above 9, and of the other bytes if they are not 0.
    let no_digits = (tail | tail.wrapping_add(0x7f76_7f76)) & 0x8080_8080;
    // "me;1" or ";-1" from the delimiter on. If the delimiter is not in these bytes, the shift yields zeros, which do
    // not match it.
    let start = 56i32.wrapping_sub(8 * i32::from(distance));
    let head = u64::from(word as u32) >> (start & 63);
    let negative = u8::from(head as u32 >> 8 & 0xff == u32::from(b'-'));
    // After the delimiter and the minus there is one more digit if this is 16, or none if it is 24. No branch depends
    // on it.
    let start = start + 8 * i32::from(negative);
    let has_tens = u8::from(start == 16);
    let tens = ((head >> (8 + 8 * negative)) as u8 ^ b'0') & has_tens.wrapping_neg();
    let is_plain = (head as u8 == delimiter) & (start & !8 == 16) & (tens <= 9);
    let value = 100 * i16::from(tens) + 10 * i16::from(ones) + i16::from(tenths);
    let sign = -i16::from(negative);
    ((value ^ sign) - sign, no_digits | u32::from(!is_plain))
}
