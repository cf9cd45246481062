//! The lengths, then token codes. The tokens are stored elsewhere, once for many blocks.

use super::{Input, Malformed, Plan, Scheme, Scratch, Stored, StringBuffer};
use crate::strings::GROUP;
use crate::strings::sample::sample;
use crate::strings::section::{self, Section};
use std::ops::Range;

/// The size in bytes of the sample from which a block's size is estimated.
const SAMPLE: usize = 32 << 10;

pub(super) struct Tokenized;

impl Scheme for Tokenized {
    fn id(&self) -> u8 {
        2
    }

    fn name(&self) -> &'static str {
        "tokens"
    }

    fn cost(&self) -> u32 {
        4
    }

    fn plan(&self, input: Input<'_>) -> Option<Plan> {
        let tokenizer = input.tokenizer?;
        let sample = sample(input.values, SAMPLE);
        let mut codes = Vec::new();
        tokenizer.encode(sample.strings(), GROUP, &mut codes, &mut Vec::new());
        let share = input.values.total_bytes() as f64 / sample.strings().total_bytes().max(1) as f64;
        let bits = codes.len() as f64 * share * f64::from(tokenizer.tokens().width());
        Some(Plan::sized(section::lengths_size(input.values) + (bits / 8.0) as u64))
    }

    fn encode(&self, input: Input<'_>, _: &Plan, out: &mut Vec<u8>) {
        section::write(input.values, input.tokenizer, out);
    }

    fn decode(
        &self,
        stored: Stored<'_>,
        rows: Range<usize>,
        scratch: &mut Scratch,
        out: &mut StringBuffer,
    ) -> Result<(), Malformed> {
        let tokens = stored.tokens.ok_or(Malformed("it has tokens, but its column has none"))?;
        Section::open(stored.bytes, stored.rows, Some(tokens))?.decode(rows, scratch, out)
    }
}
