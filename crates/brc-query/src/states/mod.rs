//! An aggregate needs little of each group: a count, a sum, the smallest value. This folder keeps that for all groups
//! side by side: a state is a column with one entry for each group, updated by whole batches.
//!
//! In: values that are not null and their groups (`Values`, `GroupIds`). Out: states that merge and from which
//! aggregates are computed. Several aggregates may be computed from one state. All states are exact: whatever the
//! order in which values arrive and states merge, the result is the same.
//!
//! Where to look:
//!
//! - all kinds (`StateKind`), a column of any kind (`State`), what each implements (`Accumulator`): `mod.rs`
//! - counts, sums and bounds: `counts.rs`, `integers.rs`, `sums.rs`, `wide.rs`, `wide_sums.rs`, `float_sums.rs`,
//!   `float_bounds.rs`, `bytes.rs`
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
mod float_sums;
mod frequencies;
mod integers;
pub(crate) mod largest;
mod listed;
mod moments;
mod owned;
mod pairs;
mod sketch;
pub(crate) mod slots;
mod sums;
mod value_lists;
mod value_pairs;
mod values;
mod wide;
mod wide_sums;

pub(crate) use float_sums::FloatSum;
pub(crate) use moments::Moment;
pub(crate) use pairs::PairMoment;

use crate::keys::group_ids::{GroupIds, check_rows};
use crate::values::cells::Cells;
use crate::values::fault::{Malformed, TOO_LARGE};
use brc_core::table::{ColumnSummary, Numbers, Sums};
use brc_core::{ByteStrings, Dictionary, Field, Integers, LogicalType, PhysicalType, Value};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Values that are not null, one for each row of [`GroupIds`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Values<'a> {
    Integers(Integers<'a>),
    Floats(&'a [f64]),
    Codes { codes: &'a [u32], dictionary: &'a Dictionary },
    Bytes { strings: ByteStrings<'a>, rows: &'a [u32] },
}

impl<'a> Values<'a> {
    /// Calls `each` with the group and the string of every row.
    fn each_string(
        self,
        groups: GroupIds<'_>,
        mut each: impl FnMut(usize, &'a [u8]) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        match self {
            Self::Codes { codes, dictionary } => {
                let known = dictionary.len();
                groups.each(codes.len(), |group, row| match codes[row] {
                    code if (code as usize) < known => each(group, dictionary.get(code)),
                    _ => Err(Malformed("a code is not in its dictionary")),
                })
            }
            Self::Bytes { strings, rows } => {
                groups.each(rows.len(), |group, row| each(group, strings.get(rows[row] as usize)))
            }
            Self::Integers(_) | Self::Floats(_) => Err(Malformed("a column of strings is not there")),
        }
    }

    /// One of them.
    fn get(&self, row: usize) -> Result<Value<'a>, Malformed> {
        Ok(match self {
            Self::Integers(values) => Value::Integer(values.get(row)),
            Self::Floats(values) => Value::Float(values[row]),
            Self::Codes { codes, dictionary } => match codes[row] {
                code if (code as usize) < dictionary.len() => Value::Bytes(dictionary.get(code)),
                _ => return Err(Malformed("a code is not in its dictionary")),
            },
            Self::Bytes { strings, rows } => Value::Bytes(strings.get(rows[row] as usize)),
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
            Self::Codes { codes, .. } => codes.len(),
            Self::Bytes { rows, .. } => rows.len(),
        }
    }

    fn integers(&self) -> Result<Integers<'a>, Malformed> {
        match self {
            Self::Integers(values) => Ok(*values),
            Self::Floats(_) | Self::Codes { .. } | Self::Bytes { .. } => {
                Err(Malformed("a column of numbers is not there"))
            }
        }
    }

    fn floats(&self) -> Result<&'a [f64], Malformed> {
        match self {
            Self::Floats(values) => Ok(values),
            Self::Integers(_) | Self::Codes { .. } | Self::Bytes { .. } => {
                Err(Malformed("a column of floats is not there"))
            }
        }
    }
}

/// One kind of state, in a column with an entry for each group.
pub(crate) trait Accumulator {
    /// How many groups there are.
    fn len(&self) -> usize;

