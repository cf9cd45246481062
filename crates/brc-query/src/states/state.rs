//! A column of state of any kind.
//!
//! The kinds are one list: it makes the enum, and a call of a method of [`Accumulator`] for whichever kind is there.

use super::{
    Accumulator, Moment, PairMoment, StateKind, Sum, Values, bytes, counts, distinct, extremes, float_bounds,
    float_sums, frequencies, integers, largest, listed, moments, pairs, sketch, sums, values, wide, wide_sums,
};
use crate::keys::group_ids::GroupIds;
use crate::values::cells::Cells;
use crate::values::error::BatchError;
use brc_core::table::ColumnSummary;
use brc_core::{Field, LogicalType, PhysicalType, Value};
use brc_kernels::cpu::Level;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Defines the kinds of state. The first argument is a dollar sign, for the macros that it defines.
macro_rules! states {
    ($d:tt $($kind:ident($accumulator:ty),)+) => {
        /// A column of state.
        #[derive(Debug, Clone, Serialize, Deserialize)]
        pub(crate) enum State {
            $($kind($accumulator),)+
        }

        /// Evaluates an expression with the accumulator of a [`State`], whatever it is.
        macro_rules! for_state {
            ($d state:expr, $d it:ident => $d body:expr) => {
                match $d state {
                    $(State::$kind($d it) => $d body,)+
                }
            };
        }

        /// The same with those of two states; the last expression if they are of different kinds.
        macro_rules! for_states {
            ($d ours:expr, $d theirs:expr, $d it:ident, $d other:ident => $d body:expr, $d else:expr) => {
                match ($d ours, $d theirs) {
                    $((State::$kind($d it), State::$kind($d other)) => $d body,)+
                    _ => $d else,
                }
            };
        }

        impl State {
            /// The state of these groups only, in their order.
            pub(crate) fn take(&self, groups: &[u32]) -> Self {
                match self {
                    $(Self::$kind(state) => Self::$kind(state.take(groups).into()),)+
                }
            }
        }
    };
}

states! {
    $
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

impl State {
    /// An empty state for values of these columns.
    pub(crate) fn new(kind: StateKind, columns: &[usize], fields: &[Field]) -> Self {
        Self::of_type(kind, fields[columns[0]].logical_type)
    }

    /// An empty state for values of this type.
    pub(super) fn of_type(kind: StateKind, logical_type: LogicalType) -> Self {
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

    /// Adds the values of all columns of the state.
    pub(crate) fn add(&mut self, level: Level, groups: GroupIds<'_>, values: &[Values<'_>]) -> Result<(), BatchError> {
        match values {
            [values] => for_state!(self, it => it.update(level, groups, *values)),
            [values, others] => for_state!(self, it => it.update_pairs(level, groups, *values, *others)),
            _ => Err(BatchError("a state has one column or two")),
        }
    }

    /// [`Accumulator::update_weighted`].
    pub(crate) fn add_weighted(
        &mut self,
        level: Level,
        groups: &[u32],
        weights: &[u32],
        values: Values<'_>,
    ) -> Result<(), BatchError> {
        for_state!(self, it => it.update_weighted(level, groups, weights, values))
    }

    /// [`Accumulator::update_sets`].
    pub(crate) fn summaries(
        &mut self,
        level: Level,
        groups: &[u32],
        rows: &[u32],
        column: &ColumnSummary<'_>,
    ) -> Result<(), BatchError> {
        for_state!(self, it => it.update_sets(level, groups, rows, column))
    }

    /// Whether another state is of the same kind and of values of the same type.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        for_states!(self, other, it, other => it.is_like(other), false)
    }

    /// Adds the groups of another state, which [is like](State::is_like) this one, to those in `groups`.
    pub(crate) fn merge(&mut self, other: Self, groups: &[u32]) {
        match (self, other) {
            (Self::Values(ours), Self::Values(theirs)) => ours.append(theirs, groups),
            (ours, other) => for_states!(ours, &other, it, other => it.merge(other, groups), ()),
        }
    }

    /// [`Accumulator::len`].
    pub(crate) fn len(&self) -> usize {
        for_state!(self, it => it.len())
    }

    /// [`Accumulator::grow`].
    pub(crate) fn grow(&mut self, groups: usize) {
        for_state!(self, it => it.grow(groups));
    }

    /// [`Accumulator::takes_weights`].
    pub(crate) fn takes_weights(&self) -> bool {
        for_state!(self, it => it.takes_weights())
    }

    /// [`Accumulator::finish`].
    pub(crate) fn finish(&mut self) {
        for_state!(self, it => it.finish());
    }

    /// [`Accumulator::prepare`].
    pub(crate) fn prepare(&mut self, threads: usize) {
        for_state!(self, it => it.prepare(threads));
    }

    /// [`Accumulator::is_sound`].
    pub(crate) fn is_sound(&self) -> bool {
        for_state!(self, it => it.is_sound())
    }

    /// [`Accumulator::count`].
    pub(crate) fn count(&self, group: usize) -> u64 {
        for_state!(self, it => it.count(group))
    }

    /// [`Accumulator::bounds`].
    pub(crate) fn bounds(&self, group: usize) -> Option<(Value<'_>, Value<'_>)> {
        for_state!(self, it => it.bounds(group))
    }

    /// [`Accumulator::sum`].
    pub(crate) fn sum(&self, group: usize) -> Option<Sum> {
        for_state!(self, it => it.sum(group))
    }

    /// [`Accumulator::sums`].
    pub(crate) fn sums(&self, groups: Range<usize>, cells: &mut Cells) -> bool {
        for_state!(self, it => it.sums(groups, cells))
    }

    /// [`Accumulator::moment`].
    pub(crate) fn moment(&self, group: usize) -> Option<Moment> {
        for_state!(self, it => it.moment(group))
    }

    /// [`Accumulator::pair_moment`].
    pub(crate) fn pair_moment(&self, group: usize) -> Option<PairMoment> {
        for_state!(self, it => it.pair_moment(group))
    }

    /// [`Accumulator::extreme`].
    pub(crate) fn extreme(&self, group: usize, largest: bool) -> Option<Value<'_>> {
        for_state!(self, it => it.extreme(group, largest))
    }

    /// [`Accumulator::mode`].
    pub(crate) fn mode(&self, group: usize) -> Option<Value<'_>> {
        for_state!(self, it => it.mode(group))
    }

    /// [`Accumulator::join`].
    pub(crate) fn join(&self, group: usize, separator: &[u8], out: &mut Vec<u8>) -> Option<()> {
        for_state!(self, it => it.join(group, separator, out))
    }

    /// [`Accumulator::ranked`].
    pub(crate) fn ranked<const RANKS: usize>(
        &self,
        group: usize,
        ranks: impl FnOnce(usize) -> [usize; RANKS],
    ) -> Option<[Value<'_>; RANKS]> {
        for_state!(self, it => it.ranked(group, ranks))
    }
}
