//! Rows with NEON: four numbers per register, one name per register.

use super::isa::{Found, GROUP, TextIsa, unequal, without_keys};
use super::lookup::KeyLookup;
use super::marks::{self, Separators};
use crate::accumulate::slots::{Slot as State, neon as states};
use crate::cpu::{BYTE_INDEXES, ONES};
use crate::interner::{Key, KeyTable, PADDING, SHORT, Slot};
use crate::isa::{Neon, Portable};
use crate::structure::{bits_of_bytes, registers};
use std::arch::aarch64::*;

impl Separators for Neon {
    /// For each position in two registers: a tile has 128 times as many bytes.
    type Count = [uint8x16_t; 2];

    #[inline(always)]
    unsafe fn no_delimiters() -> Self::Count {
        // SAFETY: every processor of the target has NEON.
        unsafe { [vdupq_n_u8(0); 2] }
    }

    #[inline(always)]
    unsafe fn line_feeds(block: &[u8; 64], delimiter: u8, delimiters: &mut Self::Count) -> u64 {
        let [a, b, c, d] = registers(block);
        // SAFETY: every processor of the target has NEON.
        unsafe {
            let (delimiter, line_feed) = (vdupq_n_u8(delimiter), vdupq_n_u8(b'\n'));
            // A comparison yields -1.
            let more = |count, part| vsubq_u8(count, vceqq_u8(part, delimiter));
            let [even, odd] = *delimiters;
            *delimiters = [more(more(even, a), c), more(more(odd, b), d)];
            let is_line_feed = |part| vceqq_u8(part, line_feed);
            bits_of_bytes([is_line_feed(a), is_line_feed(b), is_line_feed(c), is_line_feed(d)])
        }
    }

    #[inline(always)]
    unsafe fn sum([even, odd]: Self::Count) -> usize {
        // SAFETY: every processor of the target has NEON.
        unsafe { usize::from(vaddlvq_u8(even)) + usize::from(vaddlvq_u8(odd)) }
    }
}

impl TextIsa for Neon {
    type Faults = uint32x4_t;
    type KeyLookup<'a> = KeyLookup;

    #[inline(always)]
    unsafe fn marks(text: &[u8], delimiter: u8, out: *mut u16) -> Option<Found> {
        // SAFETY: promised by the caller.
        unsafe { marks::write::<Self>(text, delimiter, out) }
    }

    #[inline(always)]
    unsafe fn no_faults() -> uint32x4_t {
        // SAFETY: every processor of the target has NEON.
        unsafe { vdupq_n_u32(0) }
    }

    #[inline(always)]
    unsafe fn is_any(faults: uint32x4_t) -> bool {
        // SAFETY: every processor of the target has NEON.
        unsafe { vmaxvq_u32(faults) != 0 }
    }

    #[inline(always)]
    unsafe fn numbers(
        text: *const u8,
        marks: *mut u16,
        delimiter: u8,
        mut faults: uint32x4_t,
        out: *mut i16,
    ) -> uint32x4_t {
        for row in (0..GROUP).step_by(4) {
            // SAFETY: promised by the caller.
            unsafe {
                let (numbers, more) = four_numbers(text, marks.add(2 * row), delimiter, faults);
                vst1_s16(out.add(row), vmovn_s32(numbers));
                faults = more;
            }
        }
        faults
    }

    #[inline(always)]
    unsafe fn keys(text: *const u8, marks: *const u16, here: u16, out: *mut Key) -> u16 {
        // SAFETY: promised by the caller; a name is read up to sixteen bytes beyond the text, within its margin.
        unsafe {
            let (padding, indexes) = (vdupq_n_u8(PADDING), vld1q_u8(BYTE_INDEXES.as_ptr()));
            for row in 0..GROUP {
                let start = *marks.add(2 * row).sub(1);
                let length = (*marks.add(2 * row)).wrapping_sub(start + 1);
                let name = vld1q_u8(text.add(usize::from(start)));
                let inside = vcgtq_u8(vdupq_n_u8(length as u8), indexes);
                vst1q_u8(out.add(row).cast(), vbslq_u8(inside, name, padding));
            }
            without_keys(!here, out);
            not_short(marks)
        }
    }

    #[inline(always)]
    unsafe fn list(bits: u16, first: u16, out: *mut u16) {
        // SAFETY: promised by the caller. The table has an entry for each value of a byte.
        unsafe {
            let ones = |bits: u8| vmovl_u8(vld1_u8(ONES.as_ptr().add(usize::from(bits)).cast()));
            let (low, high) = (bits as u8, (bits >> 8) as u8);
            vst1q_u16(out, vaddq_u16(ones(low), vdupq_n_u16(first)));
            let second = out.add(low.count_ones() as usize);
            vst1q_u16(second, vaddq_u16(ones(high), vdupq_n_u16(first + 8)));
        }
    }

    #[inline(always)]
    unsafe fn digest(name: &[u8]) -> Key {
        // SAFETY: promised by the caller.
        unsafe { Portable::digest(name) }
    }

    #[inline(always)]
    unsafe fn equal(found: &[u8], name: &[u8]) -> bool {
        // SAFETY: promised by the caller.
        unsafe { Portable::equal(found, name) }
    }

