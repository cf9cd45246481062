//! IPv4 addresses, `192.0.2.1`, as text.
//!
//! A table's addresses are kept as numbers of 32 bits; to look up the text of each part takes longer than anything else that is
//! done with many of them. Here the digits of four addresses are computed side by side, and those that are no leading zeros moved
//! together, which makes one text of all four.

use crate::cpu::Level;

/// The most bytes of an address.
pub const LONGEST: usize = 15;

/// What may be written behind the last address.
pub const SLACK: usize = 64;

/// Writes addresses one behind the other to the beginning of `bytes`, and appends where each ends. An address is in the lower 32
/// bits of an integer, its first part in the upper ones of these.
///
/// # Panics
/// If `bytes` are not [`LONGEST`] for each address and [`SLACK`] more.
pub fn write(level: Level, addresses: &[i64], bytes: &mut [u8], ends: &mut Vec<u32>) {
    assert!(addresses.len() * LONGEST + SLACK <= bytes.len(), "there is room for all addresses");
    match level.min(Level::best()) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level is not above the best one that was detected.
        Level::Avx512 => unsafe { x86::write(addresses, bytes, ends) },
        _ => {
            write_from(addresses, 0, bytes, ends);
        }
    }
}

/// The same from a byte on.
fn write_from(addresses: &[i64], start: usize, bytes: &mut [u8], ends: &mut Vec<u32>) {
    let mut end = start;
    ends.extend(addresses.iter().map(|&address| {
        end += write_one((address as u32).to_be_bytes(), &mut bytes[end..]);
        end as u32
    }));
}

/// Writes an address, and up to four bytes behind it. Returns how long it is.
#[inline]
fn write_one(address: [u8; 4], out: &mut [u8]) -> usize {
    let part = |part: u8| PARTS[usize::from(part)];
    let [(a, a_length), (b, b_length), (c, c_length), (d, d_length)] = address.map(part);
    let first = u64::from(a) | u64::from(b) << (8 * a_length);
    let second = u64::from(c) | u64::from(d) << (8 * c_length);
    let middle = usize::from(a_length + b_length);
    out[..8].copy_from_slice(&first.to_le_bytes());
    out[middle..middle + 8].copy_from_slice(&second.to_le_bytes());
    middle + usize::from(c_length + d_length) - 1
}

/// The digits of each part and a dot behind them, and how many bytes these are.
static PARTS: [(u32, u8); 256] = {
    let mut parts = [(0, 0); 256];
    let mut part = 0;
    while part < 256 {
        let (hundreds, tens, ones) = (part as u32 / 100, part as u32 / 10 % 10, part as u32 % 10);
        let zero = b'0' as u32;
        let (one, dot) = (zero + ones, b'.' as u32);
        parts[part] = if part >= 100 {
            ((zero + hundreds) | ((zero + tens) << 8) | (one << 16) | (dot << 24), 4)
        } else if part >= 10 {
            ((zero + tens) | (one << 8) | (dot << 16), 3)
        } else {
            (one | (dot << 8), 2)
        };
        part += 1;
    }
    parts
};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{SLACK, write_from};
    use std::arch::x86_64::*;

    /// Addresses that are written together.
    const ADDRESSES: usize = 4;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")]
    pub(super) fn write(addresses: &[i64], bytes: &mut [u8], ends: &mut Vec<u32>) {
        let (groups, last) = addresses.as_chunks::<ADDRESSES>();
        let mut end = 0;
        ends.reserve(addresses.len());
        for group in groups {
            let (text, used) = texts(group);
            let room = &mut bytes[end..end + SLACK];
            // SAFETY: there is room for 64 bytes.
            unsafe { _mm512_storeu_epi8(room.as_mut_ptr().cast(), text) };
            ends.extend_from_slice(&std::array::from_fn::<_, ADDRESSES, _>(|address| {
                end += (used >> (16 * address) & 0xffff).count_ones() as usize;
                end as u32
            }));
        }
        write_from(last, end, bytes, ends);
    }

    /// Four addresses one behind the other, and which bytes of `111.111.111.111.` each has.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
    fn texts(addresses: &[i64; ADDRESSES]) -> (__m512i, u64) {
        // SAFETY: there are four integers.
        let addresses = unsafe { _mm256_loadu_epi64(addresses.as_ptr()) };
        let first_lowest = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
        let parts = _mm_shuffle_epi8(_mm256_cvtepi64_epi32(addresses), first_lowest);
        let parts = _mm512_cvtepu8_epi32(parts);
        // Of numbers so small such quotients are right.
        let hundreds = _mm512_srli_epi32::<12>(_mm512_mullo_epi16(parts, _mm512_set1_epi32(41)));
        let rest = _mm512_sub_epi16(parts, _mm512_mullo_epi16(hundreds, _mm512_set1_epi32(100)));
        let tens = _mm512_srli_epi32::<10>(_mm512_mullo_epi16(rest, _mm512_set1_epi32(103)));
        let ones = _mm512_sub_epi16(rest, _mm512_mullo_epi16(tens, _mm512_set1_epi32(10)));
        let digits = _mm512_or_si512(hundreds, _mm512_slli_epi32::<8>(tens));
        let digits = _mm512_or_si512(digits, _mm512_slli_epi32::<16>(ones));
        let text = _mm512_add_epi8(digits, _mm512_set1_epi32(i32::from_le_bytes(*b"000.")));
        // There is no dot behind the last part.
        let always = _mm512_broadcast_i32x4(_mm_setr_epi32(-0x1_0000, -0x1_0000, -0x1_0000, 0xff_0000));
        let has_tens = _mm512_cmpge_epu32_mask(parts, _mm512_set1_epi32(10));
        let has_hundreds = _mm512_cmpge_epu32_mask(parts, _mm512_set1_epi32(100));
        let used = _mm512_mask_or_epi32(always, has_tens, always, _mm512_set1_epi32(0xff00));
        let used = _mm512_movepi8_mask(_mm512_mask_or_epi32(used, has_hundreds, used, _mm512_set1_epi32(0xff)));
        (_mm512_maskz_compress_epi8(used, text), used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    fn check(addresses: &[u32]) {
        let integers: Vec<i64> = addresses.iter().map(|&address| address.into()).collect();
        let expected: Vec<String> = addresses.iter().map(|&address| Ipv4Addr::from(address).to_string()).collect();
        for level in Level::available() {
            let (mut bytes, mut ends) = (vec![0; addresses.len() * LONGEST + SLACK], vec![0]);
            write(level, &integers, &mut bytes, &mut ends);
            let found =
                ends.windows(2).map(|ends| std::str::from_utf8(&bytes[ends[0] as usize..ends[1] as usize]).unwrap());
            assert_eq!(found.collect::<Vec<_>>(), expected, "{level:?}");
        }
    }

    #[test]
    fn all_parts_at_all_places() {
        let parts = 0..=255u32;
        check(
            &parts
                .flat_map(|part| [0, 8, 16, 24].map(|place| part << place | 0x01_63_64_c8 & !(0xff << place)))
                .collect::<Vec<_>>(),
        );
    }

    proptest! {
        #[test]
        fn addresses_are_written_as_ever(addresses in prop::collection::vec(any::<u32>(), 0..40)) {
            check(&addresses);
        }
    }

    #[test]
    #[should_panic(expected = "there is room")]
    fn too_little_room_is_refused() {
        write(Level::best(), &[1], &mut [0; LONGEST + SLACK - 1], &mut Vec::new());
    }
}
