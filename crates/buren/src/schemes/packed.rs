//! One frame of reference for the chunk, its smallest integer; the differences from it packed.

use super::{Facts, Frames, Lanes, Scheme};
use crate::integers::ValuesMut;
use brc_core::{Run, Values};
use brc_kernels::bitpack::{self, GROUP, LANE_ROW_BYTES, Lane, Narrow};
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

    fn encode(&self, width: u8, values: Values<'_>, frames: Frames<'_>, lanes: &mut Lanes, out: &mut Vec<u8>) {
        let run = Run { code: 0, rows: values.len() as u32 };
        encode(width, values, &[run], &[frames.chunk], lanes, out);
    }

    fn decode(&self, width: u8, block: &[u8], first: usize, frames: Frames<'_>, lanes: &mut Lanes, out: ValuesMut<'_>) {
        let rows = frames.runs.iter().map(|run| run.rows).sum();
        decode(width, block, first, &[Run { code: 0, rows }], &[frames.chunk], lanes, out);
    }
}

/// Appends the packed differences of `values` from the bases of their runs.
pub(super) fn encode(width: u8, values: Values<'_>, runs: &[Run], bases: &[i64], lanes: &mut Lanes, out: &mut Vec<u8>) {
    match (bitpack::lane_bits(u32::from(width)), values) {
        (16, Values::I16(values)) => pack(width, values, runs, bases, &mut lanes.u16, out),
        (16, Values::I32(values)) => pack(width, values, runs, bases, &mut lanes.u16, out),
        (16, Values::I64(values)) => pack(width, values, runs, bases, &mut lanes.u16, out),
        (32, Values::I32(values)) => pack(width, values, runs, bases, &mut lanes.u32, out),
        (32, Values::I64(values)) => pack(width, values, runs, bases, &mut lanes.u32, out),
        (_, Values::I64(values)) => pack(width, values, runs, bases, &mut lanes.u64, out),
        (bits, _) => unreachable!("differences of narrower values do not need {bits} bits"),
    }
}

fn pack<L: Lane, V: Narrow<L>>(
    width: u8,
    values: &[V],
    runs: &[Run],
    bases: &[i64],
    lanes: &mut Vec<L>,
    out: &mut Vec<u8>,
) {
    lanes.resize(values.len(), L::default());
    bitpack::unbase(Level::best(), values, runs, bases, lanes);
    bitpack::pack(Level::best(), u32::from(width), lanes, out);
}

/// Reads packed differences from row `first` of a block on and adds the bases of their runs.
pub(super) fn decode(
    width: u8,
    block: &[u8],
    first: usize,
    runs: &[Run],
    bases: &[i64],
    lanes: &mut Lanes,
    out: ValuesMut<'_>,
) {
    match (bitpack::lane_bits(u32::from(width)), out) {
        (16, ValuesMut::I16(out)) => unpack(width, block, first, runs, bases, &mut lanes.u16, out),
        (16, ValuesMut::I32(out)) => unpack(width, block, first, runs, bases, &mut lanes.u16, out),
        (16, ValuesMut::I64(out)) => unpack(width, block, first, runs, bases, &mut lanes.u16, out),
        (32, ValuesMut::I32(out)) => unpack(width, block, first, runs, bases, &mut lanes.u32, out),
        (32, ValuesMut::I64(out)) => unpack(width, block, first, runs, bases, &mut lanes.u32, out),
        (_, ValuesMut::I64(out)) => unpack(width, block, first, runs, bases, &mut lanes.u64, out),
        (bits, _) => unreachable!("opening the file refuses {bits}-bit differences of narrower values"),
    }
}

fn unpack<L: Lane, V: Narrow<L>>(
    width: u8,
    block: &[u8],
    first: usize,
    runs: &[Run],
    bases: &[i64],
    lanes: &mut Vec<L>,
    out: &mut [V],
) {
    let skipped = first % GROUP;
    let groups = block.get(first / GROUP * usize::from(width) * LANE_ROW_BYTES..).unwrap_or_default();
    lanes.resize(skipped + out.len(), L::default());
    bitpack::unpack(Level::best(), u32::from(width), groups, lanes);
    bitpack::rebase(Level::best(), &lanes[skipped..], runs, bases, out);
}
