//! Runs of equal integers: values and lengths, both packed. Runs end at group boundaries, so that each group can be
//! decoded on its own.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::periodic;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::stream::{self, Stream};
use super::{BLOCK_ROWS, GROUP_ROWS};
use crate::integer_slice::{IntegerSlice, for_widths};
use crate::malformed::{Malformed, Result, finish, take};
use brc_kernels::arithmetic::{Integer, repeat};
use brc_kernels::cpu::Level;

pub(super) const SCHEME: Scheme = Scheme { id: 4, name: "run-length", cost: 50, fit, open };

/// One block in this many is encoded to estimate the size of all.
const TRIAL_STEP: usize = 4;

/// At this average run length, decoding is as fast as for the periodic scheme.
const MIN_LONG_RUN: usize = 64;
const COST_OF_LONG_RUNS: u32 = periodic::SCHEME.cost;

#[derive(Debug)]
struct RunLength;

fn fit(statistics: &ChunkStatistics<'_>, smallest: u64) -> Option<Fit> {
    // A lower bound: each run takes some bits for its value and some for its length.
    let least = statistics.profile.changes as u64 * 6 / 8;
    if statistics.values.is_empty() || statistics.profile.changes > statistics.values.len() / 2 || least > smallest {
        return None;
    }
    let (mut rows, mut bytes) = (0, Vec::new());
    for block in statistics.values.chunks(BLOCK_ROWS).step_by(TRIAL_STEP) {
        encode(block, &mut bytes);
        rows += block.len() as u64;
    }
    let estimate = bytes.len() as u64 * statistics.values.len() as u64 / rows;
    let are_long = statistics.values.len() / (statistics.profile.changes + 1) >= MIN_LONG_RUN;
    Some(Fit { cost: are_long.then_some(COST_OF_LONG_RUNS), ..Fit::new(RunLength, estimate) })
}

fn open(parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    finish(parameters)?;
    Ok(Box::new(RunLength))
}

fn encode(values: IntegerSlice<'_>, out: &mut Vec<u8>) {
    let (mut of_runs, mut lengths) = (Vec::new(), Vec::<i16>::new());
    for_widths!(values, values => {
        for group in values.chunks(GROUP_ROWS) {
            let before = of_runs.len();
            for run in group.chunk_by(|a, b| a == b) {
                of_runs.push(run[0].wide());
                lengths.push(run.len() as i16 - 1);
            }
            out.extend_from_slice(&((of_runs.len() - before) as u16).to_le_bytes());
        }
    });
    stream::write(&of_runs, out);
    stream::write(&lengths, out);
}

impl Layout for RunLength {
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        encode(input.values, out);
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        let mut bytes = block.bytes;
        let counts = take(&mut bytes, 2 * block.rows.div_ceil(GROUP_ROWS))?.as_chunks().0;
        let count = |stored: &[u8; 2]| usize::from(u16::from_le_bytes(*stored));
        if counts.iter().any(|stored| count(stored) > GROUP_ROWS) {
            return Err(Malformed("a group has more runs than rows"));
        }
        let all = counts.iter().map(count).sum();
        let (values, lengths) = (Stream::take(&mut bytes, all)?, Stream::take(&mut bytes, all)?);
        finish(bytes)?;
        let group = output.first / GROUP_ROWS;
        let first = counts[..group].iter().map(count).sum();
        let (mut values, mut lengths) =
            (RunReader::<T>::new(values, all, first), RunReader::<i16>::new(lengths, all, first));
        let mut whole = [T::default(); GROUP_ROWS];
        for ((number, out), stored) in (group..).zip(output.values.chunks_mut(GROUP_ROWS)).zip(&counts[group..]) {
            let (run_values, run_lengths) = (values.next(count(stored))?, lengths.next(count(stored))?);
            let rows = GROUP_ROWS.min(block.rows - number * GROUP_ROWS);
            let fills = match out.len() == rows {
                true => repeat(Level::best(), run_values, run_lengths, out),
                false => repeat(Level::best(), run_values, run_lengths, &mut whole[..rows]),
            };
            if !fills {
                return Err(Malformed("the runs of a group do not add up to its rows"));
            }
            if out.len() < rows {
                out.copy_from_slice(&whole[..out.len()]);
            }
        }
        Ok(())
    }
}

/// Reads the values or the lengths of runs group by group. It decodes whole groups of packed integers, of which the
/// runs of one group of rows are usually only a part.
struct RunReader<'a, T> {
    stream: Stream<'a>,
    /// The number of integers in the stream, and how many were decoded.
    all: usize,
    read: usize,
    /// Decoded integers, of which the first `consumed` have been returned.
    buffer: [T; 2 * GROUP_ROWS],
    consumed: usize,
    filled: usize,
}

impl<'a, T: Integer> RunReader<'a, T> {
    /// Starts at index `first`.
    fn new(stream: Stream<'a>, all: usize, first: usize) -> Self {
        Self { stream, all, read: first, buffer: [T::default(); 2 * GROUP_ROWS], consumed: 0, filled: 0 }
    }

    /// The next `count` integers, which must exist; at most a group's number of rows.
    fn next(&mut self, count: usize) -> Result<&[T]> {
        if self.filled - self.consumed < count {
            self.buffer.copy_within(self.consumed..self.filled, 0);
            (self.consumed, self.filled) = (0, self.filled - self.consumed);
        }
        while self.filled < self.consumed + count {
            let more = (GROUP_ROWS - self.read % GROUP_ROWS).min(self.all - self.read);
            self.stream.read(self.read, &mut self.buffer[self.filled..self.filled + more])?;
            self.read += more;
            self.filled += more;
        }
        self.consumed += count;
        Ok(&self.buffer[self.consumed - count..self.consumed])
    }
}
