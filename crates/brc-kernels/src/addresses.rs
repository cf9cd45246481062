//! Formats IPv4 addresses, `192.0.2.1`.
//!
//! Address columns are stored as 32-bit numbers, and looking up the text of each part dominates the cost of formatting
//! many of them. Here the digits of four addresses are computed in parallel, and those that are not leading zeros are
//! compressed into one text of all four.

use crate::cpu::Level;

/// The maximum length of an address in bytes.
pub const LONGEST: usize = 15;

/// The number of bytes after the last address that may be overwritten.
pub const SLACK: usize = 64;

/// Writes addresses contiguously from the start of `bytes`, and appends the end offset of each. An address is in the
/// lower 32 bits of an integer, with its first part in the highest of these.
///
/// # Panics
/// If `bytes` is shorter than [`LONGEST`] for each address plus [`SLACK`].
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

/// The same from an offset on.
fn write_from(addresses: &[i64], start: usize, bytes: &mut [u8], ends: &mut Vec<u32>) {
    let mut end = start;
    ends.extend(addresses.iter().map(|&address| {
        end += write_one((address as u32).to_be_bytes(), &mut bytes[end..]);
        end as u32
    }));
}

/// Writes an address, and up to four bytes after it. Returns its length.
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

/// The digits of each part followed by a dot, and the number of these bytes.
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

    /// The number of addresses that are formatted together.
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

    /// The contiguous text of four addresses, and a mask of the bytes of `111.111.111.111.` that each uses.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2")]
    fn texts(addresses: &[i64; ADDRESSES]) -> (__m512i, u64) {
        // SAFETY: there are four integers.
        let addresses = unsafe { _mm256_loadu_epi64(addresses.as_ptr()) };
        let first_lowest = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
        let parts = _mm_shuffle_epi8(_mm256_cvtepi64_epi32(addresses), first_lowest);
        let parts = _mm512_cvtepu8_epi32(parts);
        // These reciprocals are exact for numbers this small.
        let hundreds = _mm512_srli_epi32::<12>(_mm512_mullo_epi16(parts, _mm512_set1_epi32(41)));
        let rest = _mm512_sub_epi16(parts, _mm512_mullo_epi16(hundreds, _mm512_set1_epi32(100)));
        let tens = _mm512_srli_epi32::<10>(_mm512_mullo_epi16(rest, _mm512_set1_epi32(103)));
        let ones = _mm512_sub_epi16(rest, _mm512_mullo_epi16(tens, _mm512_set1_epi32(10)));
        let digits = _mm512_or_si512(hundreds, _mm512_slli_epi32::<8>(tens));
        let digits = _mm512_or_si512(digits, _mm512_slli_epi32::<16>(ones));
        let text = _mm512_add_epi8(digits, _mm512_set1_epi32(i32::from_le_bytes(*b"000.")));
        // The last part is not followed by a dot.
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
    fn all_parts_at_all_positions() {
        let parts = 0..=255u32;
        check(
            &parts
                .flat_map(|part| [0, 8, 16, 24].map(|place| part << place | 0x01_63_64_c8 & !(0xff << place)))
                .collect::<Vec<_>>(),
        );
    }

    proptest! {
        #[test]
        fn addresses_are_formatted_like_std(addresses in prop::collection::vec(any::<u32>(), 0..40)) {
            check(&addresses);
        }
    }

    #[test]
    #[should_panic(expected = "there is room")]
    fn too_little_room_is_refused() {
        write(Level::best(), &[1], &mut [0; LONGEST + SLACK - 1], &mut Vec::new());
    }
}
