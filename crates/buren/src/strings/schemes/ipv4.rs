//! IPv4 addresses, such as `192.0.2.1`, as 32-bit integers.

use super::{Input, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer};
use crate::array::{self, PackedArray};
use brc_core::bounds::bounds;
use brc_kernels::addresses;
use brc_kernels::cpu::Level;
use std::ops::Range;

pub(super) struct Ipv4;

impl Scheme for Ipv4 {
    fn id(&self) -> u8 {
        5
    }

    fn name(&self) -> &'static str {
        "ipv4"
    }

    fn cost(&self) -> u32 {
        3
    }

    fn whole(&self) -> bool {
        true
    }

    fn plan(&self, input: Input<'_>) -> Option<Plan> {
        let integers = input.values.iter().map(address).collect::<Option<Vec<_>>>()?;
        let (smallest, largest) = bounds(&integers)?;
        Some(Plan { bytes: array::size(smallest, largest, integers.len()), integers })
    }

    fn encode(&self, _: Input<'_>, plan: &Plan, out: &mut Vec<u8>) {
        array::write(&plan.integers, out);
    }

    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        let mut bytes = stored.bytes;
        let array = PackedArray::take(&mut bytes, stored.rows)?;
        if !bytes.is_empty() {
            return Err(Malformed("there are bytes after the addresses"));
        }
        array.read_part(rows.clone(), &mut scratch.integers);
        let integers = &scratch.integers[rows];
        if integers.iter().any(|&integer| u32::try_from(integer).is_err()) {
            return Err(Malformed("an address has more than 32 bits"));
        }
        let bytes = integers.len().saturating_mul(addresses::LONGEST).saturating_add(addresses::SLACK);
        out.write(bytes, |bytes, ends| addresses::write(Level::best(), integers, bytes, ends))
    }
}

/// Parses an address without leading zeros.
fn address(value: &[u8]) -> Option<i64> {
    const EACH: u128 = u128::from_le_bytes([1; 16]);
    let text = padded(value)?;
    // The highest bit of each byte that is a dot.
    let differences = text ^ (EACH * b'.' as u128);
    let mut dots = !(((differences & (EACH * 0x7f)) + EACH * 0x7f) | differences) & (EACH << 7);
    let (mut address, mut start) = (0, 0);
    for _ in 0..3 {
        let end = dots.trailing_zeros() / 8;
        address = address << 8 | part(text, start, end)?;
        start = end + 1;
        dots &= dots.wrapping_sub(1);
    }
    Some(address << 8 | part(text, start, value.len() as u32)?)
}

/// The text of an address zero-padded to 16 bytes, the first byte lowest; `None` if its length is impossible.
#[inline]
fn padded(value: &[u8]) -> Option<u128> {
    match (value.first_chunk(), value.last_chunk()) {
        (Some(first), Some(last)) if value.len() <= 15 => {
            // The two overlap in most addresses.
            let last = u128::from(u64::from_le_bytes(*last)) << (8 * (value.len() - 8));
            Some(u128::from(u64::from_le_bytes(*first)) | last)
        }
        _ if value.len() == 7 => Some(value.iter().rev().fold(0, |text, &byte| text << 8 | u128::from(byte))),
        _ => None,
    }
}

/// Parses the bytes `start..end` of a text as a number below 256.
#[inline]
fn part(text: u128, start: u32, end: u32) -> Option<i64> {
    const EACH: u32 = u32::from_le_bytes([1; 4]);
    let length = end.checked_sub(start).filter(|length| (1..=3).contains(length))?;
    // The last digit in the highest byte, zeros for missing digits.
    let digits = ((text >> (8 * start)) as u32 ^ (EACH * u32::from(b'0'))) << (32 - 8 * length);
    if (digits | digits.wrapping_add(EACH * 6)) & (EACH * 0xf0) != 0 {
        return None;
    }
    let number = (digits >> 24) + 10 * (digits >> 16 & 0xff) + 100 * (digits >> 8 & 0xff);
    let least = [0, 0, 10, 100][length as usize];
    (number <= 255 && number >= least).then_some(number.into())
}

#[cfg(test)]
mod tests {
    use super::address;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    /// The standard library rejects leading zeros, too.
    fn check(text: &str) {
        let expected = text.parse().ok().map(|address: Ipv4Addr| i64::from(u32::from(address)));
        assert_eq!(address(text.as_bytes()), expected, "{text}");
    }

    #[test]
    fn addresses_match_the_standard_library() {
        for text in
            ["0.0.0.0", "255.255.255.255", "1.2.3.4", "10.20.30.40", "256.1.1.1", "1.1.1.256", "01.2.3.4", "1.2.3.00"]
        {
            check(text);
        }
        for text in ["", "1.2.3", "1.2.3.4.5", "1..2.3.4", ".1.2.3.4", "1.2.3.4.", "1.2.3.4x", "1.2.3.4567", "1234567"]
        {
            check(text);
        }
        assert_eq!(address(b"1.2.3.\x304"), None);
        assert_eq!(address(b"1.2.3.\xb04"), None);
    }

    proptest! {
        #[test]
        fn any_text(text in "[0-9]{0,4}\\.[0-9]{0,3}\\.[0-9]{0,3}(\\.[0-9]{0,3}|[./:x0]{0,3}){0,2}", number: u32, at in 0usize..15, byte in 0u8..128) {
            check(&text);
            let sound = Ipv4Addr::from(number).to_string();
            check(&sound);
            let mut other = sound.into_bytes();
            let at = at % other.len();
            other[at] = byte;
            check(std::str::from_utf8(&other).unwrap());
        }
    }
}
