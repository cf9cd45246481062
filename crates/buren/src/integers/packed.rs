//! Each block's differences from a frame of reference, bit-packed, with exceptions for a few outliers.

use super::BLOCK_ROWS;
use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::plan::Plan;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::spread::{PackedRange, Spread, positions};
use super::stream::{self, Stream};
use crate::integer_slice::IntegerSlice;
use crate::malformed::{Result, finish};
use brc_core::Run;
use brc_kernels::arithmetic::Integer;

/// The id of the scheme.
pub(crate) const PACKED: u8 = 2;

pub(super) const SCHEME: Scheme = Scheme { id: PACKED, name: "packed", cost: 20, fit, open };

/// The minimum saving of exceptions in percent for blocks that are read by runs: applying exceptions takes a quarter as
/// long as everything else (2026-11, sums of 50 million temperatures by station).
const MIN_SAVING_PERCENT: u64 = 10;

#[derive(Debug, Default)]
struct Packed {
    /// The packed range of each block; empty for decoding.
    ranges: Vec<PackedRange>,
}

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    Some(fit_of(statistics.spreads.iter().map(Spread::best).collect()))
}

fn fit_of(ranges: Vec<PackedRange>) -> Fit {
    let bytes = ranges.iter().map(|range| stream::HEADER_BYTES + range.bytes).sum();
    Fit::new(Packed { ranges }, bytes)
}

fn open(parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    finish(parameters)?;
    Ok(Box::<Packed>::default())
}

impl Layout for Packed {
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        match self.ranges.get(input.number) {
            Some(range) => stream::write_range(input.values, range, out),
            None => stream::write(input.values, out),
        }
    }

    fn is_patched(&self) -> bool {
        self.ranges.iter().any(|range| !range.is_full)
    }

    fn is_narrow(&self, block: &Block<'_>) -> bool {
        only_stream(block).is_ok_and(|stream| stream.is_narrow())
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        only_stream(block)?.read(output.first, output.values)
    }

    fn decode_codes(&self, block: &Block<'_>, output: Output<'_, i32>) -> Result<Option<u32>> {
        only_stream(block)?.read_codes(output.first, output.values)
    }
}

impl Plan {
    /// Packs integers as differences from the minimum of their run, given the runs' lengths and minimums. `widest` is
    /// the largest difference, `bounds` are those of the integers of each block. Only a sample of the integers is read.
    pub(crate) fn in_runs(
        values: IntegerSlice<'_>,
        (runs, smallest): (&[u32], &[i64]),
        widest: u64,
        bounds: Vec<(i64, i64)>,
    ) -> Self {
        let mut runs = runs.iter().zip(smallest);
        let (mut end, mut frame, mut start) = (0, 0, 0);
        let mut ranges = Vec::new();
        for block in values.chunks(BLOCK_ROWS) {
            let difference = |row: usize| {
                while end <= start + row {
                    let Some((rows, smallest)) = runs.next() else { break };
                    (end, frame) = (end + *rows as usize, *smallest);
                }
                block.get(row).wrapping_sub(frame)
            };
            let sample = positions(block.len()).map(difference);
            let spread = Spread::new(block.len(), 0, widest as i64, sample);
            let (best, full) = (spread.best(), spread.full());
            let is_worth_it = best.bytes * 100 < full.bytes * (100 - MIN_SAVING_PERCENT);
            ranges.push(if is_worth_it { best } else { full });
            start += block.len();
        }
        Self::of(&SCHEME, fit_of(ranges), bounds)
    }
}

/// Decodes `values.len()` integers from row `first` on, of a block packed by [`Plan::in_runs`]. `runs` cover these
/// rows, and their codes index `smallest`, the minimums of the runs.
///
/// # Errors
/// If the block is malformed; the contents of `values` are then unspecified.
///
/// # Panics
/// If the runs cover other rows, or a run has no minimum.
pub(crate) fn decode_in_runs<T: Integer>(
    block: &Block<'_>,
    first: usize,
    runs: &[Run],
    smallest: &[i64],
    values: &mut [T],
) -> Result<()> {
    only_stream(block)?.read_in_runs(first, runs, smallest, values)
}

/// The stream of a block that consists of a single stream.
pub(super) fn only_stream<'a>(block: &Block<'a>) -> Result<Stream<'a>> {
    let mut bytes = block.bytes;
    let stream = Stream::take(&mut bytes, block.rows)?;
    finish(bytes)?;
    Ok(stream)
}
