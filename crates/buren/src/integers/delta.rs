//! Packed differences between consecutive integers, for sorted and slowly changing columns. Each group starts anew, so
//! that it can be decoded on its own.

use super::GROUP_ROWS;
use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::spread::Spread;
use super::stream::{self, Stream, read_short, write_short};
use crate::malformed::{Malformed, Result, finish, take, take_array};
use brc_kernels::arithmetic::{Integer, running_sums};
use brc_kernels::bitpack::width_of;
use brc_kernels::cpu::Level;

pub(super) const SCHEME: Scheme = Scheme { id: 5, name: "delta", cost: 44, fit, open };

/// The size of the header before the groups' starts: the smallest start (8), bytes per start (1).
const STARTS_HEADER_BYTES: u64 = 9;

#[derive(Debug)]
struct Delta;

fn fit(statistics: &ChunkStatistics<'_>, smallest: u64) -> Option<Fit> {
    // Steps between unordered integers are not worth a closer look.
    if statistics.steps.iter().map(Spread::min_bytes).sum::<u64>() >= smallest {
        return None;
    }
    let block = |(values, steps): (&Spread, &Spread)| {
        let starts = values.count.div_ceil(GROUP_ROWS) as u64 * u64::from(width_of(values.range).div_ceil(8));
        STARTS_HEADER_BYTES + starts + stream::estimate(steps)
    };
    let bytes = statistics.spreads.iter().zip(&statistics.steps).map(block).sum();
    (statistics.values.len() > 1).then(|| Fit::new(Delta, bytes))
}

fn open(parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    finish(parameters)?;
    Ok(Box::new(Delta))
}

impl Layout for Delta {
    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        let (mut starts, mut steps) = (Vec::new(), Vec::with_capacity(input.values.len()));
        for group in input.values.wide().chunks(GROUP_ROWS) {
            // The first step is that of the next row, so that it is no wider than the others; the start is adjusted to
            // match.
            let first = group.get(1).map_or(0, |second| second.wrapping_sub(group[0]));
            starts.push(group[0].wrapping_sub(first));
            steps.push(first);
            steps.extend(group.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])));
        }
        let frame = starts.iter().copied().min().unwrap_or(0);
        let range = starts.iter().copied().max().unwrap_or(0).wrapping_sub(frame) as u64;
        let width = width_of(range).div_ceil(8);
        out.extend_from_slice(&frame.to_le_bytes());
        out.push(width as u8);
        write_short(starts.iter().map(|start| start.wrapping_sub(frame) as u64), width as usize, out);
        stream::write(&steps, out);
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        const IMPOSSIBLE: Malformed = Malformed("its groups' starts are of an impossible size");
        let mut bytes = block.bytes;
        let frame = i64::from_le_bytes(take_array(&mut bytes)?);
        let [width @ 0..=8] = take_array(&mut bytes)? else { return Err(IMPOSSIBLE) };
        let starts = take(&mut bytes, block.rows.div_ceil(GROUP_ROWS) * usize::from(width))?;
        let steps = Stream::take(&mut bytes, block.rows)?;
        finish(bytes)?;
        steps.read(output.first, output.values)?;
        for (group, values) in (output.first / GROUP_ROWS..).zip(output.values.chunks_mut(GROUP_ROWS)) {
            let start = read_short(starts, width.into(), group).ok_or(IMPOSSIBLE)?;
            running_sums(Level::best(), T::cut(frame.wrapping_add(start as i64)), values);
        }
        Ok(())
    }
}
