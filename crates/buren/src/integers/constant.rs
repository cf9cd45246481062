//! All integers of the chunk are equal: the value is a parameter, and blocks are empty.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::scheme::{Fit, Input, Layout, Scheme};
use crate::malformed::{Result, finish, take_array};
use brc_kernels::arithmetic::Integer;

pub(super) const SCHEME: Scheme = Scheme { id: 0, name: "constant", cost: 14, fit, open };

#[derive(Debug)]
struct Constant(i64);

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    (statistics.profile.min == statistics.profile.max).then(|| Fit::new(Constant(statistics.profile.min), 0))
}

fn open(mut parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    let value = i64::from_le_bytes(take_array(&mut parameters)?);
    finish(parameters)?;
    Ok(Box::new(Constant(value)))
}

impl Layout for Constant {
    fn parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }

    fn encode(&self, _input: &Input<'_>, _out: &mut Vec<u8>) {}

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        finish(block.bytes)?;
        output.values.fill(T::cut(self.0));
        Ok(())
    }
}
