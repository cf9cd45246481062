//! No data: all values equal the template.

use super::{Input, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer};
use std::ops::Range;

pub(super) struct Constant;

impl Scheme for Constant {
    fn id(&self) -> u8 {
        0
    }

    fn name(&self) -> &'static str {
        "constant"
    }

    fn cost(&self) -> u32 {
        0
    }

    fn plan(&self, input: Input<'_>) -> Option<Plan> {
        (input.values.total_bytes() == 0).then(|| Plan::sized(0))
    }

    fn encode(&self, _: Input<'_>, _: &Plan, _: &mut Vec<u8>) {}

    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        _: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        if !stored.bytes.is_empty() {
            return Err(Malformed("there are bytes after the template of a constant"));
        }
        out.set_lengths(rows.map(|_| 0), 0)?;
        out.room();
        Ok(())
    }
}
