//! An aggregate needs little of each group: a count, a sum, the smallest value. This folder keeps that for all groups
//! side by side: a state is a column with one entry for each group, updated by whole batches.
//!
//! In: values that are not null and their groups (`Values`, `GroupIds`). Out: states that merge and from which
//! aggregates are computed. Several aggregates may be computed from one state. All states are exact: whatever the
//! order in which values arrive and states merge, the result is the same.
//!
//! Where to look:
//!
//! - what each kind implements (`Accumulator`), all kinds (`StateKind`): `mod.rs`; a column of any kind (`State`):
//!   `state.rs`; values that states take: `incoming.rs`
//! - counts, sums and bounds: `counts.rs`, `integers.rs`, `sums.rs`, `wide.rs`, `wide_sums.rs`, `float_sums.rs`,
//!   `float_sum.rs`, `float_bounds.rs`, `bytes.rs`
//! - states that share rows of accumulator slots while rows go by: `slots.rs`
//! - variances and correlations: `moments.rs`, `pairs.rs`, `float_products.rs`, `big.rs`
//! - distinct values, exactly and about: `distinct.rs`, `value_pairs.rs`, `code_bits.rs`, `sketch.rs`
//! - all values: quantiles, modes, the largest: `values.rs`, `value_lists.rs`, `buckets.rs`, `frequencies.rs`,
//!   `largest.rs`
//! - values of first, last or extreme rows; strings in order: `extremes.rs`, `owned.rs`, `listed.rs`

mod big;
mod buckets;
mod bytes;
mod code_bits;
pub(crate) mod counts;
mod distinct;
mod extremes;
mod float_bounds;
mod float_products;
mod float_sum;
mod float_sums;
mod frequencies;
mod incoming;
mod integers;
pub(crate) mod largest;
mod listed;
mod moments;
mod owned;
mod pairs;
mod sketch;
pub(crate) mod slots;
mod sorted_lists;
mod state;
mod sums;
mod value_lists;
mod value_pairs;
mod values;
mod wide;
mod wide_sums;

pub(crate) use float_sum::FloatSum;
pub(crate) use incoming::Values;
use incoming::{numbers_of, weighted_integers};
pub(crate) use moments::Moment;
pub(crate) use pairs::PairMoment;
pub(crate) use state::State;

use crate::keys::group_ids::{GroupIds, check_rows};
use crate::values::cells::Cells;
use crate::values::error::{BatchError, TOO_LARGE};
use brc_core::Value;
use brc_core::table::ColumnSummary;
use brc_kernels::cpu::Level;
use std::ops::Range;

/// One kind of state, in a column with an entry for each group. What a kind does not keep, it does not override.
pub(crate) trait Accumulator: Sized {
    /// Whether the state is the same however often a value comes.
    const IGNORES_REPEATS: bool = false;

    /// The number of groups.
    fn len(&self) -> usize;

    /// Adds empty groups until there are `groups`.
    fn grow(&mut self, groups: usize);

