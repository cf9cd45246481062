//! All integers of the chunk are the same: the footer has it, and there are no blocks.

use super::{Facts, Frames, Scheme};
use crate::integer_buffer::{IntegerRoom, IntegerSlice};

pub(super) struct Constant;

impl Scheme for Constant {
    fn id(&self) -> u16 {
        0
    }

    fn name(&self) -> &'static str {
        "constant"
    }

    fn width(&self, facts: &Facts) -> Option<u8> {
        (facts.min == facts.max).then_some(0)
    }

    fn block_bytes(&self, _width: u8, _rows: u32) -> Option<u64> {
        None
    }

    fn encode(&self, _width: u8, _values: IntegerSlice<'_>, _frames: Frames<'_>, _out: &mut Vec<u8>) {}

    fn decode(&self, _: u8, _: &[u8], _: usize, frames: Frames<'_>, out: IntegerRoom<'_>) {
        match out {
            IntegerRoom::I16(out) => out.fill(frames.chunk as i16),
            IntegerRoom::I32(out) => out.fill(frames.chunk as i32),
            IntegerRoom::I64(out) => out.fill(frames.chunk),
        }
    }
}
