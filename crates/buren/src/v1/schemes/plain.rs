//! Signed little-endian integers of 8, 16, 32 or 64 bits: what is left when packing has nothing to win, as for very few
//! rows.

use super::{Facts, Frames, Scheme};
use crate::integer_buffer::{IntegerRoom, IntegerSlice, for_widths};
use brc_kernels::arithmetic::Integer;

pub(super) struct Plain;

impl Scheme for Plain {
    fn id(&self) -> u16 {
        1
    }

    fn name(&self) -> &'static str {
        "plain"
    }

    fn width(&self, facts: &Facts) -> Option<u8> {
        let holds = |bits: &u8| {
            let (low, high) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
            low <= facts.min && facts.max <= high
        };
        [8u8, 16, 32, 64].into_iter().find(holds)
    }

    fn block_bytes(&self, width: u8, rows: u32) -> Option<u64> {
        Some(u64::from(rows) * u64::from(width / 8))
    }

    fn encode(&self, width: u8, values: IntegerSlice<'_>, _frames: Frames<'_>, out: &mut Vec<u8>) {
        for_widths!(values, values => {
            for &value in values {
                out.extend_from_slice(&value.wide().to_le_bytes()[..usize::from(width / 8)]);
            }
        });
    }

    fn decode(&self, width: u8, block: &[u8], first: usize, _: Frames<'_>, out: IntegerRoom<'_>) {
        let block = block.get(first * usize::from(width / 8)..).unwrap_or_default();
        match width {
            8 => read(block, i8::from_le_bytes, out),
            16 => read(block, i16::from_le_bytes, out),
            32 => read(block, i32::from_le_bytes, out),
            _ => read(block, i64::from_le_bytes, out),
        }
    }
}

fn read<const BYTES: usize, T: Into<i64>>(block: &[u8], from_bytes: fn([u8; BYTES]) -> T, out: IntegerRoom<'_>) {
    let stored = block.as_chunks::<BYTES>().0.iter().map(|bytes| from_bytes(*bytes).into());
    match out {
        IntegerRoom::I16(out) => out.iter_mut().zip(stored).for_each(|(out, value)| *out = value as i16),
        IntegerRoom::I32(out) => out.iter_mut().zip(stored).for_each(|(out, value)| *out = value as i32),
        IntegerRoom::I64(out) => out.iter_mut().zip(stored).for_each(|(out, value)| *out = value),
    }
}
