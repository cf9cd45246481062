//! Arithmetic progressions, such as row numbers: start and step are parameters, and blocks are empty.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::scheme::{Fit, Input, Layout, Scheme};
use crate::malformed::{Result, finish, take_array};
use brc_kernels::arithmetic::{Integer, progression};
use brc_kernels::cpu::Level;

pub(super) const SCHEME: Scheme = Scheme { id: 9, name: "progression", cost: 33, fit, open };

#[derive(Debug)]
struct Progression {
    start: i64,
    step: i64,
}

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    let step = statistics.profile.min_step;
    let is_one = !statistics.values.is_empty() && step == statistics.profile.max_step;
    is_one.then(|| Fit::new(Progression { start: statistics.values.get(0), step }, 0))
}

fn open(mut parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    let start = i64::from_le_bytes(take_array(&mut parameters)?);
    let step = i64::from_le_bytes(take_array(&mut parameters)?);
    finish(parameters)?;
    Ok(Box::new(Progression { start, step }))
}

impl Layout for Progression {
    fn parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&self.step.to_le_bytes());
    }

    fn encode(&self, _input: &Input<'_>, _out: &mut Vec<u8>) {}

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        finish(block.bytes)?;
        let row = block.start.wrapping_add(output.first as u64) as i64;
        let first = self.start.wrapping_add(self.step.wrapping_mul(row));
        progression(Level::best(), T::cut(first), T::cut(self.step), output.values);
        Ok(())
    }
}
