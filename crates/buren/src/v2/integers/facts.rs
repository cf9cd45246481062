//! What one pass over a chunk finds out about it.

use super::BLOCK_ROWS;
use super::spread::{Spread, positions};
use brc_kernels::arithmetic::{Profile, profile};
use brc_kernels::cpu::Level;

/// A chunk's values and what is known of them.
pub(super) struct Facts<'a> {
    pub(super) values: &'a [i64],
    /// Another column's values of the same rows; empty if there is none.
    pub(super) reference: &'a [i64],
    /// Of all values.
    pub(super) profile: Profile,
    /// Of each block's values.
    pub(super) spreads: Vec<Spread>,
    /// Of each block's differences between neighbours.
    pub(super) steps: Vec<Spread>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(values: &'a [i64], reference: &'a [i64]) -> Self {
        let mut facts = Self { values, reference, profile: Profile::EMPTY, spreads: Vec::new(), steps: Vec::new() };
        let mut before = None;
        for block in values.chunks(BLOCK_ROWS) {
            let profile = profile(Level::best(), block);
            facts.add(before, block[0], &profile);
            let count = block.len();
            let sample = positions(count).map(|row| block[row]);
            facts.spreads.push(Spread::new(count, profile.min, profile.max, sample));
            let sample = positions(count - 1).map(|row| block[row + 1].wrapping_sub(block[row]));
            facts.steps.push(Spread::new(count - 1, profile.min_step, profile.max_step, sample));
            before = block.last();
        }
        facts
    }

    /// The smallest and the largest value of each block.
    pub(super) fn bounds(&self) -> Vec<(i64, i64)> {
        self.spreads.iter().map(|spread| (spread.min, spread.min.wrapping_add(spread.range as i64))).collect()
    }

    fn add(&mut self, before: Option<&i64>, first: i64, block: &Profile) {
        let all = &mut self.profile;
        all.min = all.min.min(block.min);
        all.max = all.max.max(block.max);
        all.min_step = all.min_step.min(block.min_step);
        all.max_step = all.max_step.max(block.max_step);
        all.changes += block.changes;
        if let Some(before) = before {
            let step = first.wrapping_sub(*before);
            all.min_step = all.min_step.min(step);
            all.max_step = all.max_step.max(step);
            all.changes += usize::from(step != 0);
        }
    }
}
