//! Packed differences from another column in the same rows: a receipt date follows the shipping date by some days.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::packed::only_stream;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::spread::Spread;
use super::{BLOCK_ROWS, stream};
use crate::integer_slice::IntegerSlice;
use crate::malformed::{Malformed, Result, finish};
use brc_kernels::arithmetic::{Integer, add};
use brc_kernels::cpu::Level;

/// The id of the scheme in files.
pub const DIFFERENCE: u8 = 8;

pub(super) const SCHEME: Scheme = Scheme { id: DIFFERENCE, name: "difference", cost: 25, fit, open };

#[derive(Debug)]
struct Difference;

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    if statistics.reference.len() != statistics.values.len() || statistics.values.is_empty() {
        return None;
    }
    let blocks = statistics.values.chunks(BLOCK_ROWS).zip(statistics.reference.chunks(BLOCK_ROWS));
    let bytes =
        blocks.map(|(values, reference)| stream::estimate(&Spread::of((&differences(values, reference)).into()))).sum();
    Some(Fit::new(Difference, bytes))
}

fn differences(values: IntegerSlice<'_>, reference: IntegerSlice<'_>) -> Vec<i64> {
    let (values, reference) = (values.wide(), reference.wide());
    values.iter().zip(&*reference).map(|(value, other)| value.wrapping_sub(*other)).collect()
}

fn open(parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    finish(parameters)?;
    Ok(Box::new(Difference))
}

impl Layout for Difference {
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        stream::write(&differences(input.values, input.reference), out);
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        if output.reference.len() != output.values.len() {
            return Err(Malformed("it has differences to another column but none is named"));
        }
        only_stream(block)?.read(output.first, output.values)?;
        add(Level::best(), output.values, output.reference);
        Ok(())
    }
}