    #[inline(always)]
    unsafe fn lookup(table: &KeyTable) -> KeyLookup {
        // SAFETY: promised by the caller.
        unsafe { Portable::lookup(table) }
    }

    #[inline(always)]
    unsafe fn slots(keys: *const Key, skipped: u16, lookup: KeyLookup, out: *mut i32) {
        // SAFETY: promised by the caller.
        unsafe { Portable::slots(keys, skipped, lookup, out) }
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
            let slot = |row: usize| table.offset(*slots.add(row) as isize).cast::<Slot>();
            let difference = |row: usize| veorq_u64(vld1q_u64(keys.add(row).cast()), vld1q_u64(slot(row).cast()));
            let mut any = vdupq_n_u64(0);
            for row in 0..GROUP {
                if CODES {
                    *codes.add(row) = (*slot(row)).code();
                }
                any = vorrq_u64(any, difference(row));
            }
            if vmaxvq_u32(vreinterpretq_u32_u64(any)) == 0 { 0 } else { unequal(keys, slots, table) }
        }
    }

    #[inline(always)]
    unsafe fn add(values: *const i16, slots: *const i32, rows: usize, first: *mut State) {
        // SAFETY: promised by the caller.
        unsafe { states::rows_at(values, slots, rows, first) }
    }
}

/// The numbers of four rows and the accumulated faults; in the same steps as AVX2, where they are explained. Also writes
/// the marks of their delimiters.
///
/// # Safety
/// As for [`TextIsa::numbers`].
#[inline(always)]
unsafe fn four_numbers(text: *const u8, marks: *mut u16, delimiter: u8, faults: uint32x4_t) -> (int32x4_t, uint32x4_t) {
    // SAFETY: promised by the caller.
    unsafe {
        let set = |bytes: [u8; 4]| vreinterpretq_u8_u32(vdupq_n_u32(u32::from_le_bytes(bytes)));
        let word = |row: usize| {
            let end = usize::from(*marks.add(2 * row + 1));
            vreinterpret_u32_u8(vld1_u8(text.add(end).wrapping_sub(8)))
        };
        let (one, other) = (vcombine_u32(word(0), word(1)), vcombine_u32(word(2), word(3)));
        let (heads, tails) = (vuzp1q_u32(one, other), vreinterpretq_u8_u32(vuzp2q_u32(one, other)));
        let tails = veorq_u8(tails, set(*b"0.0\n"));
        let delimiters = vceqq_u8(vreinterpretq_u8_u32(heads), vdupq_n_u8(delimiter));
        let minuses = vreinterpretq_u32_u8(vceqq_u8(vreinterpretq_u8_u32(heads), vdupq_n_u8(b'-')));
        let delimiters = vreinterpretq_u32_u8(delimiters);
        let signs = vandq_u32(minuses, vshlq_n_u32::<8>(delimiters));
        let before_digits = vorrq_u32(delimiters, signs);
        let last_two = vdupq_n_u32(0xffff_0000);
        let faults = vornq_u32(faults, vtstq_u32(before_digits, last_two));
        let one_digit = vreinterpretq_u32_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u32(before_digits)));
        let negative = vtstq_u32(signs, last_two);
        let tens = vbicq_u32(vsubq_u32(vshrq_n_u32::<24>(heads), vdupq_n_u32(b'0'.into())), one_digit);
        let no_tens = vcgtq_u8(vreinterpretq_u8_u32(tens), set([9, 0, 0, 0]));
        let no_digits = vorrq_u8(no_tens, vcgtq_u8(tails, set([9, 0, 9, 0])));
        let faults = vorrq_u32(faults, vreinterpretq_u32_u8(no_digits));

        let ends = vshrq_n_u32::<16>(vreinterpretq_u32_u16(vld1q_u16(marks)));
        let length = vaddq_u32(vsubq_u32(one_digit, negative), vdupq_n_u32(5));
        let pairs = vsliq_n_u32::<16>(vsubq_u32(ends, length), ends);
        vst1q_u16(marks, vreinterpretq_u16_u32(pairs));

        let tails = vreinterpretq_u32_u8(tails);
        let ones = vandq_u32(tails, vdupq_n_u32(0xff));
        let sums = vmlaq_n_u32(vmlaq_n_u32(vshrq_n_u32::<16>(tails), ones, 10), tens, 100);
        (vreinterpretq_s32_u32(vsubq_u32(veorq_u32(sums, negative), negative)), faults)
    }
}

/// A mask of those of sixteen rows whose names are empty or not short.
///
/// # Safety
/// As for [`TextIsa::keys`].
#[inline(always)]
unsafe fn not_short(marks: *const u16) -> u16 {
    // SAFETY: promised by the caller.
    unsafe {
        let weights = vcreate_u8(0x8040_2010_0804_0201);
        let of_eight = |marks: *const u16| {
            // A name starts at the end of the row before.
            let (own, before) = (vld2q_u16(marks), vld2q_u16(marks.sub(2)));
            let wrapped = vsubq_u16(vsubq_u16(own.0, before.1), vdupq_n_u16(2));
            let is_other = vmovn_u16(vcgeq_u16(wrapped, vdupq_n_u16(SHORT as u16)));
            u16::from(vaddv_u8(vand_u8(is_other, weights)))
        };
        of_eight(marks) | of_eight(marks.add(GROUP)) << 8
    }
}