    /// Adds empty groups until there are `groups`.
    fn grow(&mut self, groups: usize);

    /// Adds values to their groups.
    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed>;

    /// Adds pairs of values to their groups, where it is of pairs.
    fn update_pairs(&mut self, _: Level, _: GroupIds<'_>, _: Values<'_>, _: Values<'_>) -> Result<(), Malformed> {
        Err(Malformed("values are not of pairs"))
    }

    /// The state of these groups only, in their order. No more values have come since [`Accumulator::finish`].
    fn take(&self, groups: &[u32]) -> Self;

    /// Adds the groups of another to those in `groups`.
    fn merge(&mut self, other: &Self, groups: &[u32]);

    /// Makes everything ready to be merged: no more values will come.
    fn finish(&mut self) {}

    /// Makes everything ready to be read: nothing more will be merged either.
    fn settle(&mut self, _: usize) {}

    /// Whether what arrived from elsewhere makes sense.
    fn is_sound(&self) -> bool {
        true
    }
}

/// The place of each of `count` groups among those that are wanted.
fn places(wanted: &[u32], count: usize) -> Vec<Option<u32>> {
    let mut places = vec![None; count];
    (0..).zip(wanted).for_each(|(place, &group)| places[group as usize] = Some(place));
    places
}

/// Which state it takes.
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

/// A column of state.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum State {
    Counts(counts::Counts),
    Integers(integers::IntegerStates),
    Wide(wide::WideStates),
    Sums(sums::IntegerSums),
    WideSums(wide_sums::WideSums),
    FloatSums(float_sums::FloatSums),
    FloatBounds(float_bounds::FloatBounds),
    Bytes(bytes::ByteBounds),
    Moments(moments::IntegerMoments),
    WideMoments(moments::WideMoments),
    FloatMoments(moments::FloatMoments),
    Distinct(distinct::Distinct),
    Frequencies(frequencies::Frequencies),
    Largest(largest::Largest),
    Values(values::AllValues),
    IntegerPairs(pairs::IntegerPairs),
    FloatPairs(Box<pairs::FloatPairs>),
    Extremes(extremes::Extremes),
    Listed(listed::Listed),
    Sketch(sketch::Sketches),
}

/// Calls a macro with the kinds of [`State`]. [`State::take`] sees to it that none is missing.
macro_rules! with_kinds {
    ($of_kinds:ident) => {
        $of_kinds!(
            Counts,
            Integers,
            Wide,
            Sums,
            WideSums,
            FloatSums,
            FloatBounds,
            Bytes,
            Moments,
            WideMoments,
            FloatMoments,
            Distinct,
            Frequencies,
            Largest,
            Values,
            IntegerPairs,
            FloatPairs,
            Extremes,
            Listed,
            Sketch
        )
    };
}

/// Evaluates an expression with the accumulator of a [`State`], whatever it is.
macro_rules! for_state {
    ($state:expr, $accumulator:ident => $body:expr) => {
        match $state {
            State::Counts($accumulator) => $body,
            State::Integers($accumulator) => $body,
            State::Wide($accumulator) => $body,
            State::Sums($accumulator) => $body,
            State::WideSums($accumulator) => $body,
            State::FloatSums($accumulator) => $body,
            State::FloatBounds($accumulator) => $body,
            State::Bytes($accumulator) => $body,
            State::Moments($accumulator) => $body,
            State::WideMoments($accumulator) => $body,
            State::FloatMoments($accumulator) => $body,
            State::Distinct($accumulator) => $body,
            State::Frequencies($accumulator) => $body,
            State::Largest($accumulator) => $body,
            State::Values($accumulator) => $body,
            State::IntegerPairs($accumulator) => $body,
            State::FloatPairs($accumulator) => $body,
            State::Extremes($accumulator) => $body,
            State::Listed($accumulator) => $body,
            State::Sketch($accumulator) => $body,
        }
    };
}

impl State {
    /// An empty state for values of these columns.
    pub(crate) fn new(kind: StateKind, columns: &[usize], fields: &[Field]) -> Self {
        Self::of_type(kind, fields[columns[0]].logical_type)
    }

