//! Few distinct integers that are far apart: they are parameters in ascending order, and blocks are packed indices.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::packed::only_stream;
use super::scheme::{Fit, Input, Layout, Scheme};
use super::stream::{self, Stream};
use super::{BLOCK_ROWS, GROUP_ROWS};
use crate::malformed::{Malformed, Result, finish, take_array};
use brc_kernels::arithmetic::{Integer, look_up};
use brc_kernels::bitpack::width_of;
use brc_kernels::cpu::Level;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

pub(super) const SCHEME: Scheme = Scheme { id: 6, name: "dictionary", cost: 41, fit, open };

/// The maximum number of distinct integers, so that an index fits 16 bits.
const MAX_VALUES: usize = BLOCK_ROWS;

/// The maximum range in which distinct integers are counted without sorting.
const MAX_COUNTED_RANGE: u64 = 1 << 16;

#[derive(Debug)]
struct Dictionary {
    /// The distinct values in ascending order.
    values: Vec<i64>,
    /// The index of each value; empty for decoding.
    positions: HashMap<i64, u32, FixedState>,
}

fn fit(statistics: &ChunkStatistics<'_>, smallest: u64) -> Option<Fit> {
    // There are at least as many distinct values as in the sample.
    let sampled = distinct_in_sample(statistics)?;
    if estimate(statistics.values.len(), sampled) > smallest / 10 * 9 {
        return None;
    }
    let mut positions = HashMap::with_hasher(FixedState::default());
    let mut before = None;
    for &value in &*statistics.values.wide() {
        if before != Some(value) {
            positions.insert(value, 0u32);
            before = Some(value);
        }
        if positions.len() > MAX_VALUES {
            return None;
        }
    }
    let mut values: Vec<_> = positions.keys().copied().collect();
    values.sort_unstable();
    for (position, value) in (0..).zip(&values) {
        positions.insert(*value, position);
    }
    let bytes = estimate(statistics.values.len(), values.len()) - 8 * values.len() as u64;
    Some(Fit::new(Dictionary { values, positions }, bytes))
}

/// The number of distinct values in the sample; `None` if there seem to be too many.
fn distinct_in_sample(statistics: &ChunkStatistics<'_>) -> Option<usize> {
    let min = statistics.profile.min;
    let sample = statistics.spreads.iter().flat_map(|spread| {
        let offset = spread.min.wrapping_sub(min) as u64;
        spread.sample.iter().map(move |of_spread| of_spread.wrapping_add(offset))
    });
    let sampled = statistics.spreads.iter().map(|spread| spread.sample.len()).sum::<usize>();
    let distinct = match statistics.profile.max.wrapping_sub(min) as u64 {
        range @ 0..MAX_COUNTED_RANGE => {
            let mut seen = vec![false; range as usize + 1];
            sample.for_each(|offset| seen[offset as usize] = true);
            seen.iter().filter(|seen| **seen).count()
        }
        _ => {
            let mut sample: Vec<_> = sample.collect();
            sample.sort_unstable();
            sample.dedup();
            sample.len()
        }
    };
    (distinct > 0 && distinct * 2 <= sampled).then_some(distinct)
}

fn estimate(rows: usize, distinct: usize) -> u64 {
    rows as u64 * u64::from(width_of(distinct as u64 - 1)) / 8 + 8 * distinct as u64
}

fn open(mut parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    let count = u32::from_le_bytes(take_array(&mut parameters)?) as usize;
    let stream = Stream::take(&mut parameters, count)?;
    finish(parameters)?;
    let mut values = vec![0; count];
    stream.read(0, &mut values)?;
    if values.is_empty() || !values.is_sorted_by(|a, b| a < b) {
        return Err(Malformed("its dictionary is not in ascending order"));
    }
    Ok(Box::new(Dictionary { values, positions: HashMap::with_hasher(FixedState::default()) }))
}

impl Layout for Dictionary {
    fn parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.values.len() as u32).to_le_bytes());
        stream::write(&self.values, out);
    }

    fn encode(&self, input: &Input<'_>, out: &mut Vec<u8>) {
        let position = |value| self.positions.get(value).copied().unwrap_or(0).into();
        let positions: Vec<i64> = input.values.wide().iter().map(position).collect();
        stream::write(&positions, out);
    }

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        let stream = only_stream(block)?;
        let mut positions = [0; GROUP_ROWS];
        let mut first = output.first;
        for values in output.values.chunks_mut(GROUP_ROWS) {
            let positions = &mut positions[..values.len()];
            stream.read(first, positions)?;
            if !look_up(Level::best(), &self.values, positions, values) {
                return Err(Malformed("it refers to a value after the last one of its dictionary"));
            }
            first += GROUP_ROWS;
        }
        Ok(())
    }
}
