//! Runs of equal length whose values grow by a constant step and start over after a period, like the row and column
//! numbers of a grid stored point by point. Blocks are empty.

use super::chunk::{AnyLayout, Block, Output};
use super::chunk_statistics::ChunkStatistics;
use super::scheme::{Fit, Input, Layout, Scheme};
use crate::integer_slice::for_widths;
use crate::malformed::{Malformed, Result, finish, take_array};
use brc_kernels::arithmetic::{Integer, Profile, running_sums};
use brc_kernels::cpu::Level;

pub(super) const SCHEME: Scheme = Scheme { id: 10, name: "periodic", cost: 40, fit, open };

/// The minimum average number of rows per step of the decoder; below it, other schemes are faster.
const MIN_ROWS_PER_STEP: u64 = 32;

#[derive(Debug)]
struct Periodic {
    /// The value of the first run of a period.
    base: i64,
    step: i64,
    /// The rows per run; never 0.
    run: u64,
    /// The runs per period; 0 if there is only one period.
    period: u64,
    /// The number of rows of the first period before the chunk.
    offset: u64,
}

fn fit(statistics: &ChunkStatistics<'_>, _smallest: u64) -> Option<Fit> {
    let periodic = for_widths!(statistics.values, values => {
        Periodic::of(values, &statistics.profile).filter(|periodic| periodic.holds(values))
    })?;
    Some(Fit::new(periodic, 0))
}

fn open(mut parameters: &[u8]) -> Result<Box<dyn AnyLayout>> {
    let base = i64::from_le_bytes(take_array(&mut parameters)?);
    let step = i64::from_le_bytes(take_array(&mut parameters)?);
    let run = u64::from_le_bytes(take_array(&mut parameters)?);
    let period = u64::from_le_bytes(take_array(&mut parameters)?);
    let offset = u64::from_le_bytes(take_array(&mut parameters)?);
    finish(parameters)?;
    if run == 0 {
        return Err(Malformed("its runs have no rows"));
    }
    Ok(Box::new(Periodic { base, step, run, period, offset }))
}

impl Periodic {
    /// The parameters of the values, assuming that they are periodic.
    fn of<T: Integer>(values: &[T], profile: &Profile) -> Option<Self> {
        let first = *values.first()?;
        // The first run may be incomplete, and the second one may be the last.
        let before = values.iter().position(|&value| value != first)?;
        let second = values[before..].iter().position(|&value| value != values[before]);
        let run = second.unwrap_or(before.max(values.len() - before)) as u64;
        let lacking = run.checked_sub(before as u64)?;
        let is_one_way = profile.min_step >= 0 || profile.max_step <= 0;
        let periodic = if is_one_way {
            let step = values[before].wide().wrapping_sub(first.wide());
            Self { base: first.wide(), step, run, period: 0, offset: lacking }
        } else {
            let (step, range) = (profile.max_step as u64, profile.max.checked_sub(profile.min)? as u64);
            if profile.min_step.checked_neg()? as u64 != range || !range.is_multiple_of(step) {
                return None;
            }
            let turn = first.wide().wrapping_sub(profile.min) as u64 / step;
            let offset = turn.checked_mul(run)?.checked_add(lacking)?;
            Self { base: profile.min, step: step as i64, run, period: range / step + 1, offset }
        };
        let span = if periodic.run == 1 { periodic.period } else { periodic.run };
        (span >= MIN_ROWS_PER_STEP).then_some(periodic)
    }

    /// Whether the parameters produce exactly these values.
    fn holds(&self, values: &[impl Integer]) -> bool {
        let mut expected = [0i64; 1024];
        let mut rows = (0..).step_by(expected.len());
        values.chunks(expected.len()).zip(&mut rows).all(|(values, row)| {
            let expected = &mut expected[..values.len()];
            self.fill(row, expected);
            expected.iter().zip(values).all(|(expected, value)| *expected == value.wide())
        })
    }

    /// Writes the values from a row of the chunk on.
    fn fill<T: Integer>(&self, row: u64, mut values: &mut [T]) {
        let mut position = row.wrapping_add(self.offset);
        while !values.is_empty() {
            let (turn, within) = (position / self.run, position % self.run);
            let turn = turn.checked_rem(self.period).unwrap_or(turn);
            let value = self.base.wrapping_add(self.step.wrapping_mul(turn as i64));
            let left = match (self.run, self.period) {
                (1, 0) => u64::MAX,
                (1, period) => period - turn,
                (run, _) => run - within,
            };
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(values.len());
            let (span, rest) = values.split_at_mut(count);
            if self.run == 1 {
                span.fill(T::cut(self.step));
                running_sums(Level::best(), T::cut(value.wrapping_sub(self.step)), span);
            } else {
                span.fill(T::cut(value));
            }
            position = position.wrapping_add(count as u64);
            values = rest;
        }
    }
}

impl Layout for Periodic {
    fn parameters(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&self.step.to_le_bytes());
        for count in [self.run, self.period, self.offset] {
            out.extend_from_slice(&count.to_le_bytes());
        }
    }

    fn encode(&self, _input: &Input<'_>, _out: &mut Vec<u8>) {}

    fn decode<T: Integer>(&self, block: &Block<'_>, output: Output<'_, T>) -> Result<()> {
        finish(block.bytes)?;
        self.fill(block.start.wrapping_add(output.first as u64), output.values);
        Ok(())
    }
}
