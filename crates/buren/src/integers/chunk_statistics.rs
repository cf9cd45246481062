//! Statistics of a chunk, gathered in one pass.

use super::BLOCK_ROWS;
use super::spread::{Spread, positions};
use crate::integer_slice::{IntegerSlice, for_widths};
use brc_kernels::arithmetic::{Integer, Profile};

/// A chunk's values and their statistics.
pub(super) struct ChunkStatistics<'a> {
    pub(super) values: IntegerSlice<'a>,
    /// The values of the reference column in the same rows; empty if there is none.
    pub(super) reference: IntegerSlice<'a>,
    /// The profile of all values.
    pub(super) profile: Profile,
    /// The spread of each block's values.
    pub(super) spreads: Vec<Spread>,
    /// The spread of each block's differences between consecutive values.
    pub(super) steps: Vec<Spread>,
}

impl<'a> ChunkStatistics<'a> {
    pub(super) fn new(values: IntegerSlice<'a>, reference: IntegerSlice<'a>) -> Self {
        let mut statistics =
            Self { values, reference, profile: Profile::EMPTY, spreads: Vec::new(), steps: Vec::new() };
        let mut before = None;
        for block in values.chunks(BLOCK_ROWS) {
            let (profile, count) = (block.profile(), block.len());
            statistics.add(before, block.get(0), &profile);
            for_widths!(block, values => {
                let sample = positions(count).map(|row| values[row].wide());
                statistics.spreads.push(Spread::new(count, profile.min, profile.max, sample));
                let step = |row: usize| values[row].wide().wrapping_sub(values[row - 1].wide());
                let sample = positions(count).filter(|&row| row > 0).map(step);
                statistics.steps.push(Spread::new(count - 1, profile.min_step, profile.max_step, sample));
            });
            before = Some(block.get(count - 1));
        }
        statistics
    }

    /// The minimum and maximum of each block.
    pub(super) fn bounds(&self) -> Vec<(i64, i64)> {
        self.spreads.iter().map(|spread| (spread.min, spread.min.wrapping_add(spread.range as i64))).collect()
    }

    fn add(&mut self, before: Option<i64>, first: i64, block: &Profile) {
        let all = &mut self.profile;
        all.min = all.min.min(block.min);
        all.max = all.max.max(block.max);
        all.min_step = all.min_step.min(block.min_step);
        all.max_step = all.max_step.max(block.max_step);
        all.changes += block.changes;
        if let Some(before) = before {
            let step = first.wrapping_sub(before);
            all.min_step = all.min_step.min(step);
            all.max_step = all.max_step.max(step);
            all.changes += usize::from(step != 0);
        }
    }
}
