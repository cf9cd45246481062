//! The lengths, then the unmodified bytes.

use super::{Input, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer};
use crate::strings::section::{self, Section};
use std::ops::Range;

pub(super) struct Plain;

impl Scheme for Plain {
    fn id(&self) -> u8 {
        1
    }

    fn name(&self) -> &'static str {
        "plain"
    }

    fn cost(&self) -> u32 {
        1
    }

    fn plan(&self, input: Input<'_>) -> Option<Plan> {
        Some(Plan::sized(section::lengths_size(input.values) + input.values.total_bytes() as u64))
    }

    fn encode(&self, input: Input<'_>, _: &Plan, out: &mut Vec<u8>) {
        section::write(input.values, None, out);
    }

    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        Section::open(stored.bytes, stored.rows, None)?.decode(rows, scratch, out)
    }
}
