//! One frame of reference for the chunk, its smallest integer; the differences from it packed.

use super::{Facts, Frames, Scheme};
use crate::integer_buffer::{IntegerRoom, IntegerSlice, for_widths};
use brc_core::Run;
use brc_kernels::bitpack;
use brc_kernels::cpu::Level;

pub(super) struct Packed;

impl Scheme for Packed {
    fn id(&self) -> u16 {
        2
    }

    fn name(&self) -> &'static str {
        "packed"
    }

    fn width(&self, facts: &Facts) -> Option<u8> {
        Some(bitpack::width_of(facts.max.wrapping_sub(facts.min) as u64) as u8)
    }

    fn block_bytes(&self, width: u8, rows: u32) -> Option<u64> {
        bitpack::packed_bytes(u32::from(width), u64::from(rows))
    }

    fn encode(&self, width: u8, values: IntegerSlice<'_>, frames: Frames<'_>, out: &mut Vec<u8>) {
        let run = Run { code: 0, rows: values.len() as u32 };
        encode(width, values, &[run], &[frames.chunk], out);
    }

    fn decode(&self, width: u8, block: &[u8], first: usize, frames: Frames<'_>, out: IntegerRoom<'_>) {
        let run = Run { code: 0, rows: out.len() as u32 };
        decode(width, block, first, &[run], &[frames.chunk], out);
    }
}

/// Appends the packed differences of `values` from the bases of their runs.
pub(super) fn encode(width: u8, values: IntegerSlice<'_>, runs: &[Run], bases: &[i64], out: &mut Vec<u8>) {
    for_widths!(values, values => bitpack::pack(Level::best(), u32::from(width), values, runs, bases, out));
}

/// Reads packed differences from row `first` of a block on and adds the bases of their runs. Opening the file has
/// refused widths that the room is too narrow for.
pub(super) fn decode(width: u8, block: &[u8], first: usize, runs: &[Run], bases: &[i64], out: IntegerRoom<'_>) {
    let (level, width) = (Level::best(), u32::from(width));
    match out {
        IntegerRoom::I16(out) => bitpack::unpack(level, width, block, first, runs, bases, out),
        IntegerRoom::I32(out) => bitpack::unpack(level, width, block, first, runs, bases, out),
        IntegerRoom::I64(out) => bitpack::unpack(level, width, block, first, runs, bases, out),
    }
}
