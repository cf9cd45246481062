//! A frame of reference for each run, its smallest integer; the differences packed in one width for the whole chunk.
//!
//! The temperatures of one station spread less than those of all, which is worth a bit a row. The bases cost nothing:
//! the run index has them anyway.

use super::{Facts, Frames, Scheme, packed};
use crate::integer_buffer::{IntegerRoom, IntegerSlice};
use brc_kernels::bitpack;

pub(super) struct RunPacked;

impl Scheme for RunPacked {
    fn id(&self) -> u16 {
        3
    }

    fn name(&self) -> &'static str {
        "run-packed"
    }

    fn width(&self, facts: &Facts) -> Option<u8> {
        facts.widest_run.map(|range| bitpack::width_of(range) as u8)
    }

    fn accepts(&self, width: u8, facts: &Facts) -> bool {
        self.width(facts).is_some_and(|widest| width <= widest)
    }

    fn block_bytes(&self, width: u8, rows: u32) -> Option<u64> {
        bitpack::packed_bytes(u32::from(width), u64::from(rows))
    }

    fn encode(&self, width: u8, values: IntegerSlice<'_>, frames: Frames<'_>, out: &mut Vec<u8>) {
        packed::encode(width, values, frames.runs, frames.bases, out);
    }

    fn decode(&self, width: u8, block: &[u8], first: usize, frames: Frames<'_>, out: IntegerRoom<'_>) {
        packed::decode(width, block, first, frames.runs, frames.bases, out);
    }
}