    /// Adds values to their groups.
    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), BatchError>;

    /// Adds pairs of values to their groups.
    fn update_pairs(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>, _: Values<'_>) -> Result<(), BatchError> {
        Err(BatchError("values are not of pairs"))
    }

    /// Whether [`Accumulator::update_weighted`] is supported.
    fn takes_weights(&self) -> bool {
        Self::IGNORES_REPEATS
    }

    /// Adds values to their groups, each as often as its weight says.
    fn update_weighted(
        &mut self,
        level: Level,
        groups: &[u32],
        _weights: &[u32],
        values: Values<'_>,
    ) -> Result<(), BatchError> {
        match Self::IGNORES_REPEATS {
            true => self.update(level, GroupIds::Rows(groups), values),
            false => Err(BatchError("it has rows that stand for others")),
        }
    }

    /// Adds sets of rows to their groups by the statistics of a column. `rows` has the number of rows of each set; none
    /// of them is null.
    fn update_sets(&mut self, _: Level, _: &[u32], _: &[u32], _: &ColumnSummary<'_>) -> Result<(), BatchError> {
        Err(BatchError("a summary's column of numbers is not there"))
    }

    /// Whether another state is of values of the same type.
    fn is_like(&self, _: &Self) -> bool {
        true
    }

    /// The state of these groups only, in their order. No more values have come since [`Accumulator::finish`].
    fn take(&self, groups: &[u32]) -> Self;

    /// Adds the groups of another state to those in `groups`.
    fn merge(&mut self, other: &Self, groups: &[u32]);

    /// Called when no more values will come: prepares for merging.
    fn finish(&mut self) {}

    /// Called when nothing more will be merged either: prepares for reading, by the given number of threads.
    fn prepare(&mut self, _: usize) {}

    /// Whether a state from another process is consistent.
    fn is_sound(&self) -> bool {
        true
    }

    /// The number of values of a group, or of distinct values where only these are kept.
    fn count(&self, _: usize) -> u64 {
        0
    }

    /// The smallest and the largest value of a group.
    fn bounds(&self, _: usize) -> Option<(Value<'_>, Value<'_>)> {
        None
    }

    /// The sum of the values of a group; `None` if it has none.
    fn sum(&self, _: usize) -> Option<Sum> {
        None
    }

    /// Appends the sums of consecutive groups. Returns `false` if they must be taken one by one.
    fn sums(&self, _: Range<usize>, _: &mut Cells) -> bool {
        false
    }

    /// Count, sum and sum of squares of a group; `None` if the variance is not a number.
    fn moment(&self, _: usize) -> Option<Moment> {
        None
    }

    /// The moments of the pairs of a group.
    fn pair_moment(&self, _: usize) -> Option<PairMoment> {
        None
    }

    /// The value that goes with the smallest, or the largest, other value of a group.
    fn extreme(&self, _: usize, _largest: bool) -> Option<Value<'_>> {
        None
    }

    /// The most frequent value of a group, the smallest of several; `None` if there is no value.
    fn mode(&self, _: usize) -> Option<Value<'_>> {
        None
    }

    /// Appends all strings of a group with a separator between; `None` if there are none.
    fn join(&self, _: usize, _separator: &[u8], _: &mut Vec<u8>) -> Option<()> {
        None
    }

    /// The values at some ascending ranks among the sorted values of a group, which `ranks` finds for their number.
    fn ranked<const RANKS: usize>(
        &self,
        _: usize,
        _ranks: impl FnOnce(usize) -> [usize; RANKS],
    ) -> Option<[Value<'_>; RANKS]> {
        None
    }
}

/// The index of each of `count` groups among those that are wanted.
fn places(wanted: &[u32], count: usize) -> Vec<Option<u32>> {
    let mut places = vec![None; count];
    (0..).zip(wanted).for_each(|(place, &group)| places[group as usize] = Some(place));
    places
}

/// A kind of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum StateKind {
    /// The number of values, of any type.
    Counts,
    /// Count, sum, smallest and largest of integers.
    Integers,
    /// Count and sum of integers.
    Sums,
    /// The sum and the count of floats.
    FloatSums,
    /// The smallest and the largest float.
    FloatBounds,
    /// The smallest and the largest string.
    Bytes,
    /// Count, sum and sum of squares of numbers.
    Moments,
    /// The distinct values, of any type.
    Distinct,
    /// How often each value occurs, of any type.
    Frequencies,
    /// The largest numbers, this many of them.
    Largest(usize),
    /// All numbers.
    Values,
    /// Both [`StateKind::Values`] and [`StateKind::Moments`].
    ValuesAndMoments,
    /// Moments of pairs of numbers.
    Pairs,
    /// The values that go with the smallest and the largest other value.
    Extremes,
    /// All strings in the order of rows.
    Listed,
    /// About the number of distinct values.
    Sketch,
}

impl StateKind {
    /// Whether what it keeps of a group is about as small as a value.
    pub(crate) fn is_small(self) -> bool {
        match self {
            Self::Counts
            | Self::Integers
            | Self::Sums
            | Self::FloatSums
            | Self::FloatBounds
            | Self::Bytes
            | Self::Moments
            | Self::Pairs => true,
            Self::Distinct
            | Self::Frequencies
            | Self::Largest(_)
            | Self::Values
            | Self::ValuesAndMoments
            | Self::Extremes
            | Self::Listed
            | Self::Sketch => false,
        }
    }

    /// Whether there is no limit to what it keeps of one group.
    pub(crate) fn keeps_values(self) -> bool {
        match self {
            Self::Distinct | Self::Frequencies | Self::Values | Self::ValuesAndMoments | Self::Listed => true,
            Self::Largest(most) => most > largest::MAX_KEPT_VALUES,
            Self::Counts
            | Self::Sums
            | Self::Integers
            | Self::FloatSums
            | Self::FloatBounds
            | Self::Bytes
            | Self::Moments
            | Self::Pairs
            | Self::Extremes
            | Self::Sketch => false,
        }
    }
}

/// The sum of a group's values.
#[derive(Debug, Clone)]
pub(crate) enum Sum {
    /// Of integers.
    Integer {
        /// The sum.
        sum: i128,
        /// How many they are.
        count: u64,
    },
    /// Of integers of which the sum may need more than 128 bits.
    Wide(wide_sums::WideSum),
    /// Of floats.
    Float(FloatSum),
}
