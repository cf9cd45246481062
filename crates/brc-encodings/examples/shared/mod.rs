//! Shared code of the floors: rows in memory, the cost of this crate, and medians.

pub(crate) mod adder;
pub(crate) mod ours;
pub(crate) mod rows;

use brc_core::Result;
use std::time::Duration;

pub(crate) const RUNS: usize = 5;

/// Runs something several times. Returns the median of each duration that it returns, in nanoseconds per row.
pub(crate) fn medians<const N: usize>(rows: usize, mut run: impl FnMut() -> Result<[Duration; N]>) -> Result<[f64; N]> {
    let runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    Ok(std::array::from_fn(|index| {
        let mut times: Vec<_> = runs.iter().map(|times| times[index]).collect();
        times.sort_unstable();
        times[RUNS / 2].as_secs_f64() * 1e9 / rows as f64
    }))
}
