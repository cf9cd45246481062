//! IPv4 addresses, `192.0.2.1`, as integers of 32 bits.

use super::{Input, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer};
use crate::array::{self, PackedArray};
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
        let (smallest, largest) = (integers.iter().min()?, integers.iter().max()?);
        Some(Plan { bytes: array::size(*smallest, *largest, integers.len()), integers })
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
            return Err(Malformed("something is behind the addresses"));
        }
        array.read_part(rows.clone(), &mut scratch.integers);
        let integers = &scratch.integers[rows];
        if integers.iter().any(|&integer| u32::try_from(integer).is_err()) {
            return Err(Malformed("an address has more than 32 bits"));
        }
        let addresses = || integers.iter().map(|&integer| (integer as u32).to_be_bytes());
        out.set_lengths(addresses().map(length), 0)?;
        let (offsets, room) = out.room();
        for (address, &start) in addresses().zip(offsets) {
            write(address, &mut room[start as usize..]);
        }
        Ok(())
    }
}

/// An address as an integer, if it is written without leading zeros.
fn address(value: &[u8]) -> Option<i64> {
    let (mut address, mut parts) = (0, 0);
    for part in value.split(|&byte| byte == b'.') {
        let sound = (1..=3).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        if !sound || part.len() > 1 && part[0] == b'0' {
            return None;
        }
        let number = part.iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'));
        if number > 255 {
            return None;
        }
        address = address << 8 | number;
        parts += 1;
    }
    (parts == 4).then_some(address)
}

/// The length of an address as text.
fn length(address: [u8; 4]) -> u32 {
    address.iter().map(|&part| u32::from(PARTS[usize::from(part)].1)).sum::<u32>() - 1
}

/// Writes an address, and up to four bytes behind it.
#[inline]
fn write(address: [u8; 4], out: &mut [u8]) {
    let [a, b, c, d] = address;
    let part = |part: u8| PARTS[usize::from(part)];
    let ((a, a_length), (b, b_length), (c, c_length), (d, _)) = (part(a), part(b), part(c), part(d));
    let first = u64::from(a) | u64::from(b) << (8 * a_length);
    let second = u64::from(c) | u64::from(d) << (8 * c_length);
    let middle = usize::from(a_length + b_length);
    out[..8].copy_from_slice(&first.to_le_bytes());
    out[middle..middle + 8].copy_from_slice(&second.to_le_bytes());
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