    /// An empty state for values of this type.
    fn of_type(kind: StateKind, logical_type: LogicalType) -> Self {
        let is_float = logical_type.physical() == PhysicalType::Floats;
        match kind {
            StateKind::Counts => Self::Counts(Default::default()),
            StateKind::Integers if logical_type.fits_64_bits() => Self::Integers(Default::default()),
            StateKind::Sums if logical_type.fits_64_bits() => Self::Sums(Default::default()),
            StateKind::Integers => Self::Wide(Default::default()),
            StateKind::Sums => Self::WideSums(Default::default()),
            StateKind::FloatSums => Self::FloatSums(Default::default()),
            StateKind::FloatBounds => Self::FloatBounds(Default::default()),
            StateKind::Bytes => Self::Bytes(Default::default()),
            StateKind::Moments if is_float => Self::FloatMoments(Default::default()),
            StateKind::Moments if logical_type.fits_64_bits() => Self::Moments(Default::default()),
            StateKind::Moments => Self::WideMoments(Default::default()),
            StateKind::Distinct => Self::Distinct(distinct::Distinct::new(logical_type)),
            StateKind::Frequencies => Self::Frequencies(frequencies::Frequencies::new(logical_type)),
            StateKind::Largest(most @ 1..=largest::MAX_KEPT_VALUES) if is_float || logical_type.fits_64_bits() => {
                Self::Largest(largest::Largest::new(logical_type, most))
            }
            StateKind::Values => Self::Values(values::AllValues::new(logical_type, true)),
            StateKind::Largest(_) => Self::Values(values::AllValues::new(logical_type, false)),
            StateKind::ValuesAndMoments => Self::Values(values::AllValues::with_moments(logical_type)),
            StateKind::Pairs if is_float => Self::FloatPairs(Default::default()),
            StateKind::Pairs => Self::IntegerPairs(Default::default()),
            StateKind::Extremes => Self::Extremes(Default::default()),
            StateKind::Listed => Self::Listed(Default::default()),
            StateKind::Sketch => Self::Sketch(Default::default()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        for_state!(self, state => state.len())
    }

    pub(crate) fn grow(&mut self, groups: usize) {
        for_state!(self, state => state.grow(groups));
    }

    fn update(&mut self, level: Level, groups: GroupIds<'_>, values: Values<'_>) -> Result<(), Malformed> {
        for_state!(self, state => state.update(level, groups, values))
    }

    /// Adds the values of all columns of the state.
    pub(crate) fn add(&mut self, level: Level, groups: GroupIds<'_>, values: &[Values<'_>]) -> Result<(), Malformed> {
        match values {
            [values] => self.update(level, groups, *values),
            [values, others] => for_state!(self, state => state.update_pairs(level, groups, *values, *others)),
            _ => Err(Malformed("a state has one column or two")),
        }
    }

    /// Whether [`State::add_weighted`] knows how to add rows that stand for others.
    pub(crate) fn takes_weights(&self) -> bool {
        match self {
            Self::Counts(_)
            | Self::Integers(_)
            | Self::Sums(_)
            | Self::FloatBounds(_)
            | Self::Bytes(_)
            | Self::Distinct(_)
            | Self::Frequencies(_)
            | Self::Sketch(_) => true,
            Self::Wide(_)
            | Self::WideSums(_)
            | Self::FloatSums(_)
            | Self::Moments(_)
            | Self::WideMoments(_)
            | Self::FloatMoments(_)
            | Self::Largest(_)
            | Self::Values(_)
            | Self::IntegerPairs(_)
            | Self::FloatPairs(_)
            | Self::Extremes(_)
            | Self::Listed(_) => false,
        }
    }

    /// Adds values of these groups, each of them as often as its weight says.
    pub(crate) fn add_weighted(
        &mut self,
        level: Level,
        groups: &[u32],
        weights: &[u32],
        values: Values<'_>,
    ) -> Result<(), Malformed> {
        match self {
            Self::Counts(state) => state.add_sets(groups, weights),
            Self::Integers(_) | Self::Sums(_) => {
                let values = values.integers()?;
                let values: Result<Vec<i64>, _> = (0..values.len()).map(|row| values.get(row).try_into()).collect();
                let values = values.map_err(|_| TOO_LARGE)?;
                let sums = values.iter().zip(weights).map(|(&value, &weight)| i128::from(value) * i128::from(weight));
                let sums: Vec<i128> = sums.collect();
                let numbers = Numbers { min: &values, max: &values, sum: Sums::Wide(&sums) };
                self.summaries(level, groups, weights, &ColumnSummary::Numbers(numbers))
            }
            Self::Frequencies(state) => state.add_weighted(level, groups, weights, values),
            // It does not matter how often a value comes.
            Self::FloatBounds(_) | Self::Bytes(_) | Self::Distinct(_) | Self::Sketch(_) => {
                self.update(level, GroupIds::Rows(groups), values)
            }
            _ => Err(Malformed("it has rows that stand for others")),
        }
    }

    /// Adds what is known of sets of rows, of which none has nulls.
    pub(crate) fn summaries(
        &mut self,
        level: Level,
        groups: &[u32],
        rows: &[u32],
        column: &ColumnSummary<'_>,
    ) -> Result<(), Malformed> {
        match (self, column) {
            (Self::Integers(state), ColumnSummary::Numbers(numbers)) => state.summaries(level, groups, rows, numbers),
            (Self::Sums(state), ColumnSummary::Numbers(numbers)) => state.summaries(groups, rows, numbers),
            (Self::Counts(state), _) => state.add_sets(groups, rows),
            _ => Err(Malformed("a summary's column of numbers is not there")),
        }
    }

    pub(crate) fn finish(&mut self) {
        for_state!(self, state => state.finish());
    }

    pub(crate) fn settle(&mut self, threads: usize) {
        for_state!(self, state => state.settle(threads));
    }

    pub(crate) fn is_sound(&self) -> bool {
        for_state!(self, state => state.is_sound())
    }

    /// Whether another state is of the same kind and of values of the same type.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Distinct(ours), Self::Distinct(theirs)) => ours.is_like(theirs),
            (Self::Frequencies(ours), Self::Frequencies(theirs)) => ours.is_like(theirs),
            (Self::Largest(ours), Self::Largest(theirs)) => ours.is_like(theirs),
            (Self::Values(ours), Self::Values(theirs)) => ours.is_like(theirs),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Adds the groups of another state, which [is like](State::is_like) this one, to those in `groups`.
    pub(crate) fn absorb(&mut self, other: Self, groups: &[u32]) {
        match (self, other) {
            (Self::Values(ours), Self::Values(theirs)) => ours.append(theirs, groups),
            (ours, other) => ours.merge(&other, groups),
        }
    }

    fn merge(&mut self, other: &Self, groups: &[u32]) {
        macro_rules! merged {
            ($($kind:ident),*) => {
                match (self, other) {
                    $((Self::$kind(ours), Self::$kind(theirs)) => ours.merge(theirs, groups),)*
                    _ => {}
                }
            };
        }
        with_kinds!(merged);
    }

    /// The state of these groups only, in their order.
    pub(crate) fn take(&self, groups: &[u32]) -> Self {
        macro_rules! taken {
            ($($kind:ident),*) => {
                match self {
                    $(Self::$kind(state) => Self::$kind(state.take(groups).into()),)*
                }
            };
        }
        with_kinds!(taken)
    }

    /// The number of values of a group.
    pub(crate) fn count(&self, group: usize) -> u64 {
        match self {
            Self::Counts(state) => state.get(group),
            Self::Integers(state) => state.get(group).count,
            Self::Wide(state) => state.get(group).count(),
            Self::Sums(state) => state.count(group),
            Self::WideSums(state) => state.count(group),
            Self::Distinct(state) => state.get(group),
            Self::FloatSums(state) => state.count(group),
            Self::FloatMoments(state) => state.count(group),
            Self::IntegerPairs(state) => state.moment(group).map_or(0, |moment| moment.count),
            Self::FloatPairs(state) => state.count(group),
            Self::Sketch(state) => state.estimate(group),
            Self::Values(state) => state.count(group),
            Self::FloatBounds(_)
            | Self::Bytes(_)
            | Self::Moments(_)
            | Self::WideMoments(_)
            | Self::Frequencies(_)
            | Self::Largest(_)
            | Self::Extremes(_)
            | Self::Listed(_) => 0,
        }
    }

    /// The smallest and the largest value of a group.
    pub(crate) fn bounds(&self, group: usize) -> Option<(Value<'_>, Value<'_>)> {
        match self {
            Self::Integers(state) => state.bounds(group),
            Self::Wide(state) => state.bounds(group),
            Self::FloatBounds(state) => state.bounds(group),
            Self::Bytes(state) => state.bounds(group),
            Self::Counts(_)
            | Self::Sums(_)
            | Self::WideSums(_)
            | Self::FloatSums(_)
            | Self::Moments(_)
            | Self::WideMoments(_)
            | Self::FloatMoments(_)
            | Self::Distinct(_)
            | Self::Frequencies(_)
            | Self::Largest(_)
            | Self::Values(_)
            | Self::IntegerPairs(_)
            | Self::FloatPairs(_)
            | Self::Extremes(_)
            | Self::Listed(_)
            | Self::Sketch(_) => None,
        }
    }

    /// The sum of the values of a group; `None` if it has none.
    /// Appends the sums of groups that lie in sequence; `false` if they must be taken one by one.
    pub(crate) fn sums(&self, groups: Range<usize>, cells: &mut Cells) -> bool {
        match self {
            Self::Sums(state) => state.sums(groups, cells),
            Self::FloatSums(state) => state.sums(groups, cells),
            _ => false,
        }
    }

    pub(crate) fn sum(&self, group: usize) -> Option<Sum> {
        match self {
            Self::Integers(state) => state.sum(group),
            Self::Wide(state) => state.sum(group),
            Self::Sums(state) => state.sum(group),
            Self::WideSums(state) => state.sum(group),
            Self::FloatSums(state) => state.sum(group).map(Sum::Float),
            Self::Counts(_)
            | Self::FloatBounds(_)
            | Self::Bytes(_)
            | Self::Moments(_)
            | Self::WideMoments(_)
            | Self::FloatMoments(_)
            | Self::Distinct(_)
            | Self::Frequencies(_)
            | Self::Largest(_)
            | Self::Values(_)
            | Self::IntegerPairs(_)
            | Self::FloatPairs(_)
            | Self::Extremes(_)
            | Self::Listed(_)
            | Self::Sketch(_) => None,
        }
    }

    /// Count, sum and sum of squares of a group.
    pub(crate) fn moment(&self, group: usize) -> Option<Moment> {
        match self {
            Self::Moments(state) => Some(state.moment(group)),
            Self::WideMoments(state) => Some(state.moment(group)),
            Self::FloatMoments(state) => state.moment(group),
            Self::Values(state) => state.moment(group),
            _ => None,
        }
    }

    /// The moments of the pairs of a group.
    pub(crate) fn pair_moment(&self, group: usize) -> Option<PairMoment> {
        match self {
            Self::IntegerPairs(state) => state.moment(group),
            Self::FloatPairs(state) => state.moment(group),
            _ => None,
        }
    }

    /// The value that goes with the smallest, or the largest, other value of a group.
    pub(crate) fn extreme(&self, group: usize, largest: bool) -> Option<Value<'_>> {
        match self {
            Self::Extremes(state) => state.value(group, largest),
            _ => None,
        }
    }

    /// The most frequent value of a group.
    pub(crate) fn mode(&self, group: usize) -> Option<Value<'_>> {
        match self {
            Self::Frequencies(state) => state.mode(group),
            _ => None,
        }
    }

    /// Appends all strings of a group; `None` if there are none.
    pub(crate) fn join(&self, group: usize, separator: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Listed(state) => state.join(group, separator, out),
            _ => None,
        }
    }

    /// The values at some ascending places among the sorted values of a group, which `places` finds for their number.
    pub(crate) fn ranked<const PLACES: usize>(
        &self,
        group: usize,
        places: impl FnOnce(usize) -> [usize; PLACES],
    ) -> Option<[Value<'_>; PLACES]> {
        match self {
            Self::Largest(state) => state.ranked(group, places),
            Self::Values(state) => state.ranked(group, places),
            _ => None,
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
